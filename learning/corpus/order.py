"""Whether one round follows from another, and the end of the game from the last.

Older games followed other rules; differences due to those alone are named here and counted separately.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

import numpy as np

from game.events import EndGame, Four
from game.scoring.settlement import (
    RETURN_SCORE,
    START_SCORE,
    UMA_TENTHS,
    GameLength,
    final_results,
    final_scores,
    game_over,
    next_round,
    placements,
)
from learning.corpus.rounds import RecordedRound

Oddity: TypeAlias = Literal["", "no_tenpai_yame", "east_into_west", "whole_results", "small_uma"]

ODDITIES: Final[dict[Oddity, str]] = {
    "no_tenpai_yame": "until June 2010 a dealer leading in the last round ended the game by winning, "
    "not by being tenpai",
    "east_into_west": "in March 2009 an East game without 30,000 points continued after South 4",
    "whole_results": "until 2022 results were whole numbers: the other players' scores rounded to the "
    "nearest thousand, the rest to first place",
    "small_uma": "until July 2009 the uma of an East game was 10, 5, -5 and -10 points",
}
"""Rules in older records that Tenhou no longer has."""

_SMALL_UMA_TENTHS: Final = (100, 50, -50, -100)
_ABORTS: Final = ("nine_terminals", "four_winds", "four_riichi", "triple_ron", "four_kans")


class Outcome:
    """How a round left the table.

    Attributes:
        scores: after it, without the sticks on the table.
        sticks: left on the table.
        won: whether the round was won.
        aborted: whether the round was aborted.
        dealer_repeats: whether the same player deals again.
    """

    def __init__(self, played: RecordedRound, before: np.void, after: np.void) -> None:
        dealer = played.start.dealer
        self.played = played
        self.scores: tuple[int, ...] = tuple(after["scores"].tolist())
        self.sticks = int(after["riichi_sticks"])
        self.won = bool(played.wins)
        self.aborted = played.drawn is not None and played.drawn.reason in _ABORTS
        if self.won:
            self.dealer_repeats = any(win.player == dealer for win in played.wins)
        else:
            self.dealer_repeats = self.aborted or bool(before["waits"][dealer])

    def ends_game(self, length: GameLength) -> bool:
        """Whether the game is over by today's rules."""
        return game_over(
            self.played.start.round_index, self.dealer_repeats, self.scores, length, aborted=self.aborted
        )

    def is_tenpai_yame(self, length: GameLength) -> bool:
        """Whether the game ends only because the leading dealer is tenpai."""
        return not self.won and self.dealer_repeats and min(self.scores) >= 0 and self.ends_game(length)

    def is_end_of_south(self, length: GameLength) -> bool:
        """Whether an East game ends only because South 4 is over."""
        return (
            length == "tonpuu"
            and self.played.start.round_index == 7
            and min(self.scores) >= 0
            and (max(self.scores) < RETURN_SCORE and not self.dealer_repeats)
        )


def start_findings(played: RecordedRound, last: Outcome | None) -> Iterator[str]:
    """Compare a deal with what should follow from the previous round, if any."""
    start = played.start
    index, honba, sticks = 0, 0, 0
    scores: tuple[int, ...] = (START_SCORE,) * 4
    if last is not None:
        before = last.played.start
        index, honba = next_round(
            before.round_index, before.honba, dealer_repeats=last.dealer_repeats, won=last.won
        )
        scores, sticks = last.scores, last.sticks
    for field, theirs, ours in (
        ("round", start.round_index, index),
        ("honba", start.honba, honba),
        ("sticks", start.riichi_sticks, sticks),
        ("scores", start.scores, scores),
    ):
        if theirs != ours:
            yield f"begins with {field} {theirs}, {ours} by our rules"


def went_on(last: Outcome, length: GameLength, year: int) -> Iterator[tuple[str, Oddity]]:
    """Report a round that should have ended the game although another was dealt."""
    if not last.ends_game(length):
        return
    oddity: Oddity = ""
    if year <= 2010 and last.is_tenpai_yame(length):
        oddity = "no_tenpai_yame"
    elif year <= 2009 and last.is_end_of_south(length):
        oddity = "east_into_west"
    yield f"the game went on with {last.scores}", oddity


def end_findings(last: Outcome, end: EndGame, length: GameLength, year: int) -> Iterator[tuple[str, Oddity]]:
    """Compare the end of a game with what follows from its last round.

    Args:
        last: the last round.
        end: end of the record.
        length: length of the game.
        year: year it was played in, 0 if unknown.
    """
    if not last.ends_game(length):
        yield f"the game ended with {last.scores}", ""
    scores = final_scores(last.scores, last.sticks)
    if end.scores != scores:
        yield f"final scores {end.scores} in the record, {scores} by our rules", ""
    results = final_results(scores)
    if end.results != results:
        text = f"results {end.results} in the record, {results} by our rules"
        yield text, _old_results(end.results, scores, length, year)


def _old_results(theirs: Four, scores: Four, length: GameLength, year: int) -> Oddity:
    if year > 2022:
        return ""
    if theirs == whole_results(scores):
        return "whole_results"
    small = length == "tonpuu" and year <= 2009 and theirs == whole_results(scores, _SMALL_UMA_TENTHS)
    return "small_uma" if small else ""


def whole_results(scores: Four, uma_tenths: Four = UMA_TENTHS) -> Four:
    """Results in tenths as they were until 2022: whole points, with the rounding remainder to first place.

    >>> whole_results((41_500, 27_500, -500, 31_500))
    (510, -120, -510, 120)
    """
    places = placements(scores)
    results = [
        10 * (_thousands(score) - RETURN_SCORE // 1000) + uma_tenths[place - 1]
        for score, place in zip(scores, places, strict=True)
    ]
    results[places.index(1)] -= sum(results)
    a, b, c, d = results
    return a, b, c, d


def _thousands(score: int) -> int:
    """The nearest number of thousands; halves round away from zero."""
    return (abs(score) + 500) // 1000 * (1 if score >= 0 else -1)
