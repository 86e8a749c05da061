"""Suzaku as a library: records, policies, planes, tables and hands under one name; see docs/library.md.

Importing it takes no time: a name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from suzaku.own import claim

if TYPE_CHECKING:
    from game.actions import Action, ActionKind
    from game.observation import Observation
    from kit.errors import BotError
    from replays.names import YAKU_NAMES
    from suzaku.hand import Ukeire, danger, hands, position, shanten, ukeire, value
    from suzaku.learn import plane_names, planes
    from suzaku.policy import Policy, cards, load_policy
    from suzaku.record import decisions, read_game
    from suzaku.tables import Table

__all__ = [
    "YAKU_NAMES",
    "Action",
    "ActionKind",
    "BotError",
    "Observation",
    "Policy",
    "Table",
    "Ukeire",
    "cards",
    "danger",
    "decisions",
    "hands",
    "load_policy",
    "plane_names",
    "planes",
    "position",
    "read_game",
    "shanten",
    "ukeire",
    "value",
]

_FROM: Final = {
    "game.actions": ("Action", "ActionKind"),
    "game.observation": ("Observation",),
    "kit.errors": ("BotError",),
    "replays.names": ("YAKU_NAMES",),
    "suzaku.hand": ("Ukeire", "danger", "hands", "position", "shanten", "ukeire", "value"),
    "suzaku.learn": ("plane_names", "planes"),
    "suzaku.policy": ("Policy", "cards", "load_policy"),
    "suzaku.record": ("decisions", "read_game"),
    "suzaku.tables": ("Table",),
}
_MODULES: Final = {name: module for module, names in _FROM.items() for name in names}

claim()


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'suzaku' has no attribute {name!r}")
    importlib.import_module("suzaku.compiling")
    found = globals()[name] = getattr(importlib.import_module(_MODULES[name]), name)
    return found


def __dir__() -> list[str]:
    return __all__
