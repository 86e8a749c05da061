"""Rejoining a running round: choosing the explanation of the snapshot, and answering without one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.resume import Candidate, candidates
from bot.tenhou.session.translate import translate
from game.actions import PASS, Action, ActionKind
from game.events import Discard, GameEvent, PlayerLeft, PlayerReturned, Riichi
from game.layout import PHASE_CLAIM
from game.state import apply, apply_all, clone, new_round
from kit.errors import StateMismatchError


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


def blind_choice(message: m.ServerMessage) -> tuple[Action, ...]:
    """The answer to give without a record: take an offered win, discard the drawn tile, otherwise pass.

    Empty if the frame asks for no answer.
    """
    if isinstance(message, m.TileDrawn) and message.seat == 0:
        won = message.offers & m.OFFER_TSUMO
        return (Action(ActionKind.TSUMO if won else ActionKind.DISCARD, message.tile),)
    if isinstance(message, m.TileDiscarded | m.MeldMade) and message.offers:
        tile = message.tile if isinstance(message, m.TileDiscarded) else -1
        return (Action(ActionKind.RON, tile) if message.offers & m.OFFER_RON else PASS,)
    return ()
