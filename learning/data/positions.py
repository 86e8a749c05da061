"""Finds the decisions of real games that are samples; a kernel folds the games and keeps the states.

A discard decision is a choice between at least two kinds. A riichi decision is a turn on which the player may
declare riichi. The decisions of chi, pon and kan have one row for each meld that may be made, including
declined ones. Only real decisions count: not forced moves, events while the player was away, turns that ended
in a win or an abort, or calls that a player with a higher claim to the tile took, or may have taken. A ron
hides every call, and a pon or an open kan hides the next player's chi. A chi hides nothing, because every
player who could have called pon has passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from game.fold.reasons import FITS, REASONS
from game.layout import ROUND_STATE
from game.packing import Packed
from kit.errors import StateMismatchError
from kit.jit import warms_up
from learning.data.choice import ALL_PLAYERS, SelectedDecisions, place_in_shares
from learning.data.corpus import Corpus, Numbers
from learning.data.position_kernels import (
    AT_DRAWS,
    MOST_ROWS,
    NUMBERS,
    OF_DECISIONS,
    RULES_ROWS,
    Positions,
    Sampled,
    collect,
)
from policies.features.permute import places_in_run
from policies.flow.slots import Slot

__all__ = ["PositionCounts", "Positions", "by_decision", "count", "first_games", "positions_of"]


class PositionCounts(NamedTuple):
    """Numbers of ``decisions``, their ``rows``, and the rows that were taken (``yes``).

    Discards have no yes or no, so their ``yes`` is 0.
    """

    decisions: int
    rows: int
    yes: int


def positions_of(corpus: Corpus, choice: SelectedDecisions, slot: Sampled = Slot.DISCARD) -> Positions:
    """All decisions of one slot in some games, in order.

    Raises:
        StateMismatchError: a game's events do not fit.
    """
    rows = corpus.index[choice.games]
    likely = int(rows["discards"].sum(dtype=np.int64)) if slot in (Slot.DISCARD, AT_DRAWS) else 0
    found = _room(likely + int(rows["events"].max(initial=0)))
    sizes = np.zeros(3, np.int64)
    for game in _games(corpus, choice):
        found = _with_room(found, sizes, game.length)
        _fold(game, slot, found, sizes)
    return _cut(found, sizes)


def count(corpus: Corpus, choice: SelectedDecisions, slot: Sampled = Slot.DISCARD) -> PositionCounts:
    """Count the samples without keeping any.

    Raises:
        StateMismatchError: a game's events do not fit.
    """
    found, sizes = _room(0), np.zeros(3, np.int64)
    for game in _games(corpus, choice):
        _fold(game, slot, found, sizes)
    return PositionCounts(*sizes.tolist())


def first_games(
    corpus: Corpus, choice: SelectedDecisions, slot: Sampled, decisions: int
) -> SelectedDecisions:
    """The first games, in the order of `place_in_shares`, that hold a number of decisions; or all games.

    Raises:
        StateMismatchError: a game's events do not fit.
    """
    ids = corpus.index["id"][choice.games].tolist()
    order = np.array(sorted(range(len(ids)), key=lambda game: place_in_shares(ids[game])), np.int64)
    taken = found = 0
    while found < decisions and taken < len(order):
        game = order[taken : taken + 1]
        found += count(corpus, SelectedDecisions(choice.games[game], choice.players[game]), slot).decisions
        taken += 1
    first = np.sort(order[:taken])
    return SelectedDecisions(choice.games[first], choice.players[first])


def by_decision(found: Positions, slot: Sampled) -> Positions:
    """The same decisions with one row each, for networks that answer one question about all melds.

    The label of a chi is that of `policies.features.permute.places_in_run`, or 0; that of another call is
    whether there was one.
    """
    decisions = np.arange(len(found.players))
    taken = np.flatnonzero(found.labels)
    labels = np.zeros(len(decisions), np.int8)
    labels[found.owners[taken]] = places_in_run(found.calls[taken]) if slot is Slot.CHI else 1
    return found._replace(
        owners=decisions.astype(found.owners.dtype),
        labels=labels,
        calls=found.calls[np.searchsorted(found.owners, decisions)],
    )


class _CountedGame(NamedTuple):
    number: int
    game_id: str
    players: int
    codes: Packed
    length: int
    away: Numbers
    """``[M, 3]``: player, first event of the absence, first event after it."""


def _games(corpus: Corpus, choice: SelectedDecisions) -> Iterator[_CountedGame]:
    lengths = corpus.index["events"]
    for number, players in zip(choice.games.tolist(), choice.players.tolist(), strict=True):
        absences = corpus.absences_of(number)
        away = np.empty((len(absences), 3), np.int64)
        for column, name in enumerate(("player", "first", "end")):
            away[:, column] = absences[name]
        events = corpus.events(number)
        yield _CountedGame(number, corpus.game_id(number), players, events, int(lengths[number]), away)


def _fold(game: _CountedGame, slot: Sampled, found: Positions, sizes: Numbers) -> None:
    """Fold one game; ``sizes`` counts the decisions, rows and rows with a yes found so far."""
    scratch, rows = np.zeros(2, ROUND_STATE), np.empty(RULES_ROWS, np.int16)
    event, reason = collect(
        game.codes,
        game.away,
        game.players,
        NUMBERS[slot],
        game.number,
        game.length,
        scratch,
        rows,
        found,
        sizes,
    )
    if reason != FITS:
        why = REASONS[reason] if reason > 0 else "the index counts fewer events"
        raise StateMismatchError(f"{game.game_id}: event {event}: {why}")


def _room(decisions: int) -> Positions:
    """Empty arrays; the system provides memory only for the parts written to."""
    rows = MOST_ROWS * decisions
    return Positions(
        np.empty(decisions, ROUND_STATE),
        np.empty(decisions, np.int8),
        np.empty(decisions, np.uint64),
        np.empty(decisions, np.int64),
        np.empty(rows, np.int32),
        np.empty(rows, np.int8),
        np.empty((rows, RULES_ROWS[1]), np.int16),
    )


def _with_room(found: Positions, sizes: Numbers, more: int) -> Positions:
    """The arrays, enlarged if necessary, with room for ``more`` decisions."""
    least = int(sizes[0]) + more
    if least <= len(found.states):
        return found
    larger = _room(max(least, 2 * len(found.states)))
    old: tuple[Any, ...] = _cut(found, sizes)
    new: tuple[Any, ...] = larger
    for each, copy in zip(old, new, strict=True):
        copy[: len(each)] = each
    return larger


def _cut(found: Positions, sizes: Numbers) -> Positions:
    """The filled part of the arrays."""
    decisions, rows, _ = sizes.tolist()
    arrays: tuple[Any, ...] = found
    return Positions(
        *(each[:decisions] for each in arrays[:OF_DECISIONS]),
        *(each[:rows] for each in arrays[OF_DECISIONS:]),
    )


@warms_up
def _warm_up() -> None:
    none: Packed = np.empty(0, np.int16)
    collect(
        none,
        np.empty((0, 3), np.int64),
        ALL_PLAYERS,
        0,
        0,
        0,
        np.zeros(2, ROUND_STATE),
        np.empty(RULES_ROWS, np.int16),
        _room(0),
        np.zeros(3, np.int64),
    )
