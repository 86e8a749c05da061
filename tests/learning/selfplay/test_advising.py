"""Reviews by an external engine: our own behind a pipe, and engines that do not answer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kit.errors import ConfigError, EngineUnusable
from learning.selfplay.advising import EngineAdviser
from replays.review.report import Reviewer, length_of
from replays.review.schema import ReviewDecision
from tests.learning.selfplay.engine_players import engine_text
from tests.replays.review.made import of_whole, whole

PLAYER = 1
LENGTH = length_of(whole().game_type)


def reviewed(text: str) -> tuple[ReviewDecision, ...]:
    return Reviewer("suzaku test", EngineAdviser(text), None).review(whole(), PLAYER).decisions


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["engine", "engine-lines --answers every"])
def test_our_engine_gives_the_review_of_its_policy(dialect: str) -> None:
    prefix, _, flags = dialect.partition(" ")
    command = f"{sys.executable} -m bot.cli engine --policy heuristic --type {LENGTH} {flags}"
    found, expected = reviewed(f"{prefix}:{command}"), of_whole(PLAYER).decisions
    assert len(found) == len(expected) > 50
    assert [each.preferred for each in found] == [each.preferred for each in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.ratio == pytest.approx(other.ratio, abs=0.02)


def test_an_engine_without_meta_is_certain_of_its_choice(tmp_path: Path) -> None:
    decisions = reviewed(engine_text(tmp_path))
    assert {each.preferred.kind for each in decisions} == {"discard", "pass"}
    assert {option.probability for each in decisions for option in each.options} == {0.0, 1.0}


def test_an_engine_that_never_answers_ends_the_review(tmp_path: Path) -> None:
    with pytest.raises(EngineUnusable, match="never answered"):
        reviewed(engine_text(tmp_path, "garble"))


def test_what_cannot_review_is_refused() -> None:
    with pytest.raises(ConfigError, match="answers every line; use engine: or engine-lines:"):
        EngineAdviser(f"engine-asked:{sys.executable}")
    with pytest.raises(ConfigError, match="there is no program"):
        EngineAdviser("engine:no-such-program-anywhere")
