from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from kit.errors import ConfigError
from learning.runs.store import RESULTS_FILE, Store, compute_for, tables_in
from learning.selfplay.arena.plan import SEATS, ArenaPlan, Mode, sets_for
from learning.selfplay.series import GameRow
from policies.nets.compute import Compute
from tests.learning.selfplay.arena.made_up import a_plan


def test_the_games_of_a_set_share_their_walls_and_use_every_seating_once() -> None:
    plan = a_plan(sets=3)
    games = [plan.seating(number) for number in range(plan.games)]
    assert len({game.seed for game in games}) == 3
    for first in range(0, 12, 4):
        assert len({game.seed for game in games[first : first + 4]}) == 1
        assert [game.players.index(0) for game in games[first : first + 4]] == [0, 1, 2, 3]
        assert all(sum(game.players) == 3 for game in games[first : first + 4])


def test_two_against_two_sit_in_every_way_there_is() -> None:
    plan = a_plan(sets=1, mode="2v2")
    seats = [plan.seating(number).players for number in range(plan.games)]
    assert len(set(seats)) == 6
    assert {sum(players) for players in seats} == {2}
    for seat in range(4):
        assert Counter(players[seat] for players in seats) == {0: 3, 1: 3}


@pytest.mark.parametrize("mode", ["1v3", "2v2"])
def test_independent_games_have_walls_of_their_own_and_use_every_seating(mode: Mode) -> None:
    sets = sets_for(95, mode, independent=True)
    plan = msgspec.structs.replace(a_plan(sets, mode=mode), independent=True)
    assert plan.games == sets == 96
    games = [plan.seating(number) for number in range(96)]
    assert len({game.seed for game in games}) == 96
    seated = Counter(game.players for game in games)
    assert dict.fromkeys(SEATS[mode], 96 // len(SEATS[mode])) == seated
    assert [number for block in range(plan.blocks) for number in plan.numbers(block)] == list(range(96))
    assert plan.identity != a_plan(sets, mode=mode).identity


def test_a_player_against_itself_is_cautioned_unless_walls_are_independent() -> None:
    plan = a_plan()
    assert not plan.caution
    same = msgspec.structs.replace(plan, champions=plan.challenger)
    assert "--independent" in same.caution
    assert not msgspec.structs.replace(same, independent=True).caution


@pytest.mark.parametrize("mode", ["1v3", "2v2"])
def test_every_game_is_in_one_block_with_its_whole_set(mode: str) -> None:
    plan = msgspec.structs.replace(a_plan(sets=37), mode=mode)
    numbers = [number for block in range(plan.blocks) for number in plan.numbers(block)]
    assert numbers == list(range(plan.games))
    for block in range(plan.blocks):
        assert len(plan.numbers(block)) % plan.set_games == 0
    assert len(plan.numbers(0)) <= 64


def test_a_plan_of_an_earlier_version_computed_four_rows_in_fp32() -> None:
    fields = msgspec.json.decode(msgspec.json.encode(a_plan()))
    del fields["compute"]
    assert msgspec.convert(fields, ArenaPlan).compute == Compute("cpu", "fp32", 4)


def test_a_resumed_run_computes_as_its_first_games_did(tmp_path: Path) -> None:
    assert compute_for(None, "cpu", "fp32") == compute_for(tmp_path, "cpu", "fp32") == Compute(rows=32)
    begun = msgspec.structs.replace(a_plan(), compute=Compute(precision="bf16", rows=32))
    Store(begun, GameRow, tmp_path).close()
    assert compute_for(tmp_path, "cpu", "auto") == compute_for(tmp_path, "cpu", "bf16") == begun.compute
    asked = msgspec.structs.replace(begun, compute=compute_for(tmp_path, "cpu", "fp32"))
    with pytest.raises(ConfigError, match="--precision bf16, not fp32"):
        Store(asked, GameRow, tmp_path)
    for flags in (("gpu", "auto"), ("cpu", "fp16")):
        with pytest.raises(ConfigError, match="expected auto, "):
            compute_for(tmp_path, *flags)


def test_a_resumed_run_goes_on_with_as_many_tables(tmp_path: Path) -> None:
    """Another number plays the same games, but the plan in the folder names the first one."""
    assert tables_in(None) is tables_in(tmp_path) is None
    Store(msgspec.structs.replace(a_plan(), tables=24), GameRow, tmp_path).close()
    assert tables_in(tmp_path) == 24
    (tmp_path / RESULTS_FILE).write_bytes(b"torn")
    assert tables_in(tmp_path) is None


def test_a_gpu_that_is_not_there_is_no_device_for_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ConfigError, match="--device: torch finds no GPU it can use; use --device auto"):
        compute_for(None, "cuda", "auto")
    assert compute_for(None, "auto", "fp32") == Compute(rows=32)
