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
from itertools import islice
from typing import Final

import msgspec
import numpy as np

from bot.tenhou import server_messages as m
from bot.tenhou.translate import by_player
from bot.tenhou.turn_order import Begin, Move, Path, TurnOrder
from game.errors import StateMismatchError
from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    Four,
    GameEvent,
    Kakan,
    PlayerLeft,
    PlayerReturned,
    Pon,
    Riichi,
    RiichiAccepted,
    StartRound,
)
from game.layout import RIVER_CALLED
from game.melds import Meld, MeldKind, decode_meld
from game.settlement import RIICHI_STICK
from game.state import apply_all, hand_tiles, melds_of, new_round
from game.tiles import UNSEEN

MAX_CANDIDATES: Final = 64
MAX_PATHS: Final = 2000
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


class Goal(msgspec.Struct, frozen=True):
    """A snapshot by absolute player, melds oldest first."""

    player: int
    hand: tuple[int, ...]
    rivers: tuple[m.Tiles, m.Tiles, m.Tiles, m.Tiles]
    melds: tuple[tuple[Meld, ...], tuple[Meld, ...], tuple[Meld, ...], tuple[Meld, ...]]
    riichi_at: Four
    indicators: tuple[int, ...]


class Known(msgspec.Struct, frozen=True):
    """The beginning of the round that we saw; without events, nothing but the goal is known."""

    events: tuple[GameEvent, ...]
    record: np.void
    begin: Begin


def candidates(message: m.RoundSnapshot, player: int, seen: Sequence[GameEvent]) -> Iterator[Candidate]:
    """Explanations of a snapshot, most plausible first; none if it contradicts itself.

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
    for known in _beginnings(message, seen):
        for path, in_order in _paths(goal, known):
            story = _Story(goal, known, in_order=in_order)
            yield from _explain(story.tell(path), goal, exact=True)
    nothing = Known((), new_round(), Begin("draw", message.round_index % 4))
    for path, in_order in _paths(goal, nothing):
        story = _Story(goal, nothing, in_order=in_order)
        for events in story.tell(path):
            deal = _deal(message, goal, events, story.drawn)
            if deal is not None:
                yield from _explain(iter([(deal, *events)]), goal, exact=False)


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
        for path in islice(TurnOrder(rivers, calls, in_order=in_order).paths(known.begin), MAX_PATHS):
            last = (
                path[-1]
                if path
                else Move("draw" if known.begin.kind == "throw" else "throw", known.begin.player)
            )
            ours = last.player == goal.player and (
                last.kind == "draw"
                or (
                    last.kind == "call" and last.meld is not None and last.meld.kind is not MeldKind.DAIMINKAN
                )
            )
            if ours == to_throw:
                yield path, in_order


def _rest(goal: Goal, known: Known) -> tuple[list[m.Tiles], list[tuple[int, Meld]]] | None:
    """Tiles to be thrown and melds to be called after what we saw; None if that is not the beginning."""
    rivers: list[m.Tiles] = []
    calls: list[tuple[int, Meld]] = []
    for p in range(4):
        wanted = [meld if meld.kind is not MeldKind.KAKAN else _pon_of(meld) for meld in goal.melds[p]]
        for meld in melds_of(known.record, p) if known.events else []:
            pon = _pon_of(meld) if meld.kind is MeldKind.KAKAN else meld
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


def _pon_of(kakan: Meld) -> Meld:
    tiles = tuple(tile for tile in kakan.tiles if tile != kakan.added)
    return Meld(MeldKind.PON, tiles, kakan.called, kakan.from_seat)


# --- from moves to events -----------------------------------------------------------------------------


class _Step(msgspec.Struct):
    """A move or a kan on one's own turn, with the tile if it is our own draw."""

    move: Move | None
    player: int
    kan: Meld | None = None
    tile: int = UNSEEN


