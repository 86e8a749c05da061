"""Our choices on the wire: the server's offers, the frame for each choice, and checks of recorded frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec
import numpy as np

from bot.tenhou.messages import client_messages as c
from bot.tenhou.messages import server_messages as s
from game.actions import PASS, RIICHI, Action, ActionKind
from game.events import Riichi
from game.forbidden import why_not
from game.rules import legal_actions
from game.state import apply, clone, hand_tiles
from game.tiles import face_of
from kit.errors import StateMismatchError

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
    if isinstance(message, c.DeclareRiichi) and message.tile >= 0:
        return objection(c.DeclareRiichi(), legal, record, player, riichi_sent=False) or objection(
            c.DiscardTile(message.tile), legal, record, player, riichi_sent=True
        )
    if riichi_sent:
        try:
            record = _declared(record, player)
        except StateMismatchError as exc:
            return str(exc)
        legal = legal_actions(record, player)
    action = _meant(message)
    if action is None:
        return "the frame does not answer a prompt"
    if _is_one_of(action, legal, record, player):
        return None
    return why_not(record, player, action) or f"{action.kind.name.lower()} is not offered"


def riichi_discards(record: np.void, player: int) -> list[Action]:
    """The legal discards after a riichi, which must be legal."""
    return legal_actions(_declared(record, player), player)


def _declared(record: np.void, player: int) -> np.void:
    declared = clone(record)
    apply(declared, Riichi(player))
    return declared


def _meant(message: c.ClientMessage) -> Action | None:
    """The action a frame asks for; tiles that it leaves out may be any."""
    if isinstance(message, c.DiscardTile):
        return Action(ActionKind.DISCARD, message.tile)
    if isinstance(message, c.DeclareRiichi):
        return RIICHI
    if not isinstance(message, c.Respond) or message.choice not in _KINDS:
        return None
    kind, tiles = _KINDS[message.choice], message.tiles
    if kind is ActionKind.KAKAN:
        return Action(kind, tiles[0])
    if kind is ActionKind.ANKAN:
        tiles = tuple(range(tiles[0] & ~3, (tiles[0] | 3) + 1))
    return Action(kind, consumed=tiles)


def _is_one_of(action: Action, legal: Sequence[Action], record: np.void, player: int) -> bool:
    chosen = tuple(tile for tile in (action.tile, *action.consumed) if tile >= 0)
    hand = hand_tiles(record, player)
    if not all(tile in hand for tile in chosen):
        return False
    sort_of: Callable[[int], int] = int if record["riichi"][player] == 2 else face_of
    return any(
        action.kind is each.kind
        and (action.tile < 0 or sort_of(action.tile) == sort_of(each.tile))
        and (not action.consumed or _faces(action.consumed) == _faces(each.consumed))
        for each in legal
    )


def _faces(tiles: Sequence[int]) -> list[int]:
    return sorted(map(face_of, tiles))
