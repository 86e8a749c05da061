"""From a snapshot of the running round back to a stream of events that leads there.

A snapshot tells rivers (without the tiles called away), melds and our hand, but no order. The order of turns
leaves few ways to thread all of it, often one: `candidates` yields each as events folded into a record. What
we saw of the round before the line broke is kept as the beginning.

Not recoverable, and filled in with the plainest guess: which discards were tsumogiri (ours: wherever the hand
allows it; the others': only in riichi), the order of our own draws, when a player laid a kan on his own turn
(his last turn), and, with nothing seen before, our starting hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final

import msgspec
import numpy as np

from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.story import Goal, Known, Story, pon_of
from bot.tenhou.session.translate import by_player
from bot.tenhou.session.turn_order import Begin, Path, TurnOrder
from game.errors import StateMismatchError
from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    GameEvent,
    Kakan,
    PlayerLeft,
    PlayerReturned,
    Pon,
    RiichiAccepted,
    StartRound,
)
from game.forbidden import broken_rule
from game.layout import RIVER_CALLED
from game.melds import Meld, MeldKind, decode_meld
from game.settlement import RIICHI_STICK
from game.state import apply, apply_all, hand_tiles, melds_of, new_round
from game.tiles import UNSEEN

MAX_CANDIDATES: Final = 64
MAX_PATHS: Final = 500
_HIDDEN: Final = (UNSEEN,) * 13


class Candidate(msgspec.Struct, frozen=True):
    """One explanation of a snapshot.

    Attributes:
        events: the round from its deal to the snapshot.
        record: the same, folded.
        exact: it goes on from what we saw ourselves.
    """

    events: tuple[GameEvent, ...]
    record: np.void
    exact: bool


def candidates(message: m.RoundSnapshot, player: int, seen: Sequence[GameEvent]) -> Iterator[Candidate]:
    """Explanations of a snapshot, most plausible first; none if it contradicts itself.

    Those in which everybody keeps to the rules come before those in which somebody does not.

    Args:
        message: the snapshot.
        player: who seat 0 is.
        seen: the events of a round we saw before the line broke, perhaps of this one.
    """
    try:
        goal = _goal(message, player)
    except ValueError:
        return
    yield from islice(_all_candidates(message, goal, seen), MAX_CANDIDATES)


def _all_candidates(message: m.RoundSnapshot, goal: Goal, seen: Sequence[GameEvent]) -> Iterator[Candidate]:
    nothing = Known((), new_round(), Begin("draw", message.round_index % 4))
    forbidden: list[Candidate] = []
    ways = (
        (known, path, in_order)
        for known in chain(_beginnings(message, seen), (nothing,))
        for path, in_order in _paths(goal, known)
    )
    for known, path, in_order in islice(ways, MAX_PATHS):
        story = Story(goal, known, in_order=in_order)
        for events in story.tell(path):
            deal = () if known.events else _deal(message, goal, events, story.drawn)
            candidate = _explain((*deal, *events), goal, exact=bool(known.events))
            if candidate is None:
                continue
            if _keeps_the_rules(candidate.events, len(known.events)):
                yield candidate
            else:
                forbidden.append(candidate)
    yield from forbidden


def _keeps_the_rules(events: Sequence[GameEvent], seen: int) -> bool:
    """Whether what is guessed, from the event number ``seen`` on, is permitted as well as possible."""
    record = new_round()
    for number, event in enumerate(events):
        if number >= seen and broken_rule(record, event):
            return False
        apply(record, event)
    return True


def _goal(message: m.RoundSnapshot, player: int) -> Goal:
    a, b, c, d = (tuple(decode_meld(code) for code in reversed(codes)) for codes in message.melds)
    return Goal(
        player=player,
        hand=message.hand,
        rivers=by_player(message.rivers, player),
        melds=by_player((a, b, c, d), player),
        riichi_at=by_player(message.riichi_at, player),
        indicators=message.indicators,
    )


# --- what we saw --------------------------------------------------------------------------------------


def _beginnings(message: m.RoundSnapshot, seen: Sequence[GameEvent]) -> Iterator[Known]:
    """What we saw of this round, longest first: the snapshot may be older than the last of it."""
    events = [event for event in seen if not isinstance(event, PlayerLeft | PlayerReturned)]
    start = events[0] if events else None
    if not isinstance(start, StartRound):
        return
    same = (message.round_index, message.honba, message.indicators[0])
    if (start.round_index, start.honba, start.dora_indicator) != same:
        return
    while events:
        begin = _begin(next(e for e in reversed(events) if not isinstance(e, RiichiAccepted)))
        if begin is not None:
            record = new_round()
            apply_all(record, events)
            yield Known(tuple(events), record, begin)
        events.pop()


def _begin(last: GameEvent) -> Begin | None:
    """Where a search goes on after an event that lies open; None after one that does not show."""
    if isinstance(last, StartRound):
        return Begin("draw", last.dealer)
    if isinstance(last, Discard):
        return Begin("thrown", last.player, last.tile)
    if isinstance(last, Chi | Pon):
        return Begin("throw", last.player)
    if isinstance(last, Daiminkan | Ankan | Kakan):
        return Begin("draw", last.player)
    return None


def _open_river(record: np.void, player: int) -> tuple[int, ...]:
    """Discards of a player that nobody called."""
    size = int(record["river_size"][player])
    pairs = zip(record["river"][player][:size], record["river_marks"][player][:size], strict=True)
    return tuple(int(tile) for tile, marks in pairs if not marks & RIVER_CALLED)


# --- the order of turns -------------------------------------------------------------------------------


def _paths(goal: Goal, known: Known) -> Iterator[tuple[Path, bool]]:
    """Orders of turns, and whether everybody's melds are made as they are listed; such orders come first."""
    rest = _rest(goal, known)
    if rest is None:
        return
    rivers, calls = rest
    to_throw = len(goal.hand) % 3 == 2
    for in_order in (True, False):
        for path in TurnOrder(rivers, calls, in_order=in_order).paths(known.begin):
            if (_to_throw(path, known.begin) == goal.player) == to_throw:
                yield path, in_order


