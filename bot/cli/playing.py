"""Commands that play, and those that prepare for it."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Meta

from bot.cli.command import Given, Setting, command
from bot.cli.shared import (
    ANSWER_S,
    LOGS,
    NO_LOGIN,
    RECORDS,
    SAVED_GAMES,
    AnswerTimeout,
    AsJson,
    DryRun,
    OpenBrowser,
    OutputFile,
    Player,
    Tonpuu,
    length_of,
)
from kit.errors import ConfigError

if TYPE_CHECKING:
    import bot.table.plan
    from bot.config.settings import Config
    from bot.table.plan import TableBot

STARTED: Final = time.monotonic()
OTHERS: Final = 3
YOU: Final = "Player"
LONGEST_NAME: Final = 16
BIRDS: Final = ("Hibari", "Tsubame", "Mejiro")
"""Names of the programs: lark, swallow, white-eye."""


@command(
    {
        "server": "play.server",
        "url": "local.url",
        "lobby": "server.lobby",
        "name": "local.name",
        "type": Setting("server.type", str),
        "games": "play.games",
        "pace": "play.pace",
        "device": "decision.device",
        "adaptation": "adaptation.mode",
        "seed": "play.seed",
        "policy": "decision.policy",
        "capture": Setting("records.capture", OutputFile),
        "dashboard": "dashboard.enabled",
        "dashboard_host": "dashboard.host",
        "dashboard_port": "dashboard.port",
        "dashboard_token_env": "dashboard.token_env",
        **LOGS,
        **RECORDS,
    }
)
def play(config: Config, *, as_json: AsJson = False, dry_run: DryRun = False) -> int:
    """Play games in the built-in lobby, or on another server."""
    from bot.play.run import play_games

    return play_games(config, os.environ, as_json=as_json, dry_run=dry_run, started=STARTED)


@command(
    {
        "port": "local.port",
        "clients_per_table": "local.clients_per_table",
        "seed": "play.seed",
        **LOGS,
        **RECORDS,
    },
    fixed=NO_LOGIN,
)
def lobby(config: Config, *, dry_run: DryRun = False) -> int:
    """Run only the built-in lobby.

    It runs until Ctrl-C. Use `suzaku play --url` to join it.
    """
    from bot.play.lobby import run_lobby

    return run_lobby(config, dry_run=dry_run)


@command(
    {
        **SAVED_GAMES,
        "host": "dashboard.host",
        "port": "dashboard.port",
        "token_env": "dashboard.token_env",
        **LOGS,
    },
    fixed=NO_LOGIN,
)
def dashboard(config: Config) -> int:
    """Show past games on a web page.

    It runs until Ctrl-C. `suzaku play --dashboard` also shows the running game.
    """
    from bot.dashboard.server import show_past

    return show_past(config, os.environ)


@command(
    {
        "type": Setting("local.type", str, "Game type: hanchan or tonpuu."),
        "policy": "decision.policy",
        "permutations": "decision.permutations",
        "device": "decision.device",
        **LOGS,
    },
    fixed={**NO_LOGIN, "logs.level": "warning"},
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


@command({"device": "decision.device", **LOGS})
def check(config: Config, *, as_json: AsJson = False) -> int:
    """Check that everything is ready to play.

    Validates the configuration, loads and warms up everything, and prints what it found.
    """
    from bot.check import check_everything

    return check_everything(config, as_json=as_json)


@command()
def config() -> int:
    """Print a configuration file with every setting, its default and its meaning.

    `suzaku config > config.yaml` starts a configuration of your own in the current folder.
    """
    from bot.config.sources import manual_text

    sys.stdout.write(manual_text())
    return 0


@command(
    {
        "policy": Setting(
            "decision.policy",
            help="Policy that advises and reviews: network, phoenix, players@NAME, heuristic, a "
            "folder of models, or python:FILE.py for your own.",
        ),
        "host": "table.host",
        "port": "table.port",
        "token_env": "table.token_env",
        "device": "decision.device",
        **LOGS,
        **RECORDS,
    },
    fixed={**NO_LOGIN, "logs.level": "warning"},
)
def table(
    config: Config,
    given: Given[bot.table.plan.TablePlan],
    *,
    level: bot.table.plan.LevelName | None = None,
    opponents: list[Player] | None = None,
    name: str = YOU,
    tonpuu: Tonpuu = False,
    answer_timeout: AnswerTimeout = ANSWER_S,
    browser: OpenBrowser = None,
    resume: bool = False,
) -> int:
    """Play against the bot in the browser.

    Prints a link to the table for you, and one for every other person. A game begins when all have sat down;
    at its end, its record is saved and reviewed. It runs until Ctrl-C; `--resume` continues an interrupted
    game, however the program ended.

    Args:
        config: the configuration.
        given: what is played.
        level: strength of the programs: beginner, rules that never defend and often slip; rules; people, a
            network that imitates strong players; network, the included networks; search, these with a search
            in close decisions. Default: network. The page can change it between games.
        opponents: instead of a level, players in the other seats: one for all three, or three separated by
            commas, each as for `suzaku arena`, or person for somebody with a link of their own. If an
            engine's command contains commas, repeat --opponents for each player instead.
        name: your name at the table.
        tonpuu: whether to play tonpuusen.
        answer_timeout: of external engines.
        browser: whether to open the page in a browser.
        resume: continue the last unfinished game, with the same players and settings.
    """
    from bot.table.command import run_table, saved_games
    from bot.table.plan import LEVELS, TablePlan, TableSetup

    if resume:
        if given or level or opponents or tonpuu or name != YOU:
            raise ConfigError(
                "--resume continues a game with its own settings; leave out the options of a new game"
            )
        saved = saved_games().latest()
        setup = saved.start.setup
    else:
        if level and opponents:
            raise ConfigError("--level and --opponents both say who plays; give one of them")
        saved = None
        plan = TablePlan(length=length_of(tonpuu=tonpuu), **given)
        setup = TableSetup(plan, name, tuple(_three(opponents or [LEVELS[level or "network"]])))
    if setup.plan.practice:
        _check_practice(setup.opponents)
    names = [_checked(each) for each in numbered(setup.people)]
    return run_table(
        config,
        os.environ,
        setup,
        names,
        loader(names, answer_timeout, config),
        saved,
        browser=sys.stdout.isatty() if browser is None else browser,
    )


def _three(opponents: Sequence[str]) -> list[str]:
    """The players of the other seats.

    Raises:
        ConfigError: there are neither one nor three.
    """
    from learning.selfplay.players import names_in

    others = names_in(opponents)
    if len(others) not in {1, OTHERS}:
        raise ConfigError(
            f"--opponents: {len(others)} ({', '.join(others)}); give one for all other seats, or three"
        )
    return (others * OTHERS)[:OTHERS]


def _check_practice(opponents: Sequence[str]) -> None:
    """Refuse opponents that cannot forget a move.

    Raises:
        ConfigError: there is one.
    """
    from bot.table.plan import person_in
    from learning.selfplay.engines import engine_of

    for text in opponents:
        if person_in(text) is not None or engine_of(text.partition("=")[2]) or engine_of(text):
            raise ConfigError(f"--practice: {text!r} cannot take moves back; use --practice without it")


def _checked(name: str) -> str:
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise ConfigError(f"{name!r}: the name of a person must have 1 to {LONGEST_NAME} characters")
    return name.strip()


def _named(given: Sequence[str]) -> list[str]:
    """The programs' names: those given, and birds for the others.

    >>> _named(["", "Ben", ""])
    ['Hibari', 'Ben', 'Mejiro']
    """
    return [name or bird for name, bird in zip(given, BIRDS, strict=False)]


def numbered(names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """The names, with a number after each that occurs more than once.

    >>> numbered(["network", "heuristic", "network"])
    ['network 1', 'heuristic', 'network 2']
    """
    count = Counter([*names, *taken])
    seen: Counter[str] = Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} {seen[name]}" if count[name] > 1 else name)
    return numbered


def loader(
    people: Sequence[str], answer_s: float, config: Config
) -> Callable[[Sequence[str]], Sequence[TableBot]]:
    """A function that loads programs; those of one kind share a player."""

    def load(texts: Sequence[str]) -> Sequence[TableBot]:
        from msgspec.structs import replace

        from bot.startup.models import compute_of
        from bot.table.plan import TableBot
        from learning.selfplay.players import contender, seat_down

        found = {text: contender(text, answer_s) for text in dict.fromkeys(texts)}
        compute = compute_of(config.decision)
        choosers = {text: seat_down(who, compute=compute) for text, who in found.items()}
        names = numbered(_named([found[text].given_name for text in texts]), people)
        # without its folder or its command, which other persons need not see
        shown = [replace(found[text], given_name="").name for text in texts]
        return [
            TableBot(name, player, choosers[text])
            for name, player, text in zip(names, shown, texts, strict=True)
        ]

    return load