class _Story:
    """Events that follow a path; ``drawn`` are then the tiles we drew on it."""

    def __init__(self, goal: Goal, known: Known, *, in_order: bool) -> None:
        self._goal = goal
        self._known = known
        self._in_order = in_order
        self.drawn: list[int] = []

    def tell(self, path: Path) -> Iterator[tuple[GameEvent, ...]]:
        """The events, with a riichi at the very end once as paid and once as not."""
        steps = self._with_kans(path)
        if steps is None or not self._fill_draws(steps):
            return
        events, pending = self._events(steps)
        if pending < 0:
            yield tuple(events)
            return
        if steps and isinstance(events[-1], DoraRevealed):
            yield (*events[:-1], RiichiAccepted(pending), events[-1])
        yield (*events, RiichiAccepted(pending))
        yield tuple(events)

    def _with_kans(self, path: Path) -> list[_Step] | None:
        steps = [_Step(move, move.player) for move in path]
        for p in range(4):
            for kan in self._own_kans(p):
                at = _turn_for(steps, p, kan, self._goal.melds[p] if self._in_order else ())
                if at is None:
                    return None
                steps[at + 1 : at + 1] = [_Step(None, p, kan), _Step(Move("draw", p), p)]
        return steps

    def _own_kans(self, player: int) -> list[Meld]:
        """Closed and added kans of a player that come after what we saw."""
        before = melds_of(self._known.record, player) if self._known.events else []
        kinds = (MeldKind.ANKAN, MeldKind.KAKAN)
        return [meld for meld in self._goal.melds[player] if meld.kind in kinds and meld not in before]

    def _fill_draws(self, steps: list[_Step]) -> bool:
        """Give our draws their tiles, each as late as it was needed; whether all of it can be."""
        us = self._goal.player
        held = set(hand_tiles(self._known.record, us)) if self._known.events else set()
        needed: list[int] = []
        free: list[_Step] = []
        for step in reversed(steps):
            if step.player != us:
                continue
            if step.move is None or step.move.kind != "draw":
                needed += [tile for tile in _uses(step) if tile not in held]
            elif needed:
                step.tile = needed.pop()
            else:
                free.append(step)
        if self._known.events and needed:
            return False
        used = {tile for step in steps if step.player == us for tile in (step.tile, *_uses(step))}
        spare = [tile for tile in self._goal.hand if tile not in held and tile not in used]
        for step in free:
            if not spare:
                return False
            step.tile = spare.pop()
        self.drawn = [step.tile for step in steps if step.player == us and step.tile != UNSEEN]
        return True

    def _events(self, steps: Sequence[_Step]) -> tuple[list[GameEvent], int]:
        """The events, and whose riichi is thrown but neither paid nor followed by anything, or -1."""
        events: list[GameEvent] = list(self._known.events)
        record = self._known.record
        riichi = [int(value) for value in record["riichi"]] if self._known.events else [0] * 4
        shown = int(record["indicator_count"]) if self._known.events else 1
        indicators = list(self._goal.indicators[shown:])
        declaring = self._riichi_steps(steps)
        pending = riichi.index(1) if 1 in riichi else -1
        for number, step in enumerate(steps):
            if pending >= 0:
                events.append(RiichiAccepted(pending))
                riichi[pending], pending = 2, -1
            if declaring.get(step.player) == number:
                events.append(Riichi(step.player))
                riichi[step.player], pending = 1, step.player
            events.append(self._event(step, events, accepted=riichi[step.player] == 2))
            if _is_kan(step) and indicators:
                events.append(DoraRevealed(indicators.pop(0)))
        # An indicator we missed, of a kan we saw.
        return events + [DoraRevealed(tile) for tile in indicators], pending

    def _riichi_steps(self, steps: Sequence[_Step]) -> dict[int, int]:
        """By player the step that throws his riichi tile."""
        found = {}
        for player, place in enumerate(self._goal.riichi_at):
            if place < 0 or (self._known.events and self._known.record["riichi"][player]):
                continue
            river = self._goal.rivers[player]
            throws = [
                number
                for number, step in enumerate(steps)
                if step.player == player and step.move is not None and step.move.kind == "throw"
            ]
            for number in throws:
                move = steps[number].move
                if place >= len(river) or (move is not None and move.tile == river[place]):
                    found[player] = number
        return found

    def _event(self, step: _Step, before: Sequence[GameEvent], *, accepted: bool) -> GameEvent:
        player = step.player
        if step.kan is not None:
            return _own_kan_event(player, step.kan)
        assert step.move is not None
        if step.move.kind == "draw":
            return Draw(player, step.tile)
        if step.move.kind == "call":
            assert step.move.meld is not None
            return _call_event(player, step.move.meld)
        if player != self._goal.player:
            return Discard(player, step.move.tile, accepted)
        last = next((e for e in reversed(before) if isinstance(e, Draw | Chi | Pon)), None)
        return Discard(player, step.move.tile, isinstance(last, Draw) and last.tile == step.move.tile)


