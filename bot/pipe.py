"""`suzaku engine`: lines of mjai in, lines of mjai out.

Nothing but answers goes to stdout. Two dialects are in use, told apart line by line: one event a line, and a
JSON array of all events since the last answer; `docs/engine.md` says who speaks which.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import BinaryIO, Final, Literal, TextIO, TypeAlias

import structlog

from bot.config import Config
from bot.engine import Engine, EngineSettings
from bot.models import load
from bot.warm import warm_up_visibly
from game.errors import ReplayError, ReplayFormatError, ReplayTooLarge
from replays.mjai import Message
from replays.mjai_seat import NONE

MAX_LINE: Final = 1 << 20
"""Bytes of a line: an array of a whole round's events takes some tens of thousands."""

Answers: TypeAlias = Literal["auto", "every", "asked"]
"""What is answered: every line, or only what asks something of our seat; ``auto``: every array, and of single
events what asks."""

log = structlog.get_logger(__name__)


def run_engine(config: Config, *, player: int | None, answers: Answers, arrays: bool) -> int:
    """Play whatever comes in on stdin until it ends; the exit code.

    Args:
        config: who decides, and the kind of game.
        player: who we are when ``start_game`` carries no ``id``, 0 to 3; None if it always does.
        answers: which lines are answered.
        arrays: answer with arrays of actions, riichi and its discard in one.

    Raises:
        ConfigError: a model cannot be used.
    """
    out = sys.stdout
    settings = EngineSettings(
        length=config.game_type.length,
        player=player,
        failures=config.decision.failures_before_rules,
        riichi_at_once=arrays,
    )
    with contextlib.redirect_stdout(sys.stderr):  # no library's chatter may stand among the answers
        policy = load(config.decision)
        warm_up_visibly(policy=policy)
        converse(Engine(policy, settings), sys.stdin.buffer, out, answers=answers, arrays=arrays)
    return 0


def converse(
    engine: Engine, source: BinaryIO, out: TextIO, *, answers: Answers = "auto", arrays: bool = False
) -> None:
    """Answer line by line until the source ends; an empty line says nothing and is not answered."""
    for line in _lines(source):
        said, is_array = _answer(engine, line)
        if not said and (answers == "every" or (answers == "auto" and is_array)):
            said = [dict(NONE)]
        if said:
            out.write(json.dumps(said if arrays else said[0], separators=(",", ":")) + "\n")
            out.flush()


def _answer(engine: Engine, line: bytes) -> tuple[list[Message], bool]:
    """What the engine says to a line, and whether the line was an array."""
    try:
        value = _value(line)
    except ReplayError as error:
        log.error("engine.misunderstood", reason=str(error))  # noqa: TRY400 - the reason says it all
        return [dict(NONE)], False
    if isinstance(value, list):
        return engine.tell(value), True
    return engine.tell([value]), False


def _value(line: bytes) -> object:
    if len(line) > MAX_LINE:
        raise ReplayTooLarge(f"a line of more than {MAX_LINE} bytes")
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ReplayFormatError(f"no JSON: {type(error).__name__} {error}") from None


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """The lines that are not empty; of an endless one only enough to see that it is too long."""
    while line := source.readline(MAX_LINE + 1):
        rest = line
        while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
            rest = source.readline(MAX_LINE + 1)
        if line.strip():
            yield line
