"""`suzaku ask`: a position by hand."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, Final, Literal

import typer

from bot.cli.options import AsJson, ConfigFile, Device, Tonpuu, load_settings, reported
from bot.cli.records import ComparedPolicy
from bot.cli.table import OpenBrowser, PageHost, PagePortNumber, PageTokenEnv
from game.errors import ConfigError

_ROUNDS: Final = tuple(f"{wind}{number}" for wind in "ESW" for number in range(1, 5))
_SEATS: Final = {"shimocha": 1, "toimen": 2, "kamicha": 3}


def _river(whose: str) -> Any:
    return typer.Option(help=f"Discards {whose}.", metavar="TILES")


def _melds(whose: str) -> Any:
    return typer.Option(help=f"Melds {whose}.", metavar="MELDS")


@reported
def ask(
    hand: Annotated[
        str,
        typer.Argument(
            help="The concealed tiles, such as 123m406p11z; on your turn the drawn tile last.",
            metavar="HAND",
        ),
    ] = "",
    dora: Annotated[
        str, typer.Option(help="Dora indicators: one, and one more for each kan.", metavar="TILES")
    ] = "",
    round_name: Annotated[str, typer.Option("--round", help="The round, E1 to W4.", metavar="ROUND")] = "E1",
    wind: Annotated[Literal["E", "S", "W", "N"], typer.Option(help="Your seat wind.")] = "E",
    turn: Annotated[
        int | None,
        typer.Option(
            help="Your turn, 1 for the first; needed only where no rivers are given.", metavar="NUMBER"
        ),
    ] = None,
    river: Annotated[
        str,
        typer.Option(
            help="Your discards in order. A mark follows its tile: _ tsumogiri, ! riichi, ~ taken by a call.",
            metavar="TILES",
        ),
    ] = "",
    shimocha: Annotated[str, _river("of the player to your right")] = "",
    toimen: Annotated[str, _river("of the player opposite")] = "",
    kamicha: Annotated[str, _river("of the player to your left")] = "",
    melds: Annotated[
        str,
        typer.Option(
            help="Your melds: 1~23m a chi, 5~55z a pon from your left (second ~ opposite, third ~ right), "
            "5~555z and 5~55+5z open kans, 5555z a closed one.",
            metavar="MELDS",
        ),
    ] = "",
    shimocha_melds: Annotated[str, _melds("of the player to your right")] = "",
    toimen_melds: Annotated[str, _melds("of the player opposite")] = "",
    kamicha_melds: Annotated[str, _melds("of the player to your left")] = "",
    offered: Annotated[
        str, typer.Option(help="A tile just discarded that you may call or win on.", metavar="TILE")
    ] = "",
    offered_by: Annotated[
        Literal["shimocha", "toimen", "kamicha"],
        typer.Option("--from", help="Who discarded the offered tile."),
    ] = "kamicha",
    called: Annotated[
        bool, typer.Option("--called", help="Your last meld was called just now; a discard is due.")
    ] = False,
    scores: Annotated[
        str,
        typer.Option(
            help="Points now: you, right, opposite, left, such as 25000,31000,24000,20000.", metavar="POINTS"
        ),
    ] = "",
    sticks: Annotated[
        int | None,
        typer.Option(
            help="Riichi sticks on the table; default: as scores and riichi imply.", metavar="NUMBER"
        ),
    ] = None,
    honba: Annotated[int, typer.Option(help="Repeat counters.", metavar="NUMBER")] = 0,
    tonpuu: Tonpuu = False,
    page: Annotated[
        bool, typer.Option("--page", help="Write the position, or change the given one, on a web page.")
    ] = False,
    host: PageHost = None,
    port: PagePortNumber = None,
    token_env: PageTokenEnv = None,
    browser: OpenBrowser = None,
    policy: ComparedPolicy = "network",
    device: Device = None,
    as_json: AsJson = False,
    config_file: ConfigFile = None,
) -> int:
    """Ask what the policy would do in a position.

    Prints the options with their probabilities, expected losses, danger, shanten and ukeire, as in a review
    (docs/ask.md). Quote the tiles: '5p!'.
    """
    if not hand and not page:
        raise ConfigError("give a hand, such as 123m406p789s11z233z, or --page to write one on a web page")
    config = load_settings(
        config_file,
        {"decision.device": device, "ask.host": host, "ask.port": port, "ask.token_env": token_env},
    )
    from bot.ask.command import ask as ask_policy
    from bot.startup.models import compute_of
    from game.position import WrittenPosition

    position = WrittenPosition(
        hand=hand,
        rivers=(river, shimocha, toimen, kamicha),
        melds=(melds, shimocha_melds, toimen_melds, kamicha_melds),
        dora=dora,
        round_index=_round_index(round_name),
        seat_wind="ESWN".index(wind),
        honba=honba,
        sticks=sticks,
        scores=_four(scores) if scores else None,
        turn=turn,
        offered=offered,
        offered_by=_SEATS[offered_by],
        after_call=called,
        length="tonpuu" if tonpuu else "hanchan",
    )
    if page:
        from bot.ask.page import ask_on_page

        return ask_on_page(
            position,
            config.ask,
            os.environ,
            policy=policy,
            averaging=config.decision.permutations,
            compute=compute_of(config.decision),
            browser=sys.stdout.isatty() if browser is None else browser,
        )
    return ask_policy(
        position,
        policy=policy,
        averaging=config.decision.permutations,
        compute=compute_of(config.decision),
        as_json=as_json,
    )


def _round_index(name: str) -> int:
    if name.upper() not in _ROUNDS:
        raise ConfigError(f"--round {name}: expected one of {_ROUNDS[0]} to {_ROUNDS[-1]}, such as S3")
    return _ROUNDS.index(name.upper())


def _four(text: str) -> tuple[int, int, int, int]:
    try:
        first, second, third, fourth = (int(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(
            f"--scores {text}: expected four numbers with commas: you, right, opposite, left"
        ) from None
    return first, second, third, fourth
