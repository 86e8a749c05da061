"""Commands that read records and positions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from cyclopts import Parameter

from bot.cli.command import command
from bot.cli.shared import (
    NO_LOGIN,
    SAVED_GAMES,
    AsJson,
    ComparedPolicy,
    OpenBrowser,
    OutputFile,
    OutputFolder,
    Source,
    length_of,
)
from bot.logs.redaction import clean_text
from bot.tenhou.game_types import describe
from kit.errors import ConfigError, ReplayError
from kit.options import flag
from kit.reports import csv_table, write_json

if TYPE_CHECKING:
    import bot.review.one
    import replays.formats
    import replays.store.index
    from bot.config.settings import Config
    from replays.review.judging import Adviser
    from replays.store.index import GameEntry

_DATE_WIDTH: Final = len("2026-01-02 03:00 JST")
_SUFFIXES: Final = {"mjlog": ".mjlog.xml", "tenhou6": ".json", "link": ".url", "mjai": ".jsonl"}
_STDOUT: Final = "-"
_BARS: Final = " █▆▄▂"
"""By place."""
_COLUMNS: Final = ("date", "game", "type", "rounds", "player", "place", "score", "result", "opponents")
"""Of the table of games."""
_ROUNDS: Final = tuple(f"{wind}{number}" for wind in "ESW" for number in range(1, 5))
_SEATS: Final = {"shimocha": 1, "toimen": 2, "kamicha": 3}


@command(SAVED_GAMES, fixed=NO_LOGIN)
def games(
    config: Config,
    choice: replays.store.index.GameChoice,
    *,
    csv: OutputFile | None = None,
    as_json: AsJson = False,
) -> int:
    """List the saved games.

    Shows the date, place, points, type, rounds, id and opponents of each game. The place is the bot's if its
    decisions are saved with the record, else yours against programs, or that of `--player`. Below them are
    the places by month.

    Args:
        config: the configuration.
        choice: which games.
        csv: write the games to this file too, as a table for a spreadsheet.
        as_json: print the result as one JSON object.
    """
    from replays.files import write_file
    from replays.store import index

    folder = config.records.folder
    entries, problems = index.games(folder)
    listed = list(choice.of(entries))
    if csv:
        write_file(csv, csv_table([_row(entry) for entry in listed], _COLUMNS), "name the file itself")
    if as_json:
        write_json({"games": [_as_json(entry) for entry in listed], "unreadable": problems})
    else:
        sys.stdout.write(_text(listed) if listed else _nothing(entries, folder, choice.player))
        for problem in problems:
            sys.stderr.write(f"skipped: {clean_text(problem)}\n")
    return 0


def _text(entries: Sequence[GameEntry]) -> str:
    """The list as text: one game per line, oldest first, and the average place."""
    lines = [*map(_line, entries), *_by_month(entries)]
    average = ""
    for whose, is_person in (("", False), ("your ", True)):
        places = [entry.placement for entry in entries if entry.placement and entry.is_person is is_person]
        if places:
            average += f", {whose}average place {sum(places) / len(places):.2f} in {len(places)}"
    return "\n".join([*lines, f"{len(entries)} game{'s' if len(entries) != 1 else ''}{average}"]) + "\n"


def _nothing(entries: Sequence[GameEntry], folder: Path, wanted: str) -> str:
    """What there is instead of the games of a player, or other chosen ones."""
    from bot.records.sources import players_text

    if not entries:
        return f"no games in {folder}\n"
    names = players_text((name for entry in entries for name in entry.names), wanted)
    return (
        f"no such game in {folder}: it has games from {entries[0].date[:10]} to {entries[-1].date[:10]}, "
        f"and the players are {names}\n"
    )


def _line(entry: GameEntry) -> str:
    if entry.player < 0 or entry.scores is None:
        own = "-  " if entry.scores is not None else "cut"
        points = " " * 15
    else:
        own = f"{entry.placement}  "
        assert entry.results is not None
        points = f"{entry.scores[entry.player]:>7,} {entry.results[entry.player] / 10:>+7.1f}"
    names = ", ".join(clean_text(name) or "?" for name in entry.opponents)
    date_text = f"{entry.date:<{_DATE_WIDTH}}"
    kind = describe(entry.game_type)
    return f"{date_text}  {own}{points}  {kind:<16} {entry.rounds:>2} rounds  {entry.game_id}  {names}"


def _by_month(entries: Sequence[GameEntry]) -> Iterator[str]:
    """A line for each month: average place, games, and a bar for each game, the taller the better."""
    placed = [((entry.date[:7], entry.is_person), entry.placement) for entry in entries if entry.placement]
    for (month, is_person), games_of_month in groupby(sorted(placed, key=itemgetter(0)), key=itemgetter(0)):
        places = [place for _, place in games_of_month]
        bars = "".join(_BARS[place] for place in places)
        label = f"{month} (yours)" if is_person else month
        yield f"{label:<{_DATE_WIDTH}}  {sum(places) / len(places):.2f} in {len(places)}  {bars}"


def _row(entry: GameEntry) -> dict[str, str | float | None]:
    own = entry.player >= 0
    cells = (
        entry.date,
        entry.game_id,
        describe(entry.game_type),
        entry.rounds,
        entry.names[entry.player] if own else None,
        entry.placement,
        entry.scores[entry.player] if own and entry.scores else None,
        entry.results[entry.player] / 10 if own and entry.results else None,
        ", ".join(entry.opponents),
    )
    return dict(zip(_COLUMNS, cells, strict=True))


def _as_json(entry: GameEntry) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(entry)
    shown["results"] = None if entry.results is None else [tenths / 10 for tenths in entry.results]
    shown["player"] = entry.player if entry.player >= 0 else None
    shown["placement"] = entry.placement
    shown["opponents"] = list(entry.opponents)
    return shown


@command()
def convert(
    source: Annotated[Source, Parameter(name="IN")],
    out: Source,
    /,
    *,
    to: replays.formats.Format | None = None,
) -> int:
    """Convert a record to another format.

    Args:
        source: a record (mjlog, Tenhou's JSON, mjai or majiang-core, plain or gzipped), a link to a game on
            Tenhou, or its id; - is stdin.
        out: file or folder to write to; - is stdout.
        to: format; default: by the suffix of OUT (.xml, .json, .url, .jsonl).
    """
    from bot.records.sources import full_source, load
    from replays.files import write_file
    from replays.formats import FORMATS, LOSSES, compress, format_of_name, write_game
    from replays.record import check_game_id

    form = to or format_of_name(out)
    if form is None:
        raise ConfigError(f"{out}: the suffix matches no format; add --to {'|'.join(FORMATS)}")
    record = load(full_source(source)).record
    text = write_game(record, form)
    if out == _STDOUT:
        sys.stdout.write(text)
    else:
        path = Path(out)
        if path.is_dir():
            if not record.game_id:
                raise ReplayError("the record has no id; name the file to write")
            # The id comes from the file that was read: use it as a file name only if it is valid.
            path /= f"{check_game_id(record.game_id)}{_SUFFIXES[form]}"
        data = compress(text) if path.name.endswith(".gz") else text.encode("utf-8", "replace")
        write_file(path, data, "name the file itself")
        sys.stdout.write(f"{path}: {form}, {record.rounds} rounds, {len(record.events)} events\n")
    if form in LOSSES:
        sys.stderr.write(f"note: {form} does not keep {LOSSES[form]}\n")
    return 0


@command({"device": "decision.device", "uma": "decision.uma"}, fixed=NO_LOGIN)
def review(
    sources: Annotated[list[Source], Parameter(name="SOURCE...")],
    /,
    *,
    config: Config,
    plan: bot.review.one.ReviewPlan,
    policy: ComparedPolicy = "network",
    compare: str = "",
    out: OutputFolder | None = None,
    csv: OutputFile | None = None,
    as_json: Annotated[bool, flag("--json")] = False,
) -> int:
    """Review games.

    Compares every decision of a player with the policy's choice, and writes a web page and the same data as
    JSON (docs/review.md). For a folder or several records it reviews every game and adds an index.

    Args:
        sources: records in any format, folders of records, links to games on tenhou.net, or ids of games; -
            is stdin.
        config: the configuration.
        plan: whose decisions, and what the reviews show.
        policy: whose choices to compare with.
        compare: a second policy to show as well, or seat:N for the figures of another player, by number.
        out: folder for the results; default: reviews/.
        csv: write a table of the games to this file too, for a spreadsheet.
        as_json: print the review as JSON; write files only if --out is given.
    """
    from bot.records.sources import MissingSourceError
    from bot.review.command import review as review_sources
    from bot.startup.models import compute_of
    from game.ranking import parse_uma
    from replays.store import index

    try:
        return review_sources(
            sources,
            msgspec.structs.replace(plan, table=csv),
            policy=_adviser(policy),
            compare=_adviser(compare),
            averaging=config.decision.permutations,
            compute=compute_of(config.decision),
            uma=parse_uma(config.decision.uma),
            out=out,
            to_json=as_json,
        )
    except MissingSourceError as exc:
        saved, folder = len(index.games(config.records.folder)[0]), config.records.folder
        raise ReplayError(f"{exc}; saved games: {saved} in {folder} (`suzaku games` lists them)") from exc


def _adviser(text: str) -> str | Adviser:
    """The engine that a text specifies, else the text."""
    if not text.startswith("engine"):
        return text
    from learning.selfplay.advising import EngineAdviser
    from learning.selfplay.engines import engine_of

    return EngineAdviser(text) if engine_of(text) else text


@command(
    {"device": "decision.device", "host": "ask.host", "port": "ask.port", "token_env": "ask.token_env"},
    fixed=NO_LOGIN,
)
def ask(
    hand: str = "",
    /,
    *,
    config: Config,
    dora: str = "",
    round_name: Annotated[str, flag("--round")] = "E1",
    wind: Literal["E", "S", "W", "N"] = "E",
    turn: int | None = None,
    river: str = "",
    shimocha: str = "",
    toimen: str = "",
    kamicha: str = "",
    melds: str = "",
    shimocha_melds: str = "",
    toimen_melds: str = "",
    kamicha_melds: str = "",
    offered: str = "",
    offered_by: Annotated[Literal["shimocha", "toimen", "kamicha"] | None, flag("--from")] = None,
    called: bool = False,
    scores: str = "",
    sticks: int | None = None,
    honba: int = 0,
    tonpuu: bool = False,
    page: bool = False,
    browser: OpenBrowser = None,
    policy: ComparedPolicy = "network",
    as_json: AsJson = False,
) -> int:
    """Ask what the policy would do in a position.

    Prints the options with their probabilities, danger, shanten and ukeire, as in a review
    (docs/ask.md). Quote the tiles: '5p!'.

    Args:
        config: the configuration.
        hand: the concealed tiles, such as 123m406p11z; on your turn the drawn tile last. Or a link to such
            a hand at tenhou.net/2.
        dora: dora indicators: one, and one more for each kan.
        round_name: the round, E1 to W4.
        wind: your seat wind.
        turn: your turn, 1 for the first; needed only where no rivers are given.
        river: your discards in order. A mark follows its tile: _ tsumogiri, ! riichi, ~ taken by a call.
        shimocha: discards of the player to your right.
        toimen: discards of the player opposite.
        kamicha: discards of the player to your left.
        melds: your melds: 1~23m a chi, 5~55z a pon from your left (second ~ opposite, third ~ right), 5~555z
            and 5~55+5z open kans, 5555z a closed one.
        shimocha_melds: melds of the player to your right.
        toimen_melds: melds of the player opposite.
        kamicha_melds: melds of the player to your left.
        offered: a tile just discarded that you may call or win on.
        offered_by: who discarded the offered tile; default: kamicha.
        called: your last meld was called just now; a discard is due.
        scores: points now: you, right, opposite, left, such as 25000,31000,24000,20000.
        sticks: riichi sticks on the table; default: as scores and riichi imply.
        honba: repeat counters.
        tonpuu: whether the game is a tonpuusen.
        page: write the position, or change the given one, on a web page.
        browser: whether to open the page in a browser.
        policy: who is asked.
        as_json: whether to print JSON.
    """
    if not hand and not page:
        raise ConfigError("give a hand, such as 123m406p789s11z233z, or --page to write one on a web page")
    if offered_by and not offered:
        raise ConfigError("--from goes with --offered")
    from bot.ask.command import AskedPolicy
    from bot.ask.command import ask as ask_policy
    from bot.startup.models import compute_of
    from bot.tenhou.links import linked_hand
    from game.position import WrittenPosition

    position = WrittenPosition(
        hand=linked_hand(hand),
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
        offered_by=_SEATS[offered_by or "kamicha"],
        after_call=called,
        length=length_of(tonpuu=tonpuu),
    )
    asked = AskedPolicy(policy, config.decision.permutations, compute_of(config.decision))
    if page:
        from bot.ask.page import ask_on_page

        shows = sys.stdout.isatty() if browser is None else browser
        return ask_on_page(position, asked, config.ask, os.environ, browser=shows)
    return ask_policy(position, asked, as_json=as_json)


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