def _to_throw(path: Path, begin: Begin) -> int:
    """Who has to throw at the end of a path, -1 if nobody has."""
    if not path:
        return begin.player if begin.kind == "throw" else -1
    last = path[-1]
    called = last.meld is not None and last.meld.kind is not MeldKind.DAIMINKAN
    return last.player if last.kind == "draw" or called else -1


def _rest(goal: Goal, known: Known) -> tuple[list[m.Tiles], list[tuple[int, Meld]]] | None:
    """Tiles to be thrown and melds to be called after what we saw; None if that is not the beginning."""
    rivers: list[m.Tiles] = []
    calls: list[tuple[int, Meld]] = []
    for p in range(4):
        wanted = [meld if meld.kind is not MeldKind.KAKAN else pon_of(meld) for meld in goal.melds[p]]
        for meld in melds_of(known.record, p) if known.events else []:
            pon = pon_of(meld) if meld.kind is MeldKind.KAKAN else meld
            if pon not in wanted or (pon != meld and meld not in goal.melds[p]):
                return None
            wanted.remove(pon)
        calls += [(p, meld) for meld in wanted if meld.is_open]
    called = {meld.called for _, meld in calls}
    for p in range(4):
        thrown = _open_river(known.record, p) if known.events else ()
        if thrown and thrown[-1] in called:
            thrown = thrown[:-1]
        if goal.rivers[p][: len(thrown)] != thrown:
            return None
        rivers.append(goal.rivers[p][len(thrown) :])
    return rivers, calls


# --- the deal, and the proof --------------------------------------------------------------------------


def _deal(
    message: m.RoundSnapshot, goal: Goal, events: Sequence[GameEvent], drawn: Sequence[int]
) -> tuple[GameEvent, ...]:
    """The deal that the events follow; nothing if our tiles do not make one."""
    us = goal.player
    pool = set(goal.hand)
    pool.update(e.tile for e in events if isinstance(e, Discard) and e.player == us)
    pool.update(tile for meld in goal.melds[us] for tile in meld.tiles if tile != meld.called)
    hand = tuple(sorted(pool - set(drawn)))
    if len(hand) != 13:
        return ()
    paid = [e.player for e in events if isinstance(e, RiichiAccepted)]
    scores = by_player(message.scores, us)
    sticks = message.riichi_sticks
    if sticks >= len(paid):
        # The snapshot's scores are those of now; the sticks of this round are taken back.
        a, b, c, d = (score + RIICHI_STICK * paid.count(p) for p, score in enumerate(scores))
        scores, sticks = (a, b, c, d), sticks - len(paid)
    hands = by_player((hand, _HIDDEN, _HIDDEN, _HIDDEN), us)
    dealer = message.round_index % 4
    start = StartRound(message.round_index, message.honba, sticks, dealer, scores, goal.indicators[0], hands)
    return (start,)


def _explain(events: tuple[GameEvent, ...], goal: Goal, *, exact: bool) -> Candidate | None:
    """The events folded, if they fold and end where the snapshot stands."""
    record = new_round()
    try:
        apply_all(record, events)
    except StateMismatchError:
        return None
    if hand_tiles(record, goal.player) != sorted(goal.hand):
        return None
    if any(_open_river(record, p) != goal.rivers[p] for p in range(4)):
        return None
    return Candidate(events, record, exact)
