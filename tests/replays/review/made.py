"""Reviews of made-up rounds and of whole games, by scripted policies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec

from game.events import DrawnRound, EndRound, GameEvent, StartGame
from policies.checkpoint.store import load_predictor
from policies.flow.slots import Policy
from policies.heuristic.player import HeuristicPolicy
from policies.play.included import SHIPPED
from policies.play.named import Named
from policies.reward.predictor import Predictor
from replays.record import GameRecord
from replays.review.moments import FollowedGame, follow
from replays.review.report import Reviewer
from replays.review.schema import Review, ReviewDecision
from tests.replays.games import whole_game
from tests.scene import Scene

HANCHAN = 9


@cache
def whole() -> GameRecord:
    return whole_game()


@cache
def first_round() -> GameRecord:
    """The same game, cut short after its first round."""
    events = whole().events
    end = next(place for place, event in enumerate(events) if isinstance(event, EndRound))
    return msgspec.structs.replace(whole(), events=events[: end + 1])


@cache
def predictor() -> Predictor:
    return load_predictor(SHIPPED)


def named(policy: Policy | None = None) -> Named:
    return Named("heuristic", "heuristic", policy or HeuristicPolicy())


def reviewer(policy: Policy | None = None, other: Policy | None = None) -> Reviewer:
    return Reviewer("suzaku test", named(policy), predictor(), named(other) if other else None)


def reviewed(record: GameRecord, seat: int, policy: Policy | None = None) -> Review:
    return reviewer(policy).review(record, seat)


@cache
def of_whole(seat: int, *, all_seats: bool = False) -> Review:
    """A review of the whole game by the policy that played it."""
    return reviewer().review(whole(), seat, all_seats=all_seats)


@cache
def of_first_round(seat: int) -> Review:
    """The same of its first round."""
    return reviewed(first_round(), seat)


def events_of(scene: Scene, *onward: GameEvent) -> list[GameEvent]:
    return [StartGame(), *scene.events, *onward]


def drawn(reason: str = "exhaustive") -> Sequence[GameEvent]:
    return DrawnRound(reason, (0, 0, 0, 0)), EndRound()  # type: ignore[arg-type]


def record_of(scene: Scene, *onward: GameEvent) -> GameRecord:
    return GameRecord(
        game_id="2026010203gm-0009-0000-0123abcd",
        game_type=HANCHAN,
        names=("a", "b", "c", "d"),
        events=tuple(events_of(scene, *onward)),
    )


def followed(scene: Scene, *onward: GameEvent) -> FollowedGame:
    return follow(events_of(scene, *onward), 0, "hanchan")


def decided(scene: Scene, policy: Policy | None = None) -> ReviewDecision:
    """The last decision of player 0 in a scene."""
    return reviewed(record_of(scene), 0, policy).decisions[-1]
