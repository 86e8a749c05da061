"""`suzaku engine`: reads lines of mjai, writes lines of mjai.

Only answers go to stdout. Two dialects are in use, and are distinguished line by line: one event per line,
and a JSON array of all events since the last answer; `docs/engine.md` lists the programs that use each.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import BinaryIO, Final, Literal, TextIO, TypeAlias

import structlog

from bot.config.settings import Config
from bot.mjai.engine import EngineSettings, MjaiEngine
from bot.startup.models import load
from bot.startup.warm import warm_up_visibly
from kit.errors import ReplayError, ReplayFormatError, ReplayTooLarge
from replays.mjai.lines import Message
from replays.mjai.seat import NONE

MAX_LINE: Final = 1 << 20
"""Bytes per line; an array of all events of a round takes some tens of thousands."""

Answers: TypeAlias = Literal["auto", "every", "asked"]
"""Lines to answer: every line, or only those that require a decision.

``auto``: every array, single events that require a decision, and all lines after a ``hello``.
"""

log = structlog.get_logger(__name__)


def run_engine(config: Config, *, player: int | None, answers: Answers, arrays: bool, meta: bool) -> int:
    """Play the games that arrive on stdin until it ends; return the exit code.

    Args:
        config: names the policy and the game type.
        player: our number, 0 to 3, if ``start_game`` has no ``id``; None if it always has one.
        answers: which lines to answer.
        arrays: answer with arrays of actions; riichi and its discard share one.
        meta: add probabilities to each answer.

    Raises:
        ConfigError: a model cannot be used.
    """
    out = sys.stdout
    settings = EngineSettings(
        length=config.game_type.length,
        player=player,
        failures=config.decision.failures_before_rules,
        riichi_at_once=arrays,
        meta=meta,
    )
    with contextlib.redirect_stdout(sys.stderr):  # keep libraries' output out of the answers
        policy = load(config.decision)
        warm_up_visibly(policy=policy)
        converse(MjaiEngine(policy, settings), sys.stdin.buffer, out, answers=answers, arrays=arrays)
    return 0


def converse(
    engine: MjaiEngine, source: BinaryIO, out: TextIO, *, answers: Answers = "auto", arrays: bool = False
) -> None:
    """Answer line by line until the source ends; empty lines are skipped."""
    for line in _lines(source):
        said, is_array = _answer(engine, line)
        waits = answers == "every" or (answers == "auto" and (is_array or engine.greeted))
        if not said and waits:
            said = [dict(NONE)]
        if said:
            out.write(json.dumps(said if arrays else said[0], separators=(",", ":")) + "\n")
            out.flush()


def _answer(engine: MjaiEngine, line: bytes) -> tuple[list[Message], bool]:
    """The engine's answer to a line, and whether the line was an array."""
    try:
        value = _value(line)
    except ReplayError as error:
        log.error("engine.misunderstood", reason=str(error))  # noqa: TRY400 - the reason is enough
        return [dict(NONE)], False
    if isinstance(value, list):
        return engine.receive(value), True
    return engine.receive([value]), False


def _value(line: bytes) -> object:
    if len(line) > MAX_LINE:
        raise ReplayTooLarge(f"a line of more than {MAX_LINE} bytes")
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ReplayFormatError(f"not JSON: {type(error).__name__} {error}") from None


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """The non-empty lines; of an overlong line, only enough to see that it is too long."""
    while line := source.readline(MAX_LINE + 1):
        rest = line
        while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
            rest = source.readline(MAX_LINE + 1)
        if line.strip():
            yield line
