"""Actions in the form used by reviews."""

from __future__ import annotations

from typing import Final

import numpy as np

from game.actions import Action, ActionKind
from game.tiles import mjai_text
from replays.review import schema

_NAMES: Final[dict[ActionKind, schema.ActionName]] = {
    ActionKind.PASS: "pass",
    ActionKind.DISCARD: "discard",
    ActionKind.RIICHI: "riichi",
    ActionKind.CHI: "chi",
    ActionKind.PON: "pon",
    ActionKind.DAIMINKAN: "daiminkan",
    ActionKind.ANKAN: "ankan",
    ActionKind.KAKAN: "kakan",
    ActionKind.TSUMO: "tsumo",
    ActionKind.RON: "ron",
    ActionKind.NINE_TERMINALS: "nine_terminals",
}


def action_text(action: Action, record: np.void) -> schema.ReviewAction:
    """An action by its faces; ``record`` shows which tile was drawn."""
    return schema.ReviewAction(
        kind=_NAMES[action.kind],
        tile=mjai_text(action.tile) if action.tile >= 0 else "",
        consumed=tuple(mjai_text(tile) for tile in action.consumed),
        tsumogiri=action.kind is ActionKind.DISCARD and action.tile == int(record["drawn"]),
    )
