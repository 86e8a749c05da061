"""Caveats about a record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from game.events import EndGame, StartRound, Win
from policies.heuristic.player import HeuristicPolicy
from policies.play.named import Named
from replays.formats import read_game
from replays.record import GameRecord
from replays.review.report import Reviewer, caveats_of
from tests.replays.games import whole_game

FILES = Path(__file__).parents[1] / "files" / "ok"


def changed(**fields: Any) -> GameRecord:
    """A usual game with changes to the deal of its first round."""
    game = whole_game()
    first = next(place for place, event in enumerate(game.events) if isinstance(event, StartRound))
    events = list(game.events)
    events[first] = msgspec.structs.replace(events[first], **fields)
    return msgspec.structs.replace(game, events=tuple(events))


def ended_with(*results: int) -> GameRecord:
    game = whole_game()
    ending = game.ending
    other = EndGame(ending.scores, (results[0], results[1], results[2], results[3]))
    return msgspec.structs.replace(game, events=(*game.events[:-1], other))


def keys(game: GameRecord) -> list[str]:
    return [each.key for each in caveats_of(game, anonymous=False)]


def test_a_usual_game_has_none() -> None:
    assert keys(whole_game()) == []


def test_a_record_may_begin_late_or_stop_early() -> None:
    (part,) = caveats_of(changed(round_index=5, honba=2, dealer=1), anonymous=False)
    assert (part.key, part.params.round_index, part.params.honba) == ("part", 5, 2)
    game = whole_game()
    assert keys(msgspec.structs.replace(game, events=game.events[:-1])) == ["cut"]


def test_points_at_the_start_and_results_may_be_others() -> None:
    (scores,) = caveats_of(changed(scores=(30000,) * 4), anonymous=False)
    assert (scores.key, scores.params.scores) == ("start_scores", (30000,) * 4)
    ending = whole_game().ending
    assert keys(ended_with(*(result + 150 for result in ending.results))) == ["results"]
    rounded = [10 * round(result / 10) for result in ending.results]
    assert keys(ended_with(*rounded)) == []  # as in records of 2009


def test_an_anonymous_review_does_not_name_the_lobby() -> None:
    game = msgspec.structs.replace(whole_game(), lobby=7447)
    assert [each.params.lobby for each in caveats_of(game, anonymous=False)] == [7447]
    assert [(each.key, each.params.lobby) for each in caveats_of(game, anonymous=True)] == [("lobby", 0)]


def test_wins_may_be_paid_by_other_rules() -> None:
    game = whole_game()
    place = next(place for place, event in enumerate(game.events) if isinstance(event, Win))
    events = list(game.events)
    events[place] = msgspec.structs.replace(events[place], points=events[place].points + 100)
    assert keys(msgspec.structs.replace(game, events=tuple(events))) == ["values"]


@pytest.mark.parametrize(
    ("name", "caveats"),
    [
        ("mjai-noten-riichi.jsonl", ["forbidden"]),
        ("tenhou6-local-yaku.json", ["cut", "rules_unsaid", "values"]),
        ("mjai-bare-draw.jsonl", []),
    ],
)
def test_what_the_rules_forbid_is_said(name: str, caveats: list[str]) -> None:
    assert keys(read_game(FILES / name)) == caveats


def test_what_a_record_does_not_say_is_null_in_the_review() -> None:
    record = read_game(FILES / "mjai-hidden-draw.jsonl")
    made = Reviewer("test", Named("heuristic", "", HeuristicPolicy()), None).review(record, 1)
    result = made.rounds[0].result
    assert (result.deltas, result.scores, result.tenpai) == (None, None, None)
    assert (made.game.scores, made.game.results, made.summary.rounds[0].delta) == (None, None, None)
