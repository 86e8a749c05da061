"""Our prompts, our answers and the progress of our riichi.

At most one prompt is open. These frames open it:

=============================================== ===================================================
frame                                           prompt
=============================================== ===================================================
our draw                                        discard, riichi, kan, tsumo, nine terminals
another player's discard or kan, with an offer  chi, pon, kan, ron or pass
our chi or pon                                  discard
our riichi, confirmed or assumed                discard that keeps the hand tenpai
=============================================== ===================================================

Any other table frame closes it, except a new dora indicator and the payment of a riichi.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum

import numpy as np

from bot.tenhou.messages import client_messages as c
from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.events import Disagreement, PromptClosed, PromptOpened, SessionEvent
from bot.tenhou.session.known_round import KnownRound
from game.actions import PASS, Action, ActionKind
from game.rules import legal_actions
from game.state import declared
from game.tiles import face_of
from kit.errors import LocalProtocolError


class RiichiState(Enum):
    """The progress of our own riichi."""

    NONE = "no riichi is pending"
    SENT = "sent, not confirmed yet"
    ASSUMED = "folded before the server confirmed it; the confirmation will be skipped"


class OwnRiichi:
    """Our riichi, from its declaration to its confirmation.

    ======== ============= ============ =============== ===================
    state    we declare    other answer two seconds     server confirms
    ======== ============= ============ =============== ===================
    NONE     SENT          NONE         .               folded: NONE
    SENT     SENT          NONE         ASSUMED         folded: NONE
    ASSUMED  .             ASSUMED      .               skipped: NONE
    ======== ============= ============ =============== ===================

    Attributes:
        state: how far it has come.
    """

    def __init__(self) -> None:
        self.state = RiichiState.NONE

    @property
    def is_pending(self) -> bool:
        """Whether it was sent and the server has not confirmed it yet."""
        return self.state is RiichiState.SENT

    def reset(self) -> None:
        """Forget it, for a new round or a new connection."""
        self.state = RiichiState.NONE

    def forget_sent(self) -> None:
        """Forget it if it was only sent: the game has gone on."""
        if self.is_pending:
            self.state = RiichiState.NONE

    def note_answer(self, *, is_riichi: bool) -> None:
        """Note an answer of ours, which may declare it."""
        self.forget_sent()
        if is_riichi:
            self.state = RiichiState.SENT

    def assume(self) -> None:
        """Note that it was folded before the server confirmed it."""
        self.state = RiichiState.ASSUMED

    def skips(self, message: m.ServerMessage) -> bool:
        """Whether a frame only confirms the riichi that we assumed; the first such frame is skipped."""
        if self.state is not RiichiState.ASSUMED:
            return False
        if not isinstance(message, m.RiichiStep) or message.seat != 0:
            return False
        self.state = RiichiState.NONE
        return message.step == 1


class Turn:
    """Our prompts and answers.

    Args:
        numbers: the source of prompt numbers.
        send: called with each frame to send.

    Attributes:
        prompt: the open prompt, or None.
        riichi: our own riichi.
    """

    def __init__(self, numbers: Iterator[int], send: Callable[[c.ClientMessage], None]) -> None:
        self.prompt: PromptOpened | None = None
        self.riichi = OwnRiichi()
        self._numbers = numbers
        self._send = send

    # --- prompts -------------------------------------------------------------------------------------

    def ask(self, message: m.ServerMessage, known: KnownRound, player: int) -> list[SessionEvent]:
        """Open the prompt that a folded frame calls for, if any."""
        if isinstance(message, m.TileDrawn):
            return self._ask_on_draw(message, known, player) if message.seat == 0 else []
        if isinstance(message, m.TileDiscarded | m.MeldMade) and message.seat != 0:
            return self._ask_to_claim(message.offers, known, player)
        called = isinstance(message, m.MeldMade)
        declared = isinstance(message, m.RiichiStep) and message.step == 1 and message.seat == 0
        return self.ask_to_discard(known, player) if called or declared else []

    def _ask_on_draw(self, message: m.TileDrawn, known: KnownRound, player: int) -> list[SessionEvent]:
        legal, mismatch = agree(legal_actions(known.record, player), message.offers, claim=False)
        return self._open(legal, message.offers, mismatch)

    def _ask_to_claim(self, offers: int, known: KnownRound, player: int) -> list[SessionEvent]:
        ours = legal_actions(known.record, player)
        if offers:
            legal, mismatch = agree(_with_ron(ours, offers, known, player), offers, claim=True)
            return self._open(legal, offers, mismatch)
        unoffered = difference((action.kind for action in ours), 0)
        return [Disagreement("offer", unoffered)] if unoffered else []

    def ask_to_discard(self, known: KnownRound, player: int) -> list[SessionEvent]:
        """Open the prompt after our chi, pon or riichi; after our kan the draw opens it."""
        legal = tuple(legal_actions(known.record, player))
        return self._open(legal, 0, None) if legal else []

    def ask_without_record(self, message: m.ServerMessage) -> list[SessionEvent]:
        """Open the prompt that a frame calls for in a round without a record."""
        choice = _blind_choice(message)
        if choice and isinstance(message, m.TileDrawn | m.TileDiscarded | m.MeldMade):
            return self._open(choice, message.offers, None)
        return []

    def _open(self, legal: tuple[Action, ...], offered: int, mismatch: str | None) -> list[SessionEvent]:
        self.riichi.forget_sent()
        self.prompt = PromptOpened(next(self._numbers), legal, offered, mismatch)
        return [self.prompt]

    # --- closing -------------------------------------------------------------------------------------

    def close(self) -> list[SessionEvent]:
        """Close the open prompt, if any."""
        prompt, self.prompt = self.prompt, None
        return [PromptClosed(prompt.prompt_id)] if prompt else []

    def follow(self, message: m.ServerMessage) -> list[SessionEvent]:
        """Close the prompt if a table frame ends it, as most do."""
        # A riichi is paid once no ron is possible; we may still be able to call the tile.
        paid = isinstance(message, m.RiichiStep) and message.step == 2
        if paid or isinstance(message, m.IndicatorShown):
            return []
        self.riichi.forget_sent()
        return self.close()

    def reset(self) -> list[SessionEvent]:
        """Close the prompt and forget a sent riichi, for a new round or a new connection."""
        self.riichi.reset()
        return self.close()

    # --- our answers ---------------------------------------------------------------------------------

    def answer(self, prompt_id: int, action: Action) -> None:
        """Send an action; the record changes when the server reports it.

        Raises:
            LocalProtocolError: the prompt is over, or the action is not in its legal set.
        """
        prompt = self.prompt
        if prompt is None or prompt.prompt_id != prompt_id:
            raise LocalProtocolError(f"prompt {prompt_id} is over")
        if action not in prompt.legal and not _is_twin(action, prompt.legal):
            raise LocalProtocolError(f"{action} is not legal at prompt {prompt_id}")
        self.prompt = None
        self.riichi.note_answer(is_riichi=action.kind is ActionKind.RIICHI)
        self._send(reply(action))


def _is_twin(action: Action, legal: Sequence[Action]) -> bool:
    """Whether this discards another copy of a face that may be discarded; legal actions list faces once."""
    return action.kind is ActionKind.DISCARD and any(
        listed.kind is ActionKind.DISCARD and face_of(listed.tile) == face_of(action.tile) for listed in legal
    )


def _with_ron(ours: list[Action], offered: int, known: KnownRound, player: int) -> list[Action]:
    """Our choices on another player's tile, in a rebuilt round including a ron that the server offers.

    In a rebuilt round the winning tiles that we passed up are unknown, so the server decides on furiten.
    """
    tile = int(known.record["last_tile"])
    certain = known.is_exact or any(action.kind is ActionKind.RON for action in ours)
    waits = int(known.record["waits"][player])
    if certain or not offered & m.OFFER_RON or not waits >> (tile >> 2) & 1:
        return ours
    return [Action(ActionKind.RON, tile), *ours]


def _blind_choice(message: m.ServerMessage) -> tuple[Action, ...]:
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


# --- our choices on the wire ---------------------------------------------------------------------------


def agree(ours: Sequence[Action], offered: int, *, claim: bool) -> tuple[tuple[Action, ...], str | None]:
    """The actions that are legal for both us and the server, and the difference.

    Args:
        ours: our own legal set.
        offered: the server's offer bits.
        claim: the prompt is on another player's tile, where every offer needs an answer.

    Returns:
        The legal actions common to both, and the difference as text or None. A claim always includes a pass.
    """
    legal = tuple(action for action in ours if action.kind not in m.OFFERS or m.OFFERS[action.kind] & offered)
    if claim and PASS not in legal:
        legal = (*legal, PASS)
    return legal, difference({action.kind for action in ours}, offered)


def difference(ours: Iterable[ActionKind], offered: int) -> str | None:
    """The difference between our choices and the server's offer bits, as text; None if they agree."""
    kinds = set(ours)
    parts = []
    for kind, bit in m.OFFERS.items():
        if bool(offered & bit) != (kind in kinds):
            parts.append(
                f"{kind.name.lower()} {'offered but not legal' if offered & bit else 'legal but not offered'}"
            )
    if offered & m.OFFER_NORTH:
        parts.append("north offered at a four-player table")
    return "; ".join(parts) or None


def reply(action: Action) -> c.ClientMessage:
    """The frame that sends an action."""
    if action.kind is ActionKind.DISCARD:
        return c.DiscardTile(action.tile)
    if action.kind is ActionKind.RIICHI:
        return c.DeclareRiichi()
    tiles: tuple[int, ...] = ()
    if action.kind in (ActionKind.CHI, ActionKind.PON):
        tiles = tuple(sorted(action.consumed))
    elif action.kind is ActionKind.ANKAN:
        tiles = (min(action.consumed),)
    elif action.kind is ActionKind.KAKAN:
        tiles = (action.tile,)
    return c.Respond(c.ResponseType[action.kind.name], tiles)


def riichi_discards(record: np.void, player: int) -> list[Action]:
    """The legal discards after a riichi, which must be legal."""
    return legal_actions(declared(record, player), player)