def _turn_for(steps: Sequence[_Step], player: int, kan: Meld, melds: Sequence[Meld]) -> int | None:
    """The player's last draw at which he can have laid a kan, given the order of his melds if it is known."""
    first, last = -1, len(steps)
    if kan.kind is MeldKind.KAKAN:
        first = _call_step(steps, kan)
    elif kan in melds:
        place = melds.index(kan)
        first = max((_call_step(steps, meld) for meld in melds[:place]), default=-1)
        last = min((n for meld in melds[place:] if (n := _call_step(steps, meld)) >= 0), default=last)
    draws = [n for n, step in enumerate(steps) if step.player == player and _is_draw(step)]
    return next((n for n in reversed(draws) if first < n < last), None)


def _is_draw(step: _Step) -> bool:
    return step.move is not None and step.move.kind == "draw"


def _call_step(steps: Sequence[_Step], meld: Meld) -> int:
    """The step that makes a meld, for an added kan its pon; -1 if that was before."""
    made = _pon_of(meld) if meld.kind is MeldKind.KAKAN else meld
    return next(
        (n for n, s in enumerate(steps) if s.kan == made or (s.move is not None and s.move.meld == made)), -1
    )


def _uses(step: _Step) -> tuple[int, ...]:
    """Tiles that leave the hand with a step."""
    if step.kan is not None:
        return (step.kan.added,) if step.kan.kind is MeldKind.KAKAN else step.kan.tiles
    if step.move is not None and step.move.kind == "throw":
        return (step.move.tile,)
    if step.move is not None and step.move.meld is not None:
        return step.move.meld.consumed
    return ()


def _is_kan(step: _Step) -> bool:
    called = step.move.meld if step.move is not None else None
    return step.kan is not None or (called is not None and called.kind is MeldKind.DAIMINKAN)


def _own_kan_event(player: int, kan: Meld) -> GameEvent:
    if kan.kind is MeldKind.ANKAN:
        a, b, c, d = kan.tiles
        return Ankan(player, (a, b, c, d))
    a, b, c = (tile for tile in kan.tiles if tile != kan.added)
    return Kakan(player, kan.added, (a, b, c))


def _call_event(player: int, meld: Meld) -> GameEvent:
    source = (player + meld.from_seat) % 4
    if meld.kind is MeldKind.DAIMINKAN:
        a, b, c = meld.consumed
        return Daiminkan(player, source, meld.called, (a, b, c))
    a, b = meld.consumed
    call = Chi if meld.kind is MeldKind.CHI else Pon
    return call(player, source, meld.called, (a, b))


# --- the deal, and the proof --------------------------------------------------------------------------


def _deal(
    message: m.RoundSnapshot, goal: Goal, events: Sequence[GameEvent], drawn: Sequence[int]
) -> StartRound | None:
    """The deal that the events follow; None if our tiles do not make one."""
    us = goal.player
    pool = set(goal.hand)
    pool.update(e.tile for e in events if isinstance(e, Discard) and e.player == us)
    pool.update(tile for meld in goal.melds[us] for tile in meld.tiles if tile != meld.called)
    hand = tuple(sorted(pool - set(drawn)))
    if len(hand) != 13:
        return None
    paid = [e.player for e in events if isinstance(e, RiichiAccepted)]
    scores = by_player(message.scores, us)
    sticks = message.riichi_sticks
    if sticks >= len(paid):
        # The snapshot's scores are those of now; the sticks of this round are taken back.
        a, b, c, d = (score + RIICHI_STICK * paid.count(p) for p, score in enumerate(scores))
        scores, sticks = (a, b, c, d), sticks - len(paid)
    hands = by_player((hand, _HIDDEN, _HIDDEN, _HIDDEN), us)
    dealer = message.round_index % 4
    return StartRound(message.round_index, message.honba, sticks, dealer, scores, goal.indicators[0], hands)


def _explain(stories: Iterator[tuple[GameEvent, ...]], goal: Goal, *, exact: bool) -> Iterator[Candidate]:
    """Those stories that fold, and end where the snapshot stands."""
    for events in stories:
        record = new_round()
        try:
            apply_all(record, events)
        except StateMismatchError:
            continue
        if hand_tiles(record, goal.player) != sorted(goal.hand):
            continue
        if all(_open_river(record, p) == goal.rivers[p] for p in range(4)):
            yield Candidate(events, record, exact)
