"""Rows of games: compared with counts by hand, and with the events of whole games."""

from __future__ import annotations

from game.events import Chi, DrawnRound, Four, GameEvent, Pon, Riichi, StartRound, Win
from game.scoring.settlement import placements
from learning.selfplay.series import row_of
from policies.play.named import RandomPolicy
from policies.play.rollout import Fault, FinishedGame, PolicyChooser, Rollout, Seating
from replays.tally import tally


def start() -> StartRound:
    hands = ((0,) * 13, (1,) * 13, (2,) * 13, (3,) * 13)
    return StartRound(0, 0, 0, 0, (25000,) * 4, 135, hands)


def win(player: int, source: int, deltas: Four) -> Win:
    return Win(player, source, 0, (), 30, 0, 0, (), (), (), -1, deltas, 0, 0)


def test_calls_and_riichi_count_once_a_round() -> None:
    seats, rounds = tally(
        [start(), Chi(1, 0, 4, (8, 12)), Pon(1, 2, 4, (5, 6)), Riichi(2), start(), Riichi(2)]
    )
    assert rounds == 2
    assert [seat.calls for seat in seats] == [0, 1, 0, 0]
    assert [seat.riichi for seat in seats] == [0, 0, 2, 0]


def test_wins_and_losses() -> None:
    seats, _ = tally(
        [
            start(),
            win(1, 1, (-4000, 8000, -2000, -2000)),
            start(),
            win(2, 3, (0, 0, 5200, -5200)),
            win(0, 3, (2000, 0, 0, -2000)),
        ]
    )
    assert [seat.wins for seat in seats] == [1, 1, 1, 0]
    assert [seat.tsumo for seat in seats] == [0, 1, 0, 0]
    assert [seat.won_points for seat in seats] == [2000, 8000, 5200, 0]
    assert [seat.deal_ins for seat in seats] == [0, 0, 0, 1]  # one tile, two winners
    assert [seat.lost_points for seat in seats] == [0, 0, 0, 7200]


def test_only_rounds_that_ran_out_of_tiles_are_draws() -> None:
    shown = ((), None, None, None)
    events: list[GameEvent] = [start(), DrawnRound("exhaustive", (3000, -1000, -1000, -1000), shown)]
    seats, _ = tally([*events, start(), DrawnRound("nine_terminals", (0, 0, 0, 0), shown)])
    assert [seat.draws for seat in seats] == [1, 1, 1, 1]
    assert [seat.tenpai_draws for seat in seats] == [1, 0, 0, 0]


def test_the_row_of_a_whole_game() -> None:
    rollout = Rollout([PolicyChooser(RandomPolicy())], length="tonpuu")
    for played in rollout.play([Seating(number, number, (0, 0, 0, 0)) for number in range(4)]):
        row = row_of(played)
        ending = played.events[-1]
        assert (row.scores, row.results, row.places) == (
            ending.scores,
            ending.results,
            placements(ending.scores),
        )
        wins = [event for event in played.events if isinstance(event, Win)]
        assert sum(seat.wins for seat in row.tallies) == len(wins)
        assert sum(seat.won_points for seat in row.tallies) == sum(w.deltas[w.player] for w in wins)
        assert tuple(seat.decisions for seat in row.tallies) == played.decisions
        assert row.rounds == sum(isinstance(event, StartRound) for event in played.events)
        assert (row.fault, row.crash) == ("", "")


def test_faults_and_crashes_are_in_the_row() -> None:
    faults = (Fault(2, 4, 1, 7, "too late"), Fault(2, 4, 1, 9, "again"))
    row = row_of(FinishedGame(Seating(3, 9, (0, 1, 1, 1)), (start(),), (1, 2, 3, 4), faults, "it broke"))
    assert [seat.faults for seat in row.tallies] == [0, 0, 2, 0]
    assert row.fault == "S1-1 turn 7 player 2: too late"
    assert (row.places, row.crash, row.seed) == ((0, 0, 0, 0), "it broke", 9)
