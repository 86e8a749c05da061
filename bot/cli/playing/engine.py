"""`suzaku engine`: the bot as an engine in other programs' arenas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from bot.cli.command import Setting, command
from bot.cli.shared import LOGS, Checkpoints

if TYPE_CHECKING:
    from bot.config.settings import Config


@command(
    {
        "type": Setting("local.type", str, "Game type: hanchan or tonpuu."),
        "policy": "decision.policy",
        "checkpoints": Setting(
            "decision.checkpoints", Checkpoints, "Folder of the models; default: the configured one."
        ),
        "permutations": "decision.permutations",
        "device": "decision.device",
        **LOGS,
    },
    fixed={"play.server": "local", "local.url": "", "logs.level": "warning"},
)
def engine(
    config: Config,
    *,
    seat: Annotated[int, Meta(ge=0, le=3)] | None = None,
    answers: Literal["auto", "every", "asked"] = "auto",
    arrays: bool = False,
    meta: bool = True,
) -> int:
    """Play as an mjai engine on stdin and stdout.

    Only answers go to stdout. It runs until stdin ends; docs/engine.md describes how arenas run it.

    Args:
        config: the configuration.
        seat: the bot's player number, 0 (first dealer) to 3, for a start_game message without an id.
        answers: lines to answer. every: all lines; asked: lines that require a decision; auto: every array,
            single events that require a decision, and all lines after a hello.
        arrays: answer with arrays of actions; riichi and its discard share an array.
        meta: add probabilities, shanten and the legal actions to each answer, as meta, like Mortal.
    """
    from bot.mjai.pipe import run_engine

    return run_engine(config, player=seat, answers=answers, arrays=arrays, meta=meta)
