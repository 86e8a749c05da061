"""Plans, and rows of games that were never played."""

from __future__ import annotations

import pytest

from game.table.table import Table
from learning.selfplay.arena.plan import ArenaPlan, Mode
from learning.selfplay.players import Contender
from learning.selfplay.series import GameRow
from replays.tally import PlayerTally

HEURISTIC = Contender("heuristic", "heuristic")
RANDOM = Contender("random", "random")


def a_plan(sets: int = 2, *, mode: Mode = "1v3", seed: int = 0) -> ArenaPlan:
    return ArenaPlan(
        challenger=HEURISTIC, champions=RANDOM, sets=sets, seed=seed, mode=mode, length="tonpuu", tables=8
    )


def a_row(plan: ArenaPlan, number: int, place: int, *, crash: str = "") -> GameRow:
    """Game ``number``, in which the first of the challenger's seats took ``place``."""
    seating = plan.seating(number)
    mine = seating.players.index(0)
    others = iter(other for other in (1, 2, 3, 4) if other != place)
    places = tuple(place if seat == mine else next(others) for seat in range(4))
    return GameRow(
        number=number,
        seed=seating.seed,
        players=seating.players,
        scores=(0, 0, 0, 0),
        places=places,
        results=tuple(500 - 250 * (each - 1) for each in places),
        rounds=4,
        tallies=tuple(
            PlayerTally(
                decisions=50,
                faults=int(each == 4),
                wins=2 if each == 1 else 0,
                won_points=7000 if each == 1 else 0,
                deal_ins=int(each == 4),
                lost_points=5000 if each == 4 else 0,
                draws=2,
                tenpai_draws=1,
            )
            for each in places
        ),
        fault="E1-0 turn 3 player 0: too late" if number == 1 else "",
        crash=crash,
    )


def break_table(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Let the game of a seed crash after sixty events."""
    step = Table.step

    def fail(self: Table, actions: object) -> object:
        if self.seed == seed and len(self.events) > 60:
            raise RuntimeError("the table broke")
        return step(self, actions)  # type: ignore[arg-type]

    monkeypatch.setattr(Table, "step", fail)
