"""Games to learn from: the same every time, each once, and readable by all their readers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

import learning.selfplay.series
from kit.errors import ConfigError
from kit.workers.pool import DONE, Done
from learning.data.build import build
from learning.runs.store import RESULTS_FILE, read_rows
from learning.selfplay.arena.plan import ArenaPlan
from learning.selfplay.players import Contender
from learning.selfplay.run import SelfPlay, SelfPlaySummary, players_of, summary
from learning.selfplay.series import (
    CRASHES_FOLDER,
    RECORDS_FOLDER,
    GameEnd,
    GameRow,
    SeriesSetup,
    Stretch,
    play_series,
)
from replays.formats import read_game
from tests.cli import run_cli
from tests.learning.selfplay.arena.made_up import HEURISTIC, RANDOM, a_row, break_table
from tests.learning.selfplay.arena.made_up import a_plan as an_arena_plan
from tests.policies.models import save_models
from tests.verify_records import verify

pytestmark = pytest.mark.usefixtures("restore_logs")

OTHER = Contender("other", "other")
FLAGS = ("--players", "random", "--tonpuu", "--seed", "5")


def a_plan(games: int = 3, **fields: object) -> SelfPlay:
    plan = SelfPlay(players=(RANDOM,) * 4, games=games, length="tonpuu", tables=8)
    return msgspec.structs.replace(plan, **fields)


def play(plan: SelfPlay, folder: Path) -> SelfPlaySummary:
    return summary(plan, folder, play_series(plan, folder, plan.form, workers=1))


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / RECORDS_FOLDER).iterdir()}


def test_players_sit_in_every_order_equally_often_over_walls_of_their_own() -> None:
    for players, orders in (
        ((RANDOM, RANDOM, RANDOM, RANDOM), 1),
        ((RANDOM, HEURISTIC, HEURISTIC, HEURISTIC), 4),
        ((RANDOM, HEURISTIC, RANDOM, HEURISTIC), 6),
        ((RANDOM, HEURISTIC, OTHER, RANDOM), 12),
    ):
        plan = a_plan(120, players=players)
        games = [plan.seating(number) for number in range(120)]
        seated = Counter(tuple(players[player] for player in game.players) for game in games)
        assert len(seated) == orders
        assert set(seated.values()) == {120 // orders}
        assert len({game.seed for game in games}) == 120
        rotated = {tuple(players[player] for player in game.players) for game in games[:4]}
        assert len(rotated) == min(orders, 4) or orders == 6


def test_the_walls_are_not_those_of_a_comparison() -> None:
    arena = ArenaPlan(challenger=RANDOM, champions=RANDOM, sets=25)
    ours = {a_plan(100).seating(number).seed for number in range(100)}
    assert not ours & {arena.seating(number).seed for number in range(100)}


def test_players_are_parsed() -> None:
    assert players_of(["random"]) == (RANDOM,) * 4
    assert players_of(["random,heuristic, heuristic,random"]) == (RANDOM, HEURISTIC, HEURISTIC, RANDOM)
    assert players_of(["random", "heuristic,heuristic,random"]) == (RANDOM, HEURISTIC, HEURISTIC, RANDOM)
    engines = players_of(["random", "engine:cat -", "engine:cat -", "random"], 2.5)
    assert [who.answer_s for who in engines] == [None, 2.5, 2.5, None]
    with pytest.raises(ConfigError, match=r"2 \(random, heuristic\); give one for all seats, or four"):
        players_of(["random,heuristic"])
    with pytest.raises(ConfigError, match="'heuristik' is not a player"):
        players_of(["random,random,random,heuristik"])


@pytest.mark.usefixtures("here")
def test_a_run_that_was_stopped_goes_on_to_the_same_games(tmp_path: Path) -> None:
    plan = a_plan()
    whole = play(plan, tmp_path / "whole")
    cut = tmp_path / "cut"
    play(plan, cut)
    lines = (cut / RESULTS_FILE).read_bytes().splitlines(keepends=True)
    # killed while the second game's row was written, when its record already existed
    (cut / RESULTS_FILE).write_bytes(b"".join(lines[:2]) + lines[2][:30])
    again = play(plan, cut)
    assert (whole.played, again.played, again.games) == (3, 2, 3)
    assert files_in(cut) == files_in(tmp_path / "whole")
    assert read_rows(cut, SelfPlay, GameRow) == read_rows(tmp_path / "whole", SelfPlay, GameRow)
    assert again.players == whole.players
    idle = play(plan, cut)
    assert (idle.played, idle.players) == (0, whole.players)


@pytest.mark.usefixtures("here")
def test_the_summary_counts_what_the_records_hold(tmp_path: Path) -> None:
    other = Contender("random", RANDOM.identity, given_name="other")
    plan = a_plan(4, players=(RANDOM, other, RANDOM, RANDOM))
    found = play(plan, tmp_path)
    records = [read_game(path) for path in (tmp_path / RECORDS_FOLDER).iterdir()]
    assert found.games == len(records) == 4
    assert found.rounds == sum(record.rounds for record in records)
    assert all(record.is_complete for record in records)
    scores = {record.ending.scores for record in records if record.ending}
    assert scores == {row.scores for row in read_rows(tmp_path, SelfPlay, GameRow)[1]}
    assert all(sorted(record.names) == ["other", "random", "random", "random"] for record in records)
    assert [(side.name, side.games) for side in found.players] == [("random", 12), ("other", 4)]
    places = [side.placement.value or 0.0 for side in found.players]
    assert 3 * places[0] + places[1] == pytest.approx(10)
    play(a_plan(4, seed=1), tmp_path / "others")
    assert not files_in(tmp_path).keys() & files_in(tmp_path / "others").keys()


@pytest.mark.usefixtures("here")
def test_a_game_that_crashes_is_kept_apart_with_its_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = a_plan()
    broken = plan.seating(1).seed
    break_table(monkeypatch, broken)
    with capture_logs():
        found = play(plan, tmp_path)
    assert found.games == len(files_in(tmp_path)) == 2
    assert found.crashes == (f"game 1, seed {broken}: RuntimeError: the table broke",)
    (kept,) = (tmp_path / CRASHES_FOLDER).iterdir()
    assert kept.name == "game-1.json"
    assert len(msgspec.json.decode(kept.read_bytes())["events"]) > 60
    assert play(plan, tmp_path).played == 0


@pytest.mark.usefixtures("here")
def test_a_run_whose_games_all_crash_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = a_plan(1)
    break_table(monkeypatch, plan.seating(0).seed)
    with capture_logs():
        assert "\ncrashed: game 0, seed" in str(play(plan, tmp_path))


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_both_forms_become_the_same_corpus_which_is_verified(tmp_path: Path) -> None:
    plan = a_plan(2, players=(HEURISTIC,) * 4)
    content = set()
    for form in ("mjlog", "mjai"):
        folder = tmp_path / form
        play(msgspec.structs.replace(plan, form=form), folder)
        checked = verify([folder], 1)
        assert (checked["checked"], checked["games"], checked["differences"]) == (2, 2, 0)
        built = build([folder], folder / "corpus", 1)
        assert (built.games, built.rejected) == (2, 0)
        content.add(built.content)
    assert len(content) == 1


@pytest.mark.usefixtures("here")
def test_the_command_prints_a_summary(tmp_path: Path) -> None:
    command = ["selfplay", *FLAGS, "--games", "2", "--workers", "1", "--out", str(tmp_path)]
    result = run_cli(*command, "--json")
    assert result.exit_code == 0
    found = msgspec.json.decode(result.stdout, type=SelfPlaySummary)
    assert (found.games, found.played, found.plan.seed) == (2, 2, 5)
    assert found.records == str(tmp_path / RECORDS_FOLDER)
    result = run_cli(*command)
    assert result.exit_code == 0
    assert f"2 tonpuu games, {found.rounds} rounds, seed 5: {found.records}" in result.stdout
    assert "average placement" in result.stdout
    result = run_cli(*command, "--players", "heuristic")
    assert (result.exit_code, "--players: 2 (random, heuristic)" in result.stderr) == (2, True)


@pytest.mark.slow
def test_one_and_two_processes_and_a_killed_one_play_the_same_games(tmp_path: Path) -> None:
    models = str(save_models(tmp_path / "models"))
    command = [sys.executable, "-m", "bot.cli", "selfplay", *FLAGS, "--games", "100", "--json"]
    command += ["--players", f"random,{models},heuristic"]
    killed = tmp_path / "killed"
    with subprocess.Popen(
        [*command, "--workers", "2", "--out", str(killed)], stdout=subprocess.DEVNULL
    ) as process:
        results = killed / RESULTS_FILE
        while process.poll() is None and (not results.exists() or results.read_bytes().count(b"\n") < 12):
            pass
        process.kill()
    assert 11 <= len(read_rows(killed, SelfPlay, GameRow)[1]) < 100
    for workers, folder in (("2", killed), ("1", tmp_path / "one"), ("2", tmp_path / "two")):
        whole = [*command, "--workers", workers, "--out", str(folder)]
        done = subprocess.run(whole, stdout=subprocess.PIPE, check=True)
        assert json.loads(done.stdout)["games"] == 100
    assert len(files_in(killed)) == 100
    for folder in (killed, tmp_path / "two"):
        assert files_in(folder) == files_in(tmp_path / "one")
        assert read_rows(folder, SelfPlay, GameRow) == read_rows(tmp_path / "one", SelfPlay, GameRow)


def test_a_process_plays_its_share_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer stretches leave tables empty less often."""
    plan = an_arena_plan(sets=96)
    handed: list[Stretch] = []

    def spread(
        prepare: object, setup: SeriesSetup, tasks: list[Stretch], *, workers: int | None, ray: str | None
    ) -> Iterator[tuple[Stretch, GameEnd | Done]]:
        handed.extend(tasks)
        for stretch in tasks:
            for block in reversed(stretch):
                for number in plan.numbers(block):
                    yield stretch, GameEnd(a_row(plan, number, 1), {})
            yield stretch, DONE

    monkeypatch.setattr(learning.selfplay.series, "spread", spread)
    assert len(play_series(plan, workers=2).rows) == plan.games
    assert handed == [(0, 1, 2), (3, 4, 5)]
    handed.clear()
    play_series(plan, workers=4)
    assert handed == [(0, 1), (2, 3), (4, 5)]
