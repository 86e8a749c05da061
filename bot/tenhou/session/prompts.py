"""Our choices on the wire: which the server offers, how each is sent, and whether a frame is one of them."""

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
"""The bit that offers a choice. Discards, passes and kans on our own turn are never announced."""

_CHOICES: Final = {
    ActionKind.PASS: c.Choice.PASS,
    ActionKind.CHI: c.Choice.CHI,
    ActionKind.PON: c.Choice.PON,
    ActionKind.DAIMINKAN: c.Choice.DAIMINKAN,
    ActionKind.ANKAN: c.Choice.ANKAN,
    ActionKind.KAKAN: c.Choice.KAKAN,
    ActionKind.TSUMO: c.Choice.TSUMO,
    ActionKind.RON: c.Choice.RON,
    ActionKind.NINE_TERMINALS: c.Choice.NINE_TERMINALS,
}
_KINDS: Final = {choice: kind for kind, choice in _CHOICES.items()}


class Prompt(msgspec.Struct, frozen=True):
    """A choice that is open; see `bot.tenhou.session.events.PromptOpened`."""

    prompt_id: int
    legal: tuple[Action, ...]
    offered: int = 0
    mismatch: str | None = None


def agree(ours: Sequence[Action], offered: int, *, claim: bool) -> tuple[tuple[Action, ...], str | None]:
    """What both we and the server hold legal, and where we differ.

    Args:
        ours: our own legal set.
        offered: the server's bits.
        claim: on somebody else's tile, where an offer always wants an answer.

    Returns:
        The legal actions both know, and the difference in words or None. A claim always has a pass.
    """
    legal = tuple(action for action in ours if not OFFERS.get(action.kind) or OFFERS[action.kind] & offered)
    if claim and PASS not in legal:
        legal = (*legal, PASS)
    return legal, difference({action.kind for action in ours}, offered)


def difference(ours: Iterable[ActionKind], offered: int) -> str | None:
    """How a set of choices differs from the server's bits, in words; None if it does not."""
    kinds = set(ours)
    parts = []
    for kind, bit in OFFERS.items():
        if bool(offered & bit) != (kind in kinds):
            parts.append(
                f"{kind.name.lower()} {'offered but not ours' if offered & bit else 'ours but not offered'}"
            )
    if offered & s.OFFER_NORTH:
        parts.append("north offered at a four-player table")
    return "; ".join(parts) or None


def reply(action: Action) -> c.ClientMessage:
    """The frame that takes this choice."""
    if action.kind is ActionKind.DISCARD:
        return c.Throw(action.tile)
    if action.kind is ActionKind.RIICHI:
        return c.DeclareRiichi()
    if action.kind in (ActionKind.CHI, ActionKind.PON):
        return c.Respond(_CHOICES[action.kind], tuple(sorted(action.consumed)))
    if action.kind is ActionKind.ANKAN:
        return c.Respond(c.Choice.ANKAN, (min(action.consumed),))
    if action.kind is ActionKind.KAKAN:
        return c.Respond(c.Choice.KAKAN, (action.tile,))
    return c.Respond(_CHOICES[action.kind])


# --- is a recorded frame one of our choices? ----------------------------------------------------------


def objection(
    message: c.ClientMessage, legal: Sequence[Action], record: np.void, player: int, *, riichi_sent: bool
) -> str | None:
    """Why a frame is none of the legal choices, or None if it is; equal faces count as equal.

    ``riichi_sent``: the riichi was sent but not confirmed yet, so a discard must be one that keeps the
    hand ready.
    """
    if isinstance(message, c.Throw):
        return _throw_objection(message.tile, legal, record, player, riichi_sent=riichi_sent)
    if isinstance(message, c.DeclareRiichi):
        return _riichi_objection(message.tile, legal, record, player)
    if isinstance(message, c.Respond):
        return _response_objection(message, legal, record, player)
    return "no answer to a prompt"


def riichi_discards(record: np.void, player: int) -> list[Action]:
    """What may be thrown once riichi is declared, empty if it cannot be."""
    declared = clone(record)
    try:
        apply(declared, Riichi(player))
    except StateMismatchError:
        return []
    return legal_actions(declared, player)


def _throw_objection(
    tile: int, legal: Sequence[Action], record: np.void, player: int, *, riichi_sent: bool
) -> str | None:
    if tile not in hand_tiles(record, player):
        return f"{tile_text(tile)} ({tile}) is not in the hand"
    choices = riichi_discards(record, player) if riichi_sent else legal
    thrown = [action.tile for action in choices if action.kind is ActionKind.DISCARD]
    if record["riichi"][player] == 2 and tile not in thrown:
        return "in riichi only the drawn tile may be thrown"
    if face_of(tile) not in map(face_of, thrown):
        return f"{tile_text(tile)} may not be thrown"
    return None


def _riichi_objection(tile: int, legal: Sequence[Action], record: np.void, player: int) -> str | None:
    if not any(action.kind is ActionKind.RIICHI for action in legal):
        return "no riichi now"
    if tile < 0:
        return None
    return _throw_objection(tile, legal, record, player, riichi_sent=True)


def _response_objection(
    message: c.Respond, legal: Sequence[Action], record: np.void, player: int
) -> str | None:
    kind = _KINDS.get(message.choice)
    same = [action for action in legal if action.kind is kind]
    if not same:
        return f"no {message.choice.name.lower().replace('_', ' ')} now"
    if message.choice is c.Choice.KAKAN:
        return None if message.tiles[0] in [a.tile for a in same] else "that tile is not added to a pon"
    if message.choice is c.Choice.ANKAN:
        kinds = [action.consumed[0] >> 2 for action in same]
        return None if message.tiles[0] >> 2 in kinds else "no closed kan of that tile"
    if not message.tiles:
        return None
    hand = hand_tiles(record, player)
    if not all(tile in hand for tile in message.tiles):
        return "a tile of the meld is not in the hand"
    faces = sorted(map(face_of, message.tiles))
    if faces not in [sorted(map(face_of, action.consumed)) for action in same]:
        return "these tiles make no such meld"
    return None
