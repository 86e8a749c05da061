"""Restores the order in which a round of a tenhou.net/6 record was played.

The format has four lists of draws and four of discards. The next draw follows from the rules, except where a
call fits both this discard and a later one like it. There the first order that uses up all lists is taken,
with calls tried before draws, and pon and kan before chi.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from game.events import (
    Ankan,
    Discard,
    DoraRevealed,
    Draw,
    GameEvent,
    Kakan,
    Riichi,
    RiichiAccepted,
    StartRound,
)
from game.forbidden import broken_rule
from game.layout import AT_HAND, AT_MELD, AT_UNSEEN, PHASE_CALLED, PHASE_CLAIM, PHASE_DRAW, PHASE_TURN
from game.melds import Meld, MeldKind, meld_event
from game.state import apply, clone, free_copy, new_round
from kit.errors import ReplayFormatError, StateMismatchError
from replays.tenhou6.tokens import (
    TSUMOGIRI,
    Call,
    DiscardToken,
    DrawToken,
    Faces,
    Gap,
    OwnKan,
    Take,
    WrittenDiscard,
    tile_name,
)

MAX_STEPS: Final = 4000
"""Maximum number of events tried in one round, including those taken back; a round has about 200."""

_PASS: Final = -1


class Lists(msgspec.Struct, frozen=True):
    """The lists of a round.

    Attributes:
        indicators: numbers of all revealed dora indicators, in order.
        draws: draws of each player, in order.
        discards: discards of each player, in order.
    """

    indicators: tuple[int, ...]
    draws: tuple[tuple[DrawToken, ...], ...]
    discards: tuple[tuple[DiscardToken, ...], ...]


class SearchNode:
    """A point in a round: its state, the events so far, and how much of each list is used."""

    def __init__(self, state: np.void, events: list[GameEvent], *, by_the_rules: bool) -> None:
        self.state = state
        self.events = events
        self.by_the_rules = by_the_rules
        self.draws = [0, 0, 0, 0]
        self.discards = [0, 0, 0, 0]
        self.indicators = 1
        self.owed = 0

    def copy(self) -> SearchNode:
        """A copy of this point, to try another order from."""
        other = SearchNode(clone(self.state), list(self.events), by_the_rules=self.by_the_rules)
        other.draws, other.discards = list(self.draws), list(self.discards)
        other.indicators, other.owed = self.indicators, self.owed
        return other

    def add(self, event: GameEvent) -> None:
        """Apply an event.

        Raises:
            StateMismatchError: it does not fit, or breaks a rule where all rules must be kept.
        """
        rule = broken_rule(self.state, event) if self.by_the_rules else ""
        if rule:
            raise StateMismatchError(f"{event!r} is forbidden: {rule}")
        apply(self.state, event)
        self.events.append(event)


class _DeadEnd(Exception):  # noqa: N818 - not an error: another order is tried
    """The lists cannot be used up in this order."""


def in_order(start: StartRound, lists: Lists, faces: Faces) -> SearchNode:
    """Play a round up to its last discard, draw or kan.

    Orders in which every player keeps to the rules are tried before orders with a violation.

    Raises:
        ReplayFormatError: no order of the lists is possible; the message describes where the best try failed.
    """
    try:
        place = _Search(start, lists, faces, by_the_rules=True).run()
    except ReplayFormatError:
        return _Search(start, lists, faces, by_the_rules=False).run()
    place.by_the_rules = False  # the order was searched for, but the result is stated
    return place


class _Search:
    def __init__(self, start: StartRound, lists: Lists, faces: Faces, *, by_the_rules: bool) -> None:
        self._lists = lists
        self._faces = faces
        self._steps = 0
        first = SearchNode(new_round(), [], by_the_rules=by_the_rules)
        try:
            first.add(start)
        except StateMismatchError as exc:
            raise ReplayFormatError(f"the deal: {exc}") from None
        # Alternatives not tried yet: a place, and the caller there.
        self._open: list[tuple[SearchNode, int]] = []
        self._place = first

    def run(self) -> SearchNode:
        """The first place where all lists are used up."""
        furthest, reason = -1, ""
        while True:
            try:
                while self._step():
                    pass
            except (_DeadEnd, StateMismatchError) as exc:
                if len(self._place.events) > furthest:
                    furthest, reason = len(self._place.events), str(exc)
                if not self._take_another_way():
                    raise ReplayFormatError(reason) from None
            else:
                return self._place

    def _take_another_way(self) -> bool:
        """Go back to the last place with an untried alternative; False if there is none."""
        while self._open:
            self._place, caller = self._open.pop()
            try:
                self._answer(caller)
            except (_DeadEnd, StateMismatchError):
                continue
            return True
        return False

    def _step(self) -> bool:
        """Take the next entry of a list; False at the end of the round."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise ReplayFormatError(f"no order found in {MAX_STEPS} steps")
        state = self._place.state
        phase, turn = int(state["phase"]), int(state["turn"])
        if phase == PHASE_CLAIM:
            return self._after_discard()
        if phase in (PHASE_TURN, PHASE_CALLED):
            return self._act(turn)
        if self._next_draw(turn) is None and phase != PHASE_DRAW:
            self._finish()  # the added kan was robbed
            return False
        self._draw(turn)
        return True

    # --- draws and discards --------------------------------------------------------------------------

    def _next_draw(self, player: int) -> DrawToken | None:
        entries, at = self._lists.draws[player], self._place.draws[player]
        return entries[at] if at < len(entries) else None

    def _next_discard(self, player: int) -> DiscardToken | None:
        entries, at = self._lists.discards[player], self._place.discards[player]
        return entries[at] if at < len(entries) else None

    def _draw(self, player: int) -> None:
        token = self._next_draw(player)
        if not isinstance(token, Take):
            found = "nothing is left" if token is None else "a call is there"
            raise _DeadEnd(f"{self._at('draws', player)}: a tile is drawn, but {found}")
        if self._place.owed:
            # After an open or added kan; its own indicator is due with the discard, an earlier one now.
            self._reveal(self._place.owed - 1)
        self._place.add(Draw(player, self._copy(token.number, AT_UNSEEN, f"{self._at('draws', player)}")))
        self._place.draws[player] += 1

    def _act(self, player: int) -> bool:
        """A discard or the player's own kan; False if the round ends with this draw."""
        token = self._next_discard(player)
        match token:
            case None:
                self._finish()
                return False
            case WrittenDiscard():
                self._discard(player, token)
            case OwnKan():
                self._own_kan(player, token)
            case Gap():
                raise _DeadEnd(f"{self._at('discards', player)}: 0 where no open kan was called")
        self._place.discards[player] += 1
        return True

    def _discard(self, player: int, token: WrittenDiscard) -> None:
        where = self._at("discards", player)
        drawn = int(self._place.state["drawn"])
        tsumogiri = token.number == TSUMOGIRI or self._names_drawn(player, token.number, drawn)
        if tsumogiri and drawn < 0:
            raise _DeadEnd(f"{where}: {TSUMOGIRI} where nothing was drawn")
        tile = drawn if tsumogiri else self._copy(token.number, AT_HAND + player, where, (drawn,))
        if token.riichi:
            self._place.add(Riichi(player))
        self._reveal(self._place.owed)
        self._place.add(Discard(player, tile, tsumogiri))

    def _names_drawn(self, player: int, number: int, drawn: int) -> bool:
        """Whether a discard can only be the tile just drawn; some programs write its face instead of 60."""
        copies = self._faces.copies.get(number, ())
        return drawn in copies and free_copy(self._place.state, copies, AT_HAND + player, (drawn,)) is None

    def _own_kan(self, player: int, token: OwnKan) -> None:
        where = self._at("discards", player)
        hand = AT_HAND + player
        if token.kind is MeldKind.ANKAN:
            named, *others = self._copies((token.number, *token.others), hand, where)
            a, b, c = sorted(others)
            self._place.add(Ankan(player, (named, a, b, c)))
            self._reveal(self._place.owed + 1)
            return
        tile = self._copy(token.number, hand, where)
        a, b, c = sorted(self._copies(token.others, AT_MELD + player, where))
        self._place.add(Kakan(player, tile, (a, b, c)))
        self._place.owed += 1

    # --- calls ---------------------------------------------------------------------------------------

    def _after_discard(self) -> bool:
        """Continue after a discard; False if the round ends with it."""
        discarder = int(self._place.state["last_player"])
        answers = self._callers(discarder)
        following = (discarder + 1) % 4
        if isinstance(self._next_draw(following), Take):
            answers.append(_PASS)
        if not answers:
            self._finish()
            return False
        first, *others = answers
        for other in reversed(others):
            self._open.append((self._place.copy(), other))
        self._answer(first)
        return True

    def _callers(self, discarder: int) -> list[int]:
        """The players whose next entry may call the last discard, chi last."""
        found = []
        tile = int(self._place.state["last_tile"])
        for player in range(4):
            token = self._next_draw(player)
            if not isinstance(token, Call) or (player + token.from_seat) % 4 != discarder:
                continue
            if tile in self._faces.copies.get(token.called, ()):
                found.append((token.kind is MeldKind.CHI, player))
        return [player for _, player in sorted(found)]

    def _answer(self, caller: int) -> None:
        """Let one player call the last discard, or the next one draw."""
        state = self._place.state
        discarder = int(state["last_player"])
        if state["riichi"][discarder] == 1:
            self._place.add(RiichiAccepted(discarder))
        if caller == _PASS:
            self._draw((discarder + 1) % 4)
            return
        token = self._next_draw(caller)
        assert isinstance(token, Call)
        tile = int(state["last_tile"])
        tiles = sorted((tile, *self._copies(token.own, AT_HAND + caller, self._at("draws", caller))))
        self._place.add(meld_event(caller, Meld(token.kind, tuple(tiles), tile, token.from_seat)))
        self._place.draws[caller] += 1
        if token.kind is MeldKind.DAIMINKAN:
            self._place.owed += 1
            if isinstance(self._next_discard(caller), Gap):
                self._place.discards[caller] += 1

    # --- the rest ------------------------------------------------------------------------------------

    def _reveal(self, count: int) -> None:
        """Reveal indicators, as far as the list has them."""
        for number in self._lists.indicators[self._place.indicators : self._place.indicators + count]:
            self._place.add(DoraRevealed(self._copy(number, AT_UNSEEN, "dora indicators")))
            self._place.indicators += 1
        self._place.owed = max(self._place.owed - count, 0)

    def _finish(self) -> None:
        """End the round, if nothing is left in any list."""
        for name, lists, used in (
            ("draws", self._lists.draws, self._place.draws),
            ("discards", self._lists.discards, self._place.discards),
        ):
            for player in range(4):
                if used[player] < len(lists[player]):
                    raise _DeadEnd(f"{name} of player {player} entry {used[player] + 1}: is never reached")
        self._reveal(len(self._lists.indicators) - self._place.indicators)

    def _at(self, name: str, player: int) -> str:
        used = self._place.draws if name == "draws" else self._place.discards
        return f"{name} of player {player} entry {used[player] + 1}"

    def _copy(self, number: int, place: int, where: str, taken: tuple[int, ...] = ()) -> int:
        tile = free_copy(self._place.state, self._faces.copies.get(number, ()), place, taken)
        if tile is None:
            raise _DeadEnd(f"{where}: no {tile_name(number)} is there")
        return tile

    def _copies(self, numbers: Sequence[int], place: int, where: str) -> tuple[int, ...]:
        taken: tuple[int, ...] = ()
        for number in numbers:
            taken += (self._copy(number, place, where, taken),)
        return taken
