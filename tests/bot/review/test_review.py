"""`suzaku review`: reads files, folders and links, writes pages and JSON, and reports errors clearly."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import msgspec
import pytest

from bot.records.sources import LoadedRecord, load
from bot.review.text import reasons_text, review_text
from game.events import StartRound
from game.ranking import Uma
from kit.errors import ReplayError
from policies.heuristic.player import HeuristicPolicy
from policies.play.named import Named
from replays import mjlog
from replays.formats import MAX_FILE, compress, read_game, write_game
from replays.record import GameRecord
from replays.review.schema import Note, Price, Review, ReviewAction, ReviewIndex
from replays.store.library import save
from replays.viewer.page import page
from tests.cli import Result, run_cli
from tests.learning.selfplay.engine_players import engine_text
from tests.replays.games import GAME_ID, ended_early, seen_from
from tests.replays.store.test_library import decided

FILES = Path(__file__).parents[2] / "replays" / "files" / "ok"

pytestmark = pytest.mark.usefixtures("restore_logs", "folder_of_its_own")


@pytest.fixture
def folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Output without --out goes to the test's own folder."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture(scope="module")
def game() -> GameRecord:
    return ended_early(1)


@pytest.fixture(scope="module")
def longer() -> GameRecord:
    return ended_early(2)


@pytest.fixture
def file(game: GameRecord, tmp_path: Path) -> Path:
    return save(game, tmp_path / "games")


def run(*arguments: object) -> Result:
    return run_cli("review", *arguments, "--policy", "heuristic")


def test_a_page_and_its_json_are_written(file: Path, tmp_path: Path) -> None:
    result = run(file, "--seat", 1, "--out", tmp_path / "out", "--csv", tmp_path / "game.csv")
    assert result.exit_code == 0, result.output
    assert len((tmp_path / "game.csv").read_text().splitlines()) == 2
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        f"{GAME_ID}-1.html",
        f"{GAME_ID}-1.json",
    ]
    data = (tmp_path / "out" / f"{GAME_ID}-1.json").read_bytes()
    review = msgspec.json.decode(data, type=Review)
    assert review.player == 1
    assert review.summary.agreement == 1.0
    assert "agreement 100.0 %" in result.stdout
    assert f"{GAME_ID}-1.html" in result.stdout
    assert (tmp_path / "out" / f"{GAME_ID}-1.html").read_text() == page(data)


def test_all_seats_are_on_one_page(file: Path, tmp_path: Path) -> None:
    result = run(file, "--all-seats", "--seat", 2, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    (path,) = (tmp_path / "out").glob("*.json")
    made = msgspec.json.decode(path.read_bytes(), type=Review)
    assert (made.player, [each.player for each in made.seats]) == (2, [0, 1, 3])
    seats = [(made.player, made.summary), *((each.player, each.summary) for each in made.seats)]
    lines = [line for line in result.stdout.splitlines() if "decisions, agreement" in line]
    assert len(lines) == 4
    for line, (player, figures) in zip(lines, seats, strict=True):
        assert made.game.names[player] in line
        assert f" {figures.decisions} decisions, " in line


def test_final_rewards_follow_the_uma(file: Path) -> None:
    usual, own = (
        msgspec.json.decode(run(file, "--json", *more).stdout, type=Review)
        for more in ((), ("--uma", "20,10,-10,-20@30000"))
    )
    assert (usual.uma, own.uma) == (Uma(), Uma((20.0, 10.0, -10.0, -20.0), 30_000))
    assert sorted(usual.rounds[-1].after.reward) == [-135.0, 0.0, 45.0, 90.0]
    assert own.rounds[-1].after.reward == pytest.approx(own.game.results)
    assert "decision.uma (the command line): found" in run(file, "--uma", "1,2,3").stderr


def test_an_engine_reviews_beside_the_policy(file: Path, tmp_path: Path) -> None:
    engine = engine_text(tmp_path / "engine")
    made = msgspec.json.decode(run(file, "--json", "--compare", engine).stdout, type=Review)
    assert made.policy.name == "heuristic"
    assert "engine_program" in made.other.name
    assert {each.other.kind for each in made.decisions if each.other} <= {"discard", "pass"}


def test_the_terminal_rounds_as_the_page_does(file: Path) -> None:
    made = msgspec.json.decode(run(file, "--json").stdout, type=Review)
    summary = msgspec.structs.replace(
        made.summary, rating=91.85, agreement=0.8175, bad_move_rate=0.0005, price=1230.0
    )
    text = review_text(msgspec.structs.replace(made, summary=summary), ())
    assert "agreement 81.8 %, bad moves 0.1 %, rating 91.9, price 1,230" in text


@pytest.mark.parametrize(
    ("before", "after", "seat"), [("https://", "&ts=1&tw=3", 3), ("", "&tw=1", 1), (" HTTPS://", " ", 0)]
)
def test_a_link_as_it_was_pasted(game: GameRecord, before: str, after: str, seat: int) -> None:
    bare = write_game(game, "link").strip().removeprefix("https://")
    result = run(before + bare + after, "--json")
    assert result.exit_code == 0, result.output
    made = json.loads(result.stdout)
    assert (made["game"]["source"], made["seat"]) == ("link", seat)


def test_a_bare_id_is_fetched_once_as_a_link_is(
    game: GameRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def get(url: str) -> bytes:
        asked.append(url)
        return write_game(game, "mjlog").encode()

    monkeypatch.setattr("bot.tenhou.links.download", get)
    monkeypatch.setenv("SUZAKU_CACHE_DIR", str(tmp_path))
    for source, seat in ((GAME_ID, 0), (f"{GAME_ID}&tw=2", 2), (f"tenhou.net/0/?log={GAME_ID}&tw=3", 3)):
        result = run(source, "--json")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["seat"] == seat
    assert run_cli("convert", GAME_ID, "-", "--to", "mjai").exit_code == 0
    assert asked == [f"https://tenhou.net/0/log/?{GAME_ID}"]


@pytest.mark.parametrize("form", ["mjlog", "tenhou6", "mjai"])
def test_a_record_comes_from_stdin(game: GameRecord, form: str) -> None:
    text = write_game(game, form)  # type: ignore[arg-type]
    for data in (text.encode(), compress(text)):
        result = run_cli("review", "-", "--json", "--seat", "1", "--policy", "heuristic", stdin=data)
        assert result.exit_code == 0, result.output
        made = json.loads(result.stdout)
        assert (made["game"]["source"], made["summary"]["agreement"]) == (form, 1.0)
    converted = run_cli("convert", "-", "-", "--to", "mjai", stdin=text.encode())
    assert converted.stdout.startswith('{"type":"start_game"')
    empty = run_cli("review", "-", "--policy", "heuristic", stdin=b"")
    assert (empty.exit_code, "stdin: not a record" in empty.stderr) == (1, True)


def test_stdin_may_be_one_of_several_sources(file: Path, longer: GameRecord) -> None:
    data = write_game(longer, "mjlog").encode()
    made = run_cli("review", "-", file, "--json", "--seat", 0, "--policy", "heuristic", stdin=data)
    index = msgspec.json.decode(made.stdout, type=ReviewIndex)
    assert (made.exit_code, len(index.games), index.skipped) == (0, 2, ())


def test_a_closed_stdin_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(ReplayError, match="stdin is closed"):
        load("-")


def test_several_records_are_reviewed_as_a_folder_of_them(
    file: Path, game: GameRecord, longer: GameRecord, tmp_path: Path
) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "longer.json").write_text(write_game(longer, "tenhou6"))
    link = write_game(game, "link").strip() + "&tw=2"
    result = run(file, more, link, "--player", "犬猫", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    index = msgspec.json.decode((tmp_path / "out" / "index.json").read_bytes(), type=ReviewIndex)
    assert (index.total.games, index.total.players) == (2, 1)
    assert [each.reason for each in index.skipped] == [f"the same game as {file.name}"]


def test_a_file_name_tells_whose_view_the_record_is(game: GameRecord, tmp_path: Path) -> None:
    path = tmp_path / f"{GAME_ID}&tw=3.mjlog"
    path.write_bytes(compress(write_game(game, "mjlog")))
    result = run(path, "--json")
    made = json.loads(result.stdout)
    assert (made["seat"], made["game"]["id"], result.stderr) == (3, GAME_ID, "")
    assert json.loads(run(path, "--json", "--seat", 1).stdout)["seat"] == 1


def test_in_a_folder_no_seat_is_guessed(
    file: Path, longer: GameRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = file.with_name(f"{GAME_ID[:-1]}0&tw=1.mjlog")
    seen.write_text(write_game(longer, "mjlog"))
    result = run(file.parent, "--out", tmp_path / "out")
    assert result.exit_code == 1
    index = msgspec.json.decode((tmp_path / "out" / "index.json").read_bytes(), type=ReviewIndex)
    assert [entry.player for entry in index.games] == [1]
    assert [(each.file, each.reason) for each in index.skipped] == [
        (file.name, "nothing specifies whose decisions to review; add --player, --seat or --all-seats")
    ]
    assert (
        "whose decisions to review in 1 of the records; add --player NAME, --seat 0 to 3, or --all-seats"
        in result.stderr
    )
    seen.unlink()
    with monkeypatch.context() as patched:  # said before anything is loaded
        patched.setattr("bot.review.command.make_reviewer", None)
        alone = run(file.parent)
    assert alone.exit_code == 2
    assert "add --player NAME, --seat 0 to 3, or --all-seats" in alone.stderr
    every = run(file.parent, "--all-seats", "--out", tmp_path / "all")
    assert (every.exit_code, every.stderr) == (0, "")


def test_the_most_frequent_player_is_suggested_if_none_is_named(
    file: Path, longer: GameRecord, tmp_path: Path
) -> None:
    other = msgspec.structs.replace(longer, names=("x", "y", "z", longer.names[1]))
    (file.parent / "other.json").write_text(write_game(other, "tenhou6"))
    result = run(file.parent)
    assert (
        "add --player NAME (such as '犬猫', who plays in 2 of them), --seat 0 to 3, or --all-seats"
        in result.stderr
    )


def test_an_index_of_different_people_says_so(file: Path, longer: GameRecord) -> None:
    for names, players in ((longer.names, 1), (("x", *longer.names[1:]), 2)):
        (file.parent / "z.json").write_text(
            write_game(msgspec.structs.replace(longer, names=names), "tenhou6")
        )
        shown = run(file.parent, "--seat", 0, "--out", "out").stdout
        assert json.loads(Path("out/index.json").read_bytes())["total"]["players"] == players
        assert ("by 2 different players" in shown) == (players == 2)
    hidden = json.loads(run(file.parent, "--seat", 0, "--json", "--anonymous").stdout)
    assert hidden["total"]["players"] == 2


def test_missing_facts_of_a_record_are_reported(game: GameRecord, tmp_path: Path) -> None:
    head, *lines = write_game(game, "mjai").splitlines()
    bare = json.loads(head) | {"names": ["a", "b", "c", "d"]}
    del bare["suzaku_record"]
    path = tmp_path / "game.mjai"
    for text, keys, said in (
        ([head, *lines], [], ""),
        ([head, *lines[:40]], ["cut"], "the record stops before the end of the game"),
        ([json.dumps(bare), *lines], ["rules_unsaid"], "the record does not state its rules"),
        ([json.dumps(bare | {"kyoku_first": 4}), *lines], [], ""),
        ([head.replace('"lobby":0', '"lobby":7447'), *lines], ["lobby"], "the private lobby 7447"),
    ):
        path.write_text("\n".join(text) + "\n")
        shown = run(path, "--seat", 0, "--out", tmp_path / "out").stdout
        (made,) = (json.loads(each.read_bytes()) for each in (tmp_path / "out").glob("*.json"))
        assert [each["key"] for each in made["game"]["caveats"]] == keys
        shutil.rmtree(tmp_path / "out")
        assert ("note: " in shown) == bool(keys)
        assert said in shown


@pytest.mark.parametrize(
    ("game_type", "said"),
    [
        (11, "a game without the three red fives; reviews cover four-player games with red fives"),
        (15, "a game without the three red fives and without open tanyao; reviews"),
        (25, "three-player games are not supported"),
        (9 | 512, "chip games are not supported"),
    ],
)
def test_other_rules_are_refused_by_name(game: GameRecord, game_type: int, said: str, tmp_path: Path) -> None:
    path = tmp_path / "game.xml"
    path.write_text(mjlog.write(msgspec.structs.replace(game, game_type=game_type)))
    result = run(path, "--seat", 0)
    assert result.exit_code == 1
    assert said in result.stderr


def test_tiles_are_written_as_players_write_them(file: Path) -> None:
    made = msgspec.json.decode(run(file, "--json", "--compare", "random").stdout, type=Review)
    kan = ReviewAction(kind="chi", tile="5mr", consumed=("4m", "6m"))
    price = Price(points=1310.0, error=60.0)
    decisions = tuple(
        msgspec.structs.replace(each, done=kan, preferred=ReviewAction(kind="discard", tile="E"), price=price)
        for each in made.decisions
    )
    summary = msgspec.structs.replace(made.summary, worst=(0,))
    text = review_text(msgspec.structs.replace(made, decisions=decisions, summary=summary, other=None), ())
    assert "chi 0m 4m 6m rather than discard 1z" in text
    assert "errors like this cost 1,310 points on average, ± 60\n" in text


def test_a_reason_in_words_counts_one_tile_as_one_and_names_waits_without_a_yaku() -> None:
    options = {"better": "riichi", "better_tile": "9m", "worse": "discard", "worse_tile": "9m"}
    waits = {"waits": ["6s", "9s"], "tiles": 5, "points": 3900, "silent": 0, "no_yaku": ["9s"]}
    notes = [
        Note(key="reason_riichi", params=options | waits),
        Note(key="reason_tanyao", params=options | {"left": 0}),
        Note(key="cost_ukeire", params=options | {"better_tiles": 1, "worse_tiles": 5}),
    ]
    assert reasons_text(notes, 0) == (
        "riichi on 6s 9s, 5 left: a ron pays at least 3900, without riichi nothing on 9s (no yaku); "
        "closer to tanyao: only simples are left; the drawback: it accepts 1 tile instead of 5"
    )


def test_json_alone_writes_no_files(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(file, "--json").exit_code == 0
    assert not (tmp_path / "reviews").exists()
    run(file, "--json", "--out", "there")
    assert len(list((tmp_path / "there").iterdir())) == 2


def test_players_by_name(file: Path) -> None:
    assert json.loads(run(file, "--json", "--player", "犬猫").stdout)["seat"] == 1
    assert json.loads(run(file, "--json", "--player", "Gen").stdout)["seat"] == 0


def test_the_reviewed_player_without_an_option(game: GameRecord, file: Path, tmp_path: Path) -> None:
    result = run(file, "--json")
    assert json.loads(result.stdout)["seat"] == 0
    assert "reviewing seat 0" in result.stderr
    ours = save(msgspec.structs.replace(game, decisions=(decided(),)), tmp_path / "ours")
    result = run(ours, "--json")
    assert json.loads(result.stdout)["seat"] == decided().player
    assert not result.stderr
    seen = tmp_path / "seen.jsonl"
    seen.write_text(write_game(seen_from(game, 3), "mjai"))
    result = run(seen, "--json")
    assert json.loads(result.stdout)["seat"] == 3
    assert not result.stderr  # it shows no other player's hand
    refused = run(seen, "--compare", "seat:1")
    assert refused.exit_code == 1
    assert "does not show the hand of player 1; it shows 3" in refused.stderr


def test_broken_decisions_cost_only_what_happened_in_play(file: Path) -> None:
    file.with_name(f"{GAME_ID}.decisions.jsonl").write_text("{}\n")
    result = run(file, "--json")
    assert result.exit_code == 0
    assert "line 1" in result.stderr
    assert json.loads(result.stdout)["decisions"][0]["live"] is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a record"),
        ("<mjloggm>", "cut short"),
        ('<mjloggm ver="2.3"><GO type="9"/>', ""),
        ('{"log": 1}', ""),
        ('{"type":"start_game","names":["a","b","c","d"]}\n', "no round"),
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


def test_what_cannot_be_reviewed_is_refused_with_a_message(file: Path, tmp_path: Path) -> None:
    decisions = file.with_name(f"{GAME_ID}.decisions.jsonl")
    decisions.write_text("{}\n")
    (tmp_path / "empty").mkdir()
    run(file, "--seat", 0, "--out", tmp_path / "out")
    no_folder = f"`{file}` is a file, so no folder can be created there"
    for arguments, code, said in (
        ((tmp_path / "none.xml",), 1, "none.xml: no such file or folder"),
        ((file, tmp_path / "gone.xml"), 1, "gone.xml: no such file or folder"),
        (("x" * 5000,), 1, "name too long"),
        ((tmp_path / "empty",), 1, "no records"),
        (("https://example.com/0/?log=1",), 1, "tenhou.net"),
        (("tenhou.net/0/",), 1, "no game id; expected a link such as https://tenhou.net/0/?log="),
        ((GAME_ID[:-1],), 1, "not a game id"),
        ((decisions,), 1, f"use {file.name} in the same folder"),
        ((tmp_path / "out" / f"{GAME_ID}-0.json",), 1, "a review, not a record"),
        ((file, "--player", "Nobody"), 1, "no player is named 'Nobody'"),
        (("-", "-"), 2, "give it once"),
        ((file, "--seat", 1, "--player", "Genbu"), 2, "give only one of them"),
        ((file, "--compare", "seat:4"), 2, "seat:0 to seat:3"),
        ((file, "--compare", "nobody"), 2, "'nobody' is not a player"),
        ((file, "--compare", "engine:no-such-program"), 2, "there is no program 'no-such-program'"),
        ((file, "--out", file), 2, no_folder),
        ((file, "--out", file / "below"), 2, no_folder),
    ):
        result = run(*arguments)
        assert (result.exit_code, said in result.stderr) == (code, True), result.output
        assert len(result.stderr) < 600
    assert file.read_text().startswith("<mjloggm")
    assert not (tmp_path / "reviews").exists()


def test_networks_average_as_configured(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    def load_named(text: str, usual: int, **_: object) -> Named:
        asked.append((text, usual))
        return Named(text, text, HeuristicPolicy())

    monkeypatch.setattr("bot.review.command.load_named", load_named)
    config = tmp_path / "other.yaml"
    config.write_text("decision:\n  permutations: 6\n")
    assert run(file, "--json", "--compare", "random").exit_code == 0
    assert run(file, "--json", "--config", config).exit_code == 0
    assert asked == [("heuristic", 12), ("random", 12), ("heuristic", 6)]


def test_a_policy_with_any_name(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = Named("folder\udcff", "", HeuristicPolicy())
    monkeypatch.setattr("bot.review.command.load_named", lambda *_, **__: named)
    result = run(file, "--json", "--compare", "another")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["policy"]["name"] == "folder?"


def test_another_seat_stands_beside(file: Path) -> None:
    beside = json.loads(run(file, "--json", "--compare", "seat:2").stdout)["summary"]["comparison"]
    assert (beside["seat"], beside["agreement"]) == (2, 1.0)


def test_the_terminal_shows_the_other_policys_choices(file: Path, tmp_path: Path) -> None:
    arguments = ["review", str(file), "--policy", "random", "--compare", "heuristic", "--out", str(tmp_path)]
    shown = run_cli(*arguments).stdout
    assert "heuristic: agreement 100.0 %, rating 100.0; both policies agree" in shown
    (made,) = (msgspec.json.decode(path.read_bytes(), type=Review) for path in tmp_path.glob("*.json"))
    worst = made.decisions[made.summary.worst[0]]
    (best,) = (option.other for option in worst.options if option.action == worst.other)
    assert worst.other == worst.done
    assert re.search(rf"\n      heuristic: prefers [^\n]* {re.escape(f'{100 * best:.1f}')} %, policy ", shown)


def test_hostile_names_harm_neither_page_nor_terminal(game: GameRecord, tmp_path: Path) -> None:
    names = ("</script><script>alert(1)</script>", "\u202eevil\x1b[31m", "\x00", "'\"&")
    path = tmp_path / "a.jsonl"
    path.write_text(write_game(msgspec.structs.replace(game, names=names), "mjai"))
    result = run(path, "--seat", 1, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output
    (path,) = (tmp_path / "out").glob("*.html")
    assert "<script>alert" not in path.read_text()


def test_an_anonymous_review_does_not_identify_the_players(
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


def test_a_folder_gets_an_index_and_broken_ones_are_named(
    file: Path, longer: GameRecord, tmp_path: Path
) -> None:
    (file.parent / "broken.xml").write_text("<mjloggm")
    (file.parent / "second.json").write_text(write_game(longer, "tenhou6"))
    (file.parent / "readme.txt").write_text("no record")
    (file.parent / "folder.xml").mkdir()
    table = tmp_path / "games.csv"
    result = run(file.parent, "--seat", 0, "--out", tmp_path / "out", "--csv", table)
    assert result.exit_code == 1
    assert "skipped: broken.xml" in result.stderr
    index = msgspec.json.decode((tmp_path / "out" / "index.json").read_bytes(), type=ReviewIndex)
    assert index.total.games == len(index.games) == 2
    assert [each.file for each in index.skipped] == ["broken.xml"]
    rows = list(csv.DictReader(table.read_text("utf-8-sig").splitlines()))
    for entry, row in zip(index.games, rows, strict=True):
        assert (tmp_path / "out" / entry.page).is_file()
        made = msgspec.json.decode((tmp_path / "out" / entry.data).read_bytes(), type=Review)
        assert made.summary.decisions == entry.decisions == int(row["decisions"])
        assert float(row["rating"]) == made.summary.rating
        assert (row["page"], row["fine"]) == (entry.page, str(made.summary.categories.fine))
        assert row["player"] == made.game.names[0]
    assert (tmp_path / "out" / "index.html").is_file()
    assert "2 games" in result.stdout


def test_games_of_one_name_have_pages_of_their_own(
    game: GameRecord, longer: GameRecord, tmp_path: Path
) -> None:
    games, out = tmp_path / "games", tmp_path / "out"
    games.mkdir()
    for name, record in (("a.json", game), ("A.jsonl", longer)):
        nameless = msgspec.structs.replace(record, game_id="")
        (games / name).write_text(write_game(nameless, "mjai" if name == "A.jsonl" else "tenhou6"))
    assert run(games, "--seat", 0, "--out", out).exit_code == 0
    index = msgspec.json.decode((out / "index.json").read_bytes(), type=ReviewIndex)
    assert sorted(entry.page for entry in index.games) == ["A-0.html", "a-0-2.html"]
    for entry in index.games:
        made = msgspec.json.decode((out / entry.data).read_bytes(), type=Review)
        assert made.summary.decisions == entry.decisions


def test_a_game_that_is_there_twice_counts_once(file: Path, game: GameRecord) -> None:
    (file.parent / "again.json").write_text(write_game(game, "tenhou6"))
    dealt = [
        msgspec.structs.replace(event, hands=tuple(hand[::-1] for hand in event.hands))
        if isinstance(event, StartRound)
        else event
        for event in game.events
    ]
    file.write_text(write_game(msgspec.structs.replace(game, events=tuple(dealt)), "mjlog"))
    result = run(file.parent, "--seat", 0, "--json")
    assert result.exit_code == 0
    index = msgspec.json.decode(result.stdout, type=ReviewIndex)
    assert index.total.games == 1
    (skipped,) = index.skipped
    assert {skipped.file, skipped.reason.removeprefix("the same game as ")} == {file.name, "again.json"}


def test_results_may_be_among_the_records(file: Path) -> None:
    for _ in range(2):
        result = run(file.parent, "--seat", 0, "--out", file.parent)
        assert result.exit_code == 0, result.output
        assert "\n1 game, average place" in result.stdout


def test_a_skipped_record_says_nothing_in_an_anonymous_index(
    file: Path, game: GameRecord, tmp_path: Path
) -> None:
    (file.parent / "Genbu.xml").write_text("<Genbu")
    (file.parent / "Genbu.json").write_bytes(b" " * (MAX_FILE + 1))
    (file.parent / "twins.jsonl").write_text(
        write_game(msgspec.structs.replace(game, names=("Genbu", "Genbu", "", "")), "mjai")
    )
    result = run(file.parent, "--anonymous", "--player", "Genbu", "--out", tmp_path / "out")
    assert result.exit_code == 1
    text = (tmp_path / "out" / "index.json").read_text()
    assert [each["reason"] for each in json.loads(text)["skipped"]] == [
        "too large",
        "not a readable record",
        "cannot be reviewed",
    ]
    for path in (tmp_path / "out").iterdir():
        assert "Genbu" not in path.read_text()
        assert str(tmp_path) not in path.read_text()
    # whoever has the records can identify it
    assert "skipped: Genbu.xml: " in result.stderr
    assert "skipped: twins.jsonl: several players match 'Genbu'" in result.stderr


def test_an_interrupted_run_leaves_an_index_of_the_finished_reviews(
    file: Path, longer: GameRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file.parent / "z.json").write_text(write_game(longer, "tenhou6"))

    def load_until_stopped(source: str) -> LoadedRecord:
        if source.endswith("z.json"):
            raise KeyboardInterrupt
        return load(source)

    monkeypatch.setattr("bot.review.many.load", load_until_stopped)
    result = run(file.parent, "--seat", 0, "--out", tmp_path / "out")
    assert result.exit_code == 130
    index = msgspec.json.decode((tmp_path / "out" / "index.json").read_bytes(), type=ReviewIndex)
    assert index.total.games == 1


def test_a_folder_without_trouble_ends_well(file: Path, tmp_path: Path) -> None:
    result = run(file.parent, "--json", "--player", "Genbu")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["total"]["games"] == 1
    nobody = run(file.parent, "--json", "--player", "Nobody")
    assert nobody.exit_code == 1
    assert "no player is named 'Nobody'; there are " in nobody.stderr


def test_a_link_in_the_place_of_a_result_is_not_written_through(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "mine").write_text("kept")
    (out / f"{GAME_ID}-0.html").symlink_to(tmp_path / "mine")
    assert run(file, "--seat", 0, "--out", out).exit_code == 1
    assert (tmp_path / "mine").read_text() == "kept"


def test_a_file_of_links_is_reviewed_as_a_folder_is(
    game: GameRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.records.sources.cache_folder", lambda: tmp_path)
    ids = [f"2026010203gm-0009-0000-0123abc{number}" for number in range(2)]
    for each in ids:
        (tmp_path / "logs").mkdir(exist_ok=True)
        (tmp_path / "logs" / f"{each}.mjlog.xml").write_text(mjlog.write(game))
    links = tmp_path / "ids.txt"
    links.write_text(f"# mine\nhttps://ron2.jp/3/?log={ids[0].upper()}&tw=2\n\n{ids[1]}&tw=1\n")
    for source, stdin in ((links, b""), ("-", links.read_bytes())):
        made = run_cli("review", source, "--json", "--policy", "heuristic", stdin=stdin)
        assert [entry.player for entry in msgspec.json.decode(made.stdout, type=ReviewIndex).games] == [2, 1]
    links.write_text(links.read_text() + "the last one\n")
    assert "ids.txt: line 5 is neither a link nor an id: the last one" in run(links).stderr
    titled = tmp_path / "titled.json"
    titled.write_text('{"title":["see https://example.org",""],' + write_game(game, "tenhou6")[1:])
    assert run(titled, "--json", "--seat", 0).exit_code == 0


def test_files_of_a_round_each_are_one_game(tmp_path: Path) -> None:
    document = json.loads(write_game(read_game(FILES / "kobalab-tonpuu.json"), "tenhou6"))
    rows, scores = document.pop("log")[:3], document.pop("sc")
    document["rule"] = {}
    for number, row in enumerate(rows):
        end = {"sc": scores} if number == len(rows) - 1 else {}
        (tmp_path / f"round-{number}.json").write_text(json.dumps(document | end | {"log": [row]}))
    index = msgspec.json.decode(run(tmp_path, "--json", "--seat", 0).stdout, type=ReviewIndex)
    (entry,) = index.games
    assert (index.skipped, entry.rates.rounds, entry.game.length) == ((), 3, "tonpuu")
    assert [caveat.key for caveat in entry.game.caveats] == ["rules_unsaid"]


def test_rounds_that_do_not_fold_are_named_beside_the_others(tmp_path: Path) -> None:
    broken = (FILES / "mjlog-win.xml").read_text().replace("<D108/>", "<D135/>")
    for name in ("a.xml", "b.xml"):
        (tmp_path / name).write_text(broken)
    (tmp_path / "c.xml").write_text((FILES / "mjlog-win.xml").read_text())
    index = msgspec.json.decode(run(tmp_path, "--json", "--seat", 0).stdout, type=ReviewIndex)
    assert (len(index.games), [each.file for each in index.skipped]) == (1, ["a.xml", "b.xml"])
