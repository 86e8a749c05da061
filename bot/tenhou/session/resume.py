"""Rebuilds the events of the running round from a snapshot.

A snapshot contains the rivers (without called tiles), the melds and our hand, but no order of events. The
order of turns leaves few possibilities, often one: `candidates` yields each as events folded into a record.
Events received before the connection broke are kept as the beginning.

Some facts cannot be recovered and are guessed: tsumogiri (for us, wherever the hand allows it; for the
others, only in riichi), the order of our own draws, the turn of a kan on the player's own draw (the last
possible one) and, if nothing was received before, our starting hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final

import msgspec
import numpy as np

from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.path_events import Goal, PathEvents, SeenStart
from bot.tenhou.session.translate import by_player, translate
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
    Riichi,
    RiichiAccepted,
    StartRound,
)
from game.forbidden import broken_rule
from game.layout import PHASE_CLAIM, RIVER_CALLED
from game.melds import MeldKind, decode_meld
from game.position.turn_order import Begin, Call, Path, TurnOrder, pon_of
from game.scoring.settlement import RIICHI_STICK
from game.state import apply, apply_all, clone, hand_tiles, melds_of, new_round
from game.tiles import UNSEEN
from kit.errors import StateMismatchError

MAX_CANDIDATES: Final = 64
MAX_PATHS: Final = 500
_HIDDEN: Final = (UNSEEN,) * 13


class Candidate(msgspec.Struct, frozen=True):
    """One explanation of a snapshot.

    Attributes:
        events: the round from its deal to the snapshot.
        record: those events, folded.
        exact: the events continue those that we received before.
    """

    events: tuple[GameEvent, ...]
    record: np.void
    exact: bool


def candidates(message: m.RoundSnapshot, player: int, seen: Sequence[GameEvent]) -> Iterator[Candidate]:
    """Explanations of a snapshot, most plausible first; none if it contradicts itself.

    Explanations with a forbidden move come after all others.

    Args:
        message: the snapshot.
        player: the absolute player number of seat 0.
        seen: the events of a round received before the connection broke, possibly of this one.
    """
    try:
        goal = _goal(message, player)
    except ValueError:
        return
    yield from islice(_all_candidates(message, goal, seen), MAX_CANDIDATES)


def _all_candidates(message: m.RoundSnapshot, goal: Goal, seen: Sequence[GameEvent]) -> Iterator[Candidate]:
    nothing = SeenStart((), new_round(), Begin("draw", message.round_index % 4))
    forbidden: list[Candidate] = []
    ways = (
        (known, path, in_order)
        for known in chain(_beginnings(message, seen), (nothing,))
        for path, in_order in _paths(goal, known)
    )
    for known, path, in_order in islice(ways, MAX_PATHS):
        path_events = PathEvents(goal, known, in_order=in_order)
        for events in path_events.along(path):
            deal = () if known.events else _deal(message, goal, events, path_events.drawn)
            candidate = _explain((*deal, *events), goal, exact=bool(known.events))
            if candidate is None:
                continue
            if _keeps_the_rules(candidate.events, len(known.events)):
                yield candidate
            else:
                forbidden.append(candidate)
    yield from forbidden


def _keeps_the_rules(events: Sequence[GameEvent], seen: int) -> bool:
    """Whether the guessed events, from index ``seen`` on, break no rule."""
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


# --- events received before ---------------------------------------------------------------------------


def _beginnings(message: m.RoundSnapshot, seen: Sequence[GameEvent]) -> Iterator[SeenStart]:
    """The received events of this round, longest first: the snapshot may be older than the last of them."""
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
            yield SeenStart(tuple(events), record, begin)
        events.pop()


def _begin(last: GameEvent) -> Begin | None:
    """The start of a search after an event; None if the snapshot does not show that event."""
    if isinstance(last, StartRound):
        return Begin("draw", last.dealer)
    if isinstance(last, Discard):
        return Begin("discarded", last.player, last.tile)
    if isinstance(last, Chi | Pon):
        return Begin("discard", last.player)
    if isinstance(last, Daiminkan | Ankan | Kakan):
        return Begin("draw", last.player)
    return None


def _open_river(record: np.void, player: int) -> tuple[int, ...]:
    """A player's discards, without the called ones."""
    size = int(record["river_size"][player])
    pairs = zip(record["river"][player][:size], record["river_marks"][player][:size], strict=True)
    return tuple(int(tile) for tile, marks in pairs if not marks & RIVER_CALLED)


# --- the order of turns -------------------------------------------------------------------------------


def _paths(goal: Goal, known: SeenStart) -> Iterator[tuple[Path, bool]]:
    """Orders of turns, each with whether all melds are made in listed order; those come first."""
    rest = _rest(goal, known)
    if rest is None:
        return
    rivers, calls = rest
    to_discard = len(goal.hand) % 3 == 2

    def ends(path: Path) -> bool:
        return (_to_discard(path, known.begin) == goal.player) == to_discard

    for in_order in (True, False):
        for path in TurnOrder(rivers, calls, ends, in_order=in_order).paths(known.begin):
            yield path, in_order


def _to_discard(path: Path, begin: Begin) -> int:
    """The player who must discard at the end of a path, or -1."""
    if not path:
        return begin.player if begin.kind == "discard" else -1
    last = path[-1]
    called = last.meld is not None and last.meld.kind is not MeldKind.DAIMINKAN
    return last.player if last.kind == "draw" or called else -1


