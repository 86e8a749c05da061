"""Our choices on the wire: the server's offers, and the frame for each choice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import numpy as np

from bot.tenhou.messages import client_messages as c
from bot.tenhou.messages import server_messages as s
from game.actions import PASS, Action, ActionKind
from game.events import Riichi
from game.rules import legal_actions
from game.state import apply, clone

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


def riichi_discards(record: np.void, player: int) -> list[Action]:
    """The legal discards after a riichi, which must be legal."""
    declared = clone(record)
    apply(declared, Riichi(player))
    return legal_actions(declared, player)
