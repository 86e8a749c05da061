"""Our choices on the wire: the server's offers, the frame for each choice, and checks of recorded frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import numpy as np

from bot.tenhou.messages import client_messages as c
from bot.tenhou.messages import server_messages as s
from game.actions import PASS, Action, ActionKind
from game.errors import StateMismatchError
from game.events import Riichi
from game.rules import legal_actions
from game.state import apply, clone, hand_tiles
from game.tiles import face_of, tile_text

OFFERS: Final = {
    ActionKind.PON: s.OFFER_PON,
    ActionKind.DAIMINKAN: s.OFFER_DAIMINKAN,
    ActionKind.CHI: s.OFFER_CHI,
    ActionKind.RON: s.OFFER_RON,
    ActionKind.TSUMO: s.OFFER_TSUMO,
    ActionKind.RIICHI: s.OFFER_RIICHI,
    ActionKind.NINE_TERMINALS: s.OFFER_NINE_TERMINALS,
}
"""The offer bit of each kind of action. Discards, passes and kans on our own turn have none."""

_CHOICES: Final = {
    ActionKind.PASS: c.ResponseType.PASS,
    ActionKind.CHI: c.ResponseType.CHI,
    ActionKind.PON: c.ResponseType.PON,
    ActionKind.DAIMINKAN: c.ResponseType.DAIMINKAN,
    ActionKind.ANKAN: c.ResponseType.ANKAN,
    ActionKind.KAKAN: c.ResponseType.KAKAN,
    ActionKind.TSUMO: c.ResponseType.TSUMO,
    ActionKind.RON: c.ResponseType.RON,
    ActionKind.NINE_TERMINALS: c.ResponseType.NINE_TERMINALS,
}
_KINDS: Final = {choice: kind for kind, choice in _CHOICES.items()}


class Prompt(msgspec.Struct, frozen=True):
    """An open prompt; see `bot.tenhou.session.events.PromptOpened`."""

    prompt_id: int
    legal: tuple[Action, ...]
    offered: int = 0
    mismatch: str | None = None


def agree(ours: Sequence[Action], offered: int, *, claim: bool) -> tuple[tuple[Action, ...], str | None]:
    """The actions that are legal for both us and the server, and the difference.

    Args:
        ours: our own legal set.
        offered: the server's offer bits.
        claim: the prompt is on another player's tile, where every offer needs an answer.

    Returns:
        The legal actions common to both, and the difference as text or None. A claim always includes a pass.
    """
    legal = tuple(action for action in ours if not OFFERS.get(action.kind) or OFFERS[action.kind] & offered)
    if claim and PASS not in legal:
        legal = (*legal, PASS)
    return legal, difference({action.kind for action in ours}, offered)


def difference(ours: Iterable[ActionKind], offered: int) -> str | None:
    """The difference between our choices and the server's offer bits, as text; None if they agree."""
    kinds = set(ours)
    parts = []
    for kind, bit in OFFERS.items():
        if bool(offered & bit) != (kind in kinds):
            parts.append(
                f"{kind.name.lower()} {'offered but not legal' if offered & bit else 'legal but not offered'}"
            )
    if offered & s.OFFER_NORTH:
        parts.append("north offered at a four-player table")
    return "; ".join(parts) or None


def reply(action: Action) -> c.ClientMessage:
    """The frame that sends an action."""
    if action.kind is ActionKind.DISCARD:
        return c.DiscardTile(action.tile)
    if action.kind is ActionKind.RIICHI:
        return c.DeclareRiichi()
    if action.kind in (ActionKind.CHI, ActionKind.PON):
        return c.Respond(_CHOICES[action.kind], tuple(sorted(action.consumed)))
    if action.kind is ActionKind.ANKAN:
        return c.Respond(c.ResponseType.ANKAN, (min(action.consumed),))
    if action.kind is ActionKind.KAKAN:
        return c.Respond(c.ResponseType.KAKAN, (action.tile,))
    return c.Respond(_CHOICES[action.kind])


# --- checking recorded frames -------------------------------------------------------------------------


def objection(
    message: c.ClientMessage, legal: Sequence[Action], record: np.void, player: int, *, riichi_sent: bool
) -> str | None:
    """Why a frame is not one of the legal choices, or None if it is; tiles of the same face are equal.

    ``riichi_sent``: a riichi was sent and is not confirmed yet, so the discard must keep the hand tenpai.
    """
    if isinstance(message, c.DiscardTile):
        return _discard_objection(message.tile, legal, record, player, riichi_sent=riichi_sent)
    if isinstance(message, c.DeclareRiichi):
        return _riichi_objection(message.tile, legal, record, player)
    if isinstance(message, c.Respond):
        return _response_objection(message, legal, record, player)
    return "the frame does not answer a prompt"


def riichi_discards(record: np.void, player: int) -> list[Action]:
    """The legal discards after a riichi; empty if riichi cannot be declared."""
    declared = clone(record)
    try:
        apply(declared, Riichi(player))
    except StateMismatchError:
        return []
    return legal_actions(declared, player)


def _discard_objection(
    tile: int, legal: Sequence[Action], record: np.void, player: int, *, riichi_sent: bool
) -> str | None:
    if tile not in hand_tiles(record, player):
        return f"{tile_text(tile)} ({tile}) is not in the hand"
    choices = riichi_discards(record, player) if riichi_sent else legal
    allowed = [action.tile for action in choices if action.kind is ActionKind.DISCARD]
    if record["riichi"][player] == 2 and tile not in allowed:
        return "in riichi only the drawn tile may be discarded"
    if face_of(tile) not in map(face_of, allowed):
        return f"{tile_text(tile)} may not be discarded"
    return None


def _riichi_objection(tile: int, legal: Sequence[Action], record: np.void, player: int) -> str | None:
    if not any(action.kind is ActionKind.RIICHI for action in legal):
        return "riichi is not possible now"
    if tile < 0:
        return None
    return _discard_objection(tile, legal, record, player, riichi_sent=True)


def _response_objection(
    message: c.Respond, legal: Sequence[Action], record: np.void, player: int
) -> str | None:
    kind = _KINDS.get(message.choice)
    same = [action for action in legal if action.kind is kind]
    if not same:
        return f"{message.choice.name.lower().replace('_', ' ')} is not possible now"
    if message.choice is c.ResponseType.KAKAN:
        return None if message.tiles[0] in [a.tile for a in same] else "the tile cannot be added to a pon"
    if message.choice is c.ResponseType.ANKAN:
        kinds = [action.consumed[0] >> 2 for action in same]
        return None if message.tiles[0] >> 2 in kinds else "a closed kan of the tile is not possible"
    if not message.tiles:
        return None
    hand = hand_tiles(record, player)
    if not all(tile in hand for tile in message.tiles):
        return "a tile of the meld is not in the hand"
    faces = sorted(map(face_of, message.tiles))
    if faces not in [sorted(map(face_of, action.consumed)) for action in same]:
        return "these tiles do not form that meld"
    return None