def _rest(goal: Goal, known: SeenStart) -> tuple[list[m.Tiles], list[Call]] | None:
    """The discards and calls after the received events; None if the snapshot does not continue those."""
    rivers: list[m.Tiles] = []
    calls: list[Call] = []
    for p in range(4):
        wanted = [meld if meld.kind is not MeldKind.KAKAN else pon_of(meld) for meld in goal.melds[p]]
        for meld in melds_of(known.record, p) if known.events else []:
            pon = pon_of(meld) if meld.kind is MeldKind.KAKAN else meld
            if pon not in wanted or (pon != meld and meld not in goal.melds[p]):
                return None
            wanted.remove(pon)
        calls += [Call(p, meld) for meld in wanted if meld.is_open]
    called = {call.meld.called for call in calls}
    for p in range(4):
        discarded = _open_river(known.record, p) if known.events else ()
        if discarded and discarded[-1] in called:
            discarded = discarded[:-1]
        if goal.rivers[p][: len(discarded)] != discarded:
            return None
        rivers.append(goal.rivers[p][len(discarded) :])
    return rivers, calls


# --- the deal and the check ---------------------------------------------------------------------------


def _deal(
    message: m.RoundSnapshot, goal: Goal, events: Sequence[GameEvent], drawn: Sequence[int]
) -> tuple[GameEvent, ...]:
    """The deal before the events; empty if our tiles do not give a starting hand of 13."""
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
        # The snapshot has the current scores; undo the riichi payments of this round.
        a, b, c, d = (score + RIICHI_STICK * paid.count(p) for p, score in enumerate(scores))
        scores, sticks = (a, b, c, d), sticks - len(paid)
    hands = by_player((hand, _HIDDEN, _HIDDEN, _HIDDEN), us)
    dealer = message.round_index % 4
    start = StartRound(message.round_index, message.honba, sticks, dealer, scores, goal.indicators[0], hands)
    return (start,)


def _explain(events: tuple[GameEvent, ...], goal: Goal, *, exact: bool) -> Candidate | None:
    """The folded events; None if they do not fold or do not end at the snapshot."""
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


# --- coming back to the round --------------------------------------------------------------------------


class Comeback:
    """A snapshot and its possible explanations; the first frame after it decides between them.

    Args:
        snapshot: the round as the server describes it.
        player: the absolute player number of seat 0.
        seen: events of the round received before the connection broke.
    """

    def __init__(self, snapshot: m.RoundSnapshot, player: int, seen: Sequence[GameEvent]) -> None:
        self._snapshot = snapshot
        self._player = player
        self._seen = seen
        self._found = candidates(snapshot, player, seen)

    def first(self) -> Candidate | None:
        """The most plausible explanation; None if there is none."""
        return next(self._found, None)

    def __deepcopy__(self, _: dict[int, object]) -> Comeback:
        """A copy that has also yielded its first explanation; a running generator cannot be copied."""
        twin = Comeback(self._snapshot, self._player, self._seen)
        twin.first()
        return twin

    def settle(self, candidate: Candidate, message: m.ServerMessage) -> tuple[Candidate, bool]:
        """The explanation that the next frame fits, and whether that frame only repeats its last event.

        Raises:
            StateMismatchError: the frame fits no explanation.
        """
        current: Candidate | None = candidate
        if isinstance(message, m.TileDrawn) and message.seat == 0 and message.tile in self._snapshot.hand:
            # The snapshot's hand already includes the drawn tile.
            rest = tuple(tile for tile in self._snapshot.hand if tile != message.tile)
            before = msgspec.structs.replace(self._snapshot, hand=rest)
            self._found = candidates(before, self._player, self._seen)
            current = self.first()
        while current is not None:
            if self._repeats(current.record, message):
                return current, True
            if self._fits(current, message):
                return current, False
            current = next(self._found, None)
        raise StateMismatchError(f"no explanation of the snapshot fits the next frame {message!r}")

    def _repeats(self, record: np.void, message: m.ServerMessage) -> bool:
        """Whether the server repeats a discard, with its offer, from before the connection broke."""
        if not isinstance(message, m.TileDiscarded) or record["phase"] != PHASE_CLAIM:
            return False
        who = (message.seat + self._player) % 4
        return bool(record["last_player"] == who and record["last_tile"] == message.tile)

    def _fits(self, candidate: Candidate, message: m.ServerMessage) -> bool:
        try:
            event = translate(message, candidate.record, self._player, strict=candidate.exact)
            assert event is not None
            apply(clone(candidate.record), event)
        except StateMismatchError:
            return False
        return True


def with_riichi(events: Sequence[GameEvent], player: int) -> tuple[list[GameEvent], np.void] | None:
    """The round with its last discard turned into a riichi discard, and the record of that round.

    A riichi declared while we were disconnected shows only when its stick is paid. None if the player cannot
    have declared riichi.
    """
    place = len(events) - 1
    while place >= 0 and isinstance(events[place], PlayerLeft | PlayerReturned):
        place -= 1
    last = events[place] if place >= 0 else None
    if not isinstance(last, Discard) or last.player != player:
        return None
    told = [*events[:place], Riichi(player), *events[place:]]
    record = new_round()
    try:
        apply_all(record, told)
    except StateMismatchError:
        return None
    return told, record
