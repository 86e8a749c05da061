"""The programs of docs/library.md run and print what they say; what users of the library may rely on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import suzaku
from game.actions import PASS
from kit.errors import ConfigError, ReplayError
from replays.formats import FORMATS, write_game
from tests.replays.games import ended_early, whole_game
from tests.scene import same

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^## (.+?)\n.*?^```python\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("program", [code for _, code in PROGRAMS], ids=[title for title, _ in PROGRAMS])
def test_a_program_of_the_document_runs_and_prints_what_it_says(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("game.mjlog").write_text(write_game(ended_early(2), "mjlog"))
    exec(compile(program, "library.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed
    assert [said for said in re.findall(r"# prints (.*)", program) if said not in printed] == []


def test_all_names_are_there_and_an_unknown_one_is_no_attribute() -> None:
    assert all(getattr(suzaku, name) is not None for name in suzaku.__all__)
    assert not hasattr(suzaku, "no_such_name")


@pytest.mark.parametrize("form", FORMATS)
def test_a_record_is_read_from_a_path_in_any_format_and_from_bytes(form: str, tmp_path: Path) -> None:
    path, text = tmp_path / "game", write_game(ended_early(1), form)  # type: ignore[arg-type]
    path.write_text(text)
    game = suzaku.read_game(text.strip() if form == "link" else str(path))
    assert game.rounds == 1
    assert suzaku.read_game(path).events == suzaku.read_game(text.encode()).events == game.events


def test_a_path_is_never_taken_for_a_record() -> None:
    with pytest.raises(ReplayError, match=r"^no-such-game\.mjlog: cannot be read"):
        suzaku.read_game("no-such-game.mjlog")


@pytest.mark.parametrize("seat", range(4))
def test_a_decision_shows_no_more_than_its_player_could_see_and_what_was_done(seat: int) -> None:
    found = suzaku.decisions(whole_game(), seat)
    others = [player for player in range(4) if player != seat]
    assert len(found) > 20
    assert not any(each.record["hand34"][others].any() for each in found)
    asked = suzaku.load_policy("random").probabilities(found)
    assert all(each.done in options for each, options in zip(found, asked, strict=True))
    assert all(sum(options.values()) == pytest.approx(1.0) for options in asked)


def test_an_observation_of_a_table_is_its_players_own_copy() -> None:
    table = suzaku.Table(seed=3).clone()
    seen = table.observe(0)
    before = seen.record.copy()
    table.step({0: seen.legal[-1]})
    assert same(seen.record, before)
    assert not seen.record["hand34"][1:].any()


def test_a_policy_answers_observations_of_a_table_as_those_of_a_record() -> None:
    seen = suzaku.Table(seed=3).observe(0)
    policy = suzaku.load_policy("heuristic")
    (options,) = policy.probabilities([seen])
    assert options.keys() == set(seen.legal)
    assert next(iter(options)) == policy.act(seen)
    with pytest.raises(ConfigError, match="no-such-policy"):
        suzaku.load_policy("no-such-policy")


def test_planes_of_nothing_are_empty_and_calls_have_a_row_each() -> None:
    assert suzaku.planes([]).shape == (0, len(suzaku.plane_names()), 34)
    seen = suzaku.position("34067m345p346s55z", offered="5z", turn=6)
    rows = suzaku.planes([seen] * 2, "lite-287/1", seen.legal[:1] * 2)
    assert rows.shape == (2, len(suzaku.plane_names("lite-287/1")), 34)
    with pytest.raises(ValueError, match="give calls, one for each observation"):
        suzaku.planes([seen], "lite-287/1")
    for ask in (suzaku.plane_names, lambda name: suzaku.planes([seen], name)):
        with pytest.raises(ConfigError, match="no set of planes is called 'no-such-set'"):
            ask("no-such-set")


@pytest.mark.parametrize("seat", [-1, 4])
def test_no_such_seat(seat: int) -> None:
    for ask in (lambda: suzaku.decisions(ended_early(1), seat), lambda: suzaku.Table(seed=3).observe(seat)):
        with pytest.raises(ValueError, match=f"seat {seat}: give 0 to 3"):
            ask()


def test_no_hands() -> None:
    with pytest.raises(ValueError, match="count 0: give 1 or more"):
        suzaku.hands("34067m345p3468s55z", 0, sampler="uniform")


def test_hands_as_text() -> None:
    waiting = suzaku.ukeire("123m406p789s11z23z")
    assert waiting == {PASS: suzaku.Ukeire(1, {"1z": 2, "2z": 3, "3z": 3})}
    assert suzaku.value("123m406p789s11z23z") is None
    ron = suzaku.value(suzaku.position("234567m345p3488s", dora="7s", offered="5s", turn=6))
    assert (ron.han, ron.fu, ron.points) == (4, 30, 11600)
    with pytest.raises(suzaku.BotError, match="unknown field `tile`"):
        suzaku.position("123m406p789s11z23z", tile="1z")
    (held,) = suzaku.hands("34067m345p3468s55z", 1, sampler="uniform")
    assert [sum(map(str.isdigit, hand)) for hand in held] == [13, 13, 13]


def run(folder: Path, program: str) -> str:
    """What a program in a folder with a ``game.py`` of its own prints on stderr."""
    (folder / "game.py").write_text("OWN = True")
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr


def test_a_module_of_the_users_with_the_name_of_a_package_is_named_and_the_library_works(
    tmp_path: Path,
) -> None:
    told = run(
        tmp_path,
        "import suzaku, sys; assert 'numpy' not in sys.modules; print(suzaku.shanten('19m19p19s1234567z'))",
    )
    assert f"UserWarning: {tmp_path / 'game.py'} has the name of Suzaku's package 'game'" in told
    assert "Error" not in told
    told = run(tmp_path, "import game, suzaku")
    assert (
        f"ImportError: {tmp_path / 'game.py'} has the name of Suzaku's package 'game', and was imported"
        in told
    )
