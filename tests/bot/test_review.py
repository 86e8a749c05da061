"""`suzaku review`: files, folders and links in, pages and JSON out, clear words where it cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner, Result

from bot import cli
from game.events import EndGame, StartRound
from game.settlement import final_results, final_scores
from replays.formats import write_game
from replays.library import save
from replays.record import GameRecord
from replays.review.schema import Index, Review
from tests.replays.games import GAME_ID, seen_from, whole_game
from tests.replays.test_library import decided

pytestmark = pytest.mark.usefixtures("restore_logs")


@pytest.fixture(scope="module")
def game() -> GameRecord:
    """The first round of a game, as if it had ended with it."""
    whole = whole_game()
    second = [place for place, event in enumerate(whole.events) if isinstance(event, StartRound)][1]
    start = whole.events[second]
    assert isinstance(start, StartRound)
    scores = final_scores(start.scores, start.riichi_sticks)
    end = EndGame(scores, final_results(scores))
    return msgspec.structs.replace(whole, events=(*whole.events[:second], end), dice=())


@pytest.fixture
def file(game: GameRecord, tmp_path: Path) -> Path:
    return save(game, tmp_path / "games")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(
        cli.app, ["review", *(str(argument) for argument in arguments), "--policy", "heuristic"]
    )


def test_a_page_and_its_json_are_written(file: Path, tmp_path: Path) -> None:
    result = run(file, "--seat", 1, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        f"{GAME_ID}-1.html",
        f"{GAME_ID}-1.json",
    ]
    data = (tmp_path / "out" / f"{GAME_ID}-1.json").read_bytes()
    review = msgspec.json.decode(data, type=Review)
    assert review.seat == 1
    assert review.summary.agreement == 1.0
    assert "agreement 100.0 %" in result.stdout
    assert f"{GAME_ID}-1.html" in result.stdout
    page = (tmp_path / "out" / f"{GAME_ID}-1.html").read_text()
    assert GAME_ID in page


@pytest.mark.parametrize("form", ["mjlog", "tenhou6", "mjai"])
def test_every_format_gives_the_same_decisions(game: GameRecord, form: str, tmp_path: Path) -> None:
    suffix = {"mjlog": "mjlog", "tenhou6": "json", "mjai": "jsonl"}[form]
    path = tmp_path / f"a.{suffix}"
    path.write_text(write_game(game, form))  # type: ignore[arg-type]
    made = json.loads(run(path, "--json").stdout)
    assert made["game"]["source"] == form
    assert made["summary"]["decisions"] > 5
    assert made["summary"]["agreement"] == 1.0


def test_a_link_with_the_game_in_it(game: GameRecord) -> None:
    made = json.loads(run(write_game(game, "link").strip(), "--json", "--seat", 2).stdout)
    assert (made["game"]["source"], made["seat"]) == ("link", 2)


def test_json_alone_writes_no_files(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(file, "--json").exit_code == 0
    assert not (tmp_path / "reviews").exists()
    run(file, "--json", "--out", "there")
    assert len(list((tmp_path / "there").iterdir())) == 2


def test_players_by_name(file: Path) -> None:
    assert json.loads(run(file, "--json", "--player", "犬猫").stdout)["seat"] == 1
    assert json.loads(run(file, "--json", "--player", "Gen").stdout)["seat"] == 0
    result = run(file, "--player", "Nobody")
    assert result.exit_code == 1
    assert "nobody is called 'Nobody'" in result.stderr


def test_whose_game_it_is_if_nobody_says(game: GameRecord, file: Path, tmp_path: Path) -> None:
    result = run(file, "--json")
    assert json.loads(result.stdout)["seat"] == 0
    assert "reviewing seat 0" in result.stderr
    ours = save(msgspec.structs.replace(game, decisions=(decided(),)), tmp_path / "ours")
    result = run(ours, "--json")
    assert json.loads(result.stdout)["seat"] == decided().player
    assert not result.stderr
    seen = tmp_path / "seen.jsonl"
    seen.write_text(write_game(seen_from(game, 3), "mjai"))
    assert json.loads(run(seen, "--json").stdout)["seat"] == 3


def test_broken_decisions_cost_only_what_happened_in_play(file: Path) -> None:
    file.with_name(f"{GAME_ID}.decisions.jsonl").write_text("{}\n")
    result = run(file, "--json")
    assert result.exit_code == 0
    assert "line 1" in result.stderr
    assert json.loads(result.stdout)["decisions"][0]["live"] is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no record"),
        ("<mjloggm>", "cut short"),
        ('<mjloggm ver="2.3"><GO type="9"/>', ""),
        ('{"log": 1}', ""),
        ('{"type":"start_game","names":["a","b","c","d"]}\n', "no rounds"),
    ],
)
def test_a_broken_record_gives_a_message_and_no_report(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.xml"
    path.write_text(text)
    result = run(path, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "broken.xml" in result.stderr
    assert said in result.stderr
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


def test_what_is_not_there(tmp_path: Path, file: Path) -> None:
    assert "no such file" in run(tmp_path / "none.xml").stderr
    assert run(tmp_path / "none.xml").exit_code == 1
    assert "tenhou.net" in run("https://example.com/0/?log=1").stderr
    unknown = CliRunner().invoke(cli.app, ["review", str(file), "--policy", "nobody"])
    assert unknown.exit_code == 2
    assert "'nobody' is no player" in unknown.stderr


def test_another_policy_and_another_seat(file: Path) -> None:
    beside = json.loads(run(file, "--json", "--compare", "heuristic").stdout)
    assert beside["summary"]["comparison"]["of_policies"] == 1.0
    assert beside["decisions"][0]["other"] == beside["decisions"][0]["preferred"]
    seat = json.loads(run(file, "--json", "--compare", "seat:2").stdout)
    assert seat["summary"]["comparison"]["seat"] == 2
    assert seat["summary"]["comparison"]["agreement"] == 1.0


def test_hostile_names_harm_neither_page_nor_terminal(game: GameRecord, tmp_path: Path) -> None:
    names = ("</script><script>alert(1)</script>", "\u202eevil\x1b[31m", "\x00", "'\"&")
    path = tmp_path / "a.jsonl"
    path.write_text(write_game(msgspec.structs.replace(game, names=names), "mjai"))
    result = run(path, "--seat", 1, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output
    (page,) = (tmp_path / "out").glob("*.html")
    assert "<script>alert" not in page.read_text()


def test_an_anonymous_review_says_nothing_of_the_players(
    file: Path, game: GameRecord, tmp_path: Path
) -> None:
    result = run(file, "--anonymous", "--seat", 0, "--out", tmp_path / "out")
    assert result.exit_code == 0
    for path in (tmp_path / "out").iterdir():
        assert path.name.startswith("review-")
        text = path.read_text()
        assert GAME_ID not in text
        assert not any(f'"{name}"' in text for name in game.names if name)
    assert not any(name in result.stdout for name in game.names if name)


def test_a_folder_gets_an_index_and_broken_ones_are_named(file: Path, tmp_path: Path) -> None:
    (file.parent / "broken.xml").write_text("<mjloggm")
    (file.parent / "second.json").write_text(run_convert(file))
    (file.parent / "readme.txt").write_text("no record")
    result = run(file.parent, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "skipped: broken.xml" in result.stderr
    index = msgspec.json.decode((tmp_path / "out" / "index.json").read_bytes(), type=Index)
    assert index.total.games == len(index.games) == 2
    assert [each.file for each in index.skipped] == ["broken.xml"]
    for entry in index.games:
        assert (tmp_path / "out" / entry.page).is_file()
        made = msgspec.json.decode((tmp_path / "out" / entry.data).read_bytes(), type=Review)
        assert made.summary.decisions == entry.decisions
    assert (tmp_path / "out" / "index.html").is_file()
    assert "2 games" in result.stdout


def test_a_folder_without_trouble_ends_well(file: Path, tmp_path: Path) -> None:
    result = run(file.parent, "--json", "--player", "Genbu")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["total"]["games"] == 1
    nobody = run(file.parent, "--json", "--player", "Nobody")
    assert nobody.exit_code == 1
    assert "nobody is called" in nobody.stderr
    (tmp_path / "empty").mkdir()
    assert "no records" in run(tmp_path / "empty").stderr


def test_a_link_in_the_place_of_a_result_is_not_written_through(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "mine").write_text("kept")
    (out / f"{GAME_ID}-0.html").symlink_to(tmp_path / "mine")
    assert run(file, "--seat", 0, "--out", out).exit_code == 1
    assert (tmp_path / "mine").read_text() == "kept"


def run_convert(file: Path) -> str:
    return CliRunner().invoke(cli.app, ["convert", str(file), "-", "--to", "tenhou6"]).stdout
