"""The command that seats people at a table in the browser."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

import typer

from bot.cli.options import (
    AnswerTimeout,
    ConfigFile,
    Device,
    LogFormat,
    LogLevel,
    Out,
    Tonpuu,
    load_settings,
    reported,
    seed_of,
)
from game.errors import ConfigError

if TYPE_CHECKING:
    from bot.config.settings import Config
    from bot.table.plan import TableBot

PERSON: Final = "person"
OTHERS: Final = 3
LONGEST_NAME: Final = 16

Opponents: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--opponents",
        help="Players in the other seats: one for all three, or three separated by commas, each as for "
        "`suzaku arena`, or person for somebody with a link of their own; default: the included networks. "
        "If an engine's command contains commas, repeat --opponents for each player instead.",
        metavar="PLAYER,…",
    ),
]
OwnName: TypeAlias = Annotated[str, typer.Option("--name", help="Your name at the table.", metavar="NAME")]
ClockOption: TypeAlias = Annotated[
    Literal["5+10", "3+5", "none"],
    typer.Option(
        "--clock",
        help="Seconds for each decision, and more for each round; none waits for ever. When the time is up, "
        "the tile just drawn is discarded, and calls are passed.",
        metavar="5+10|3+5|none",
    ),
]
MoveDelay: TypeAlias = Annotated[
    float,
    typer.Option(
        "--delay",
        help="Pause before each move of a program.",
        metavar="SECONDS",
        min=0.0,
        max=10.0,
    ),
]
AdvisingPolicy: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--policy",
        help="Policy that advises and reviews: network, heuristic, or python:FILE.py for your own.",
        metavar="POLICY",
    ),
]
Practice: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--practice",
        help="Allow taking moves back, without other persons and engines; marks the records as practice.",
    ),
]
TableSeed: TypeAlias = Annotated[int | None, seed_of("all seats and walls")]
PageHost: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--host",
        help="Address the page listens on; all but loopback addresses require a token.",
        metavar="HOST",
    ),
]
PagePortNumber: TypeAlias = Annotated[
    int | None,
    typer.Option("--port", help="Port of the page; 0 picks a free one.", metavar="PORT", min=0, max=65535),
]
PageTokenEnv: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--token-env", help="Environment variable that holds your own token for the page.", metavar="NAME"
    ),
]
OpenBrowser: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--browser/--no-browser", help="Open the page in a browser; default: if started on a terminal."
    ),
]


@reported
def table(
    opponents: Opponents = None,
    name: OwnName = "Player",
    tonpuu: Tonpuu = False,
    clock: ClockOption = "5+10",
    delay: MoveDelay = 0.6,
    practice: Practice = False,
    seed: TableSeed = None,
    policy: AdvisingPolicy = None,
    answer_timeout: AnswerTimeout = 10.0,
    host: PageHost = None,
    port: PagePortNumber = None,
    token_env: PageTokenEnv = None,
    browser: OpenBrowser = None,
    device: Device = None,
    config_file: ConfigFile = None,
    log_level: LogLevel = "warning",
    log_format: LogFormat = None,
    out: Out = None,
) -> int:
    """Play against it in the browser.

    Prints a link to the table for you, and one for every other person. A game begins when all have sat down;
    at its end, its record is saved and reviewed. It runs until Ctrl-C.
    """
    config = load_settings(
        config_file,
        {
            "play.server": "local",
            "decision.policy": policy,
            "decision.device": device,
            "table.host": host,
            "table.port": port,
            "table.token_env": token_env,
            "records.folder": out,
            "logs.level": log_level,
            "logs.format": log_format,
        },
    )
    from bot.table.command import run_table
    from bot.table.plan import TablePlan
    from learning.matches.players import names_in

    others = names_in(opponents or ["network"])
    if len(others) not in {1, OTHERS}:
        raise ConfigError(
            f"--opponents: {len(others)} ({', '.join(others)}); give one for all other seats, or three"
        )
    others = (others * OTHERS)[:OTHERS]
    people = [person for text in others if (person := _person(text)) is not None]
    if practice:
        _check_practice(others)
    names = [_checked(each) for each in _numbered([name, *people])]
    return run_table(
        config,
        os.environ,
        TablePlan(
            length="tonpuu" if tonpuu else "hanchan", clock=clock, delay_s=delay, seed=seed, practice=practice
        ),
        names,
        _loader([text for text in others if _person(text) is None], names, answer_timeout, config),
        browser=sys.stdout.isatty() if browser is None else browser,
    )


def _person(text: str) -> str | None:
    """The name of a person among the opponents; None for a program.

    >>> _person("person"), _person("Ben=person"), _person("network")
    ('Guest', 'Ben', None)
    """
    given, equals, kind = text.rpartition("=")
    if kind != PERSON:
        return None
    return given if equals else "Guest"


def _check_practice(opponents: Sequence[str]) -> None:
    """Refuse opponents that cannot forget a move.

    Raises:
        ConfigError: there is one.
    """
    from learning.matches.engines import engine_of

    for text in opponents:
        if _person(text) is not None or engine_of(text.partition("=")[2]) or engine_of(text):
            raise ConfigError(f"--practice: {text!r} cannot take moves back; use --practice without it")


def _checked(name: str) -> str:
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise ConfigError(f"{name!r}: the name of a person must have 1 to {LONGEST_NAME} characters")
    return name.strip()


def _numbered(names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """The names, with a number after each that occurs more than once.

    >>> _numbered(["network", "heuristic", "network"])
    ['network 1', 'heuristic', 'network 2']
    """
    count = Counter([*names, *taken])
    seen: Counter[str] = Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} {seen[name]}" if count[name] > 1 else name)
    return numbered


def _loader(
    texts: Sequence[str], people: Sequence[str], answer_s: float, config: Config
) -> Callable[[], Sequence[TableBot]]:
    """What loads the programs; those of one kind share a player."""

    def load() -> Sequence[TableBot]:
        from bot.startup.models import compute_of
        from bot.table.plan import TableBot
        from learning.matches.players import contender, seat_down

        found = {text: contender(text, answer_s) for text in dict.fromkeys(texts)}
        compute = compute_of(config.decision)
        choosers = {text: seat_down(who, compute=compute) for text, who in found.items()}
        names = _numbered([found[text].name for text in texts], people)
        return [TableBot(name, choosers[text]) for name, text in zip(names, texts, strict=True)]

    return load
