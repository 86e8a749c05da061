"""Tenhou's ranks (four players): rank points of the places, promotions, and the rank that chances lead to.

Source: Suphx, arXiv:2003.13590, table 6 (first and second places, of East games; a hanchan counts 1.5 times
as much) and appendix B (last places of 6-dan and 10-dan, of a hanchan). The ranks in between are public
knowledge about the rooms, not observed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from game.events import four
from game.scoring.settlement import START_SCORE, GameLength

Room: TypeAlias = Literal["tokujou", "houou"]

TENHOUI: Final = 20
"""Index of the rank above 10-dan, which is never lost."""

PROMOTION_POINTS: Final = (
    *(20, 20, 20, 20, 40, 60, 80, 100, 100, 100),  # newcomer, 9-kyu to 1-kyu
    *(400, 800, 1200, 1600, 2000, 2400, 2800, 3200, 3600, 4000),  # 1-dan to 10-dan
)
"""Points for promotion from each rank; a new dan starts with half of its own. Nothing is above `TENHOUI`."""

# Points of first and second place in an East game.
_TOP_PLACES: Final[dict[Room, tuple[int, int]]] = {
    "tokujou": (50, 20),
    "houou": (60, 30),
}
_SAFE_RANKS: Final = 7
"""Up to 3-kyu a last place costs nothing; above, 10 more for each rank in an East game."""


def rank_name(rank: int) -> str:
    """The name of a rank.

    >>> rank_name(0), rank_name(1), rank_name(16), rank_name(TENHOUI)
    ('newcomer', '9-kyu', '7-dan', 'Tenhoui')
    """
    if rank == TENHOUI:
        return "Tenhoui"
    if rank == 0:
        return "newcomer"
    return f"{rank - 9}-dan" if rank > 9 else f"{10 - rank}-kyu"


def rank_points(place: int, rank: int, room: Room, length: GameLength) -> int:
    """Rank points of a place 1–4.

    Args:
        place: 1–4.
        rank: dan index 0–20 as on the wire.
        room: the room.
        length: length of the game.

    >>> [rank_points(place, 16, "houou", "hanchan") for place in (1, 2, 3, 4)]
    [90, 45, 0, -135]
    """
    if rank >= TENHOUI:
        return 0
    first, second = _TOP_PLACES[room]
    last = -10 * max(0, rank - _SAFE_RANKS)
    points = (first, second, 0, last)[place - 1]
    return points * 3 // 2 if length == "hanchan" else points


Rewards: TypeAlias = tuple[float, float, float, float]
"""The rewards of the places of a game, first to fourth."""


def rewards_of(length: GameLength) -> Rewards:
    """The rank points of a 7-dan in the Phoenix room."""
    return four(float(rank_points(place, 16, "houou", length)) for place in (1, 2, 3, 4))


HANCHAN_REWARDS: Final = rewards_of("hanchan")
"""90, 45, 0 and -135: those of a 7-dan in the Phoenix room."""

UMA_PATTERN: Final = ",".join([r"([+-]?\d{1,4}(?:\.\d{1,2})?)"] * 4) + r"(?:@(\d{4,6}))?"
UMA_FORM: Final = "four numbers, such as 90,45,0,-135, or with the score 15,5,-5,-15@25000"


class Uma(msgspec.Struct, frozen=True):
    """What a finished game is worth to a player: by the place, or by place and score.

    Attributes:
        places: for first to fourth place.
        return_score: 0, or the score that is worth nothing; each thousand above it is worth 1, and first
            place also receives what the four players lack to it at the start (oka).
    """

    places: Rewards = HANCHAN_REWARDS
    return_score: int = 0

    def __str__(self) -> str:
        """As `parse_uma` takes it."""
        score = f"@{self.return_score}" if self.return_score else ""
        return ",".join(f"{each:g}" for each in self.places) + score

    @property
    def unit(self) -> str:
        """The unit of rewards, in words."""
        return "rank points" if self in (Uma(), Uma(rewards_of("tonpuu"))) else "uma"

    @property
    def by_place(self) -> npt.NDArray[np.float64]:
        """``[4]``: what the places are worth, with the oka."""
        oka = 4 * (self.return_score - START_SCORE) / 1_000 if self.return_score else 0.0
        first, *rest = self.places
        return np.array([first + oka, *rest])

    def of_scores(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """What scores are worth in addition."""
        return np.asarray((scores - self.return_score) / 1_000 * (self.return_score > 0), np.float64)


def parse_uma(text: str) -> Uma | None:
    """Read an uma as users write it, None for "".

    >>> parse_uma("20,10,-10,-20@30000").by_place.tolist()  # Tenhou's results
    [40.0, 10.0, -10.0, -20.0]

    Raises:
        ValueError: the text has another form.
    """
    if not text:
        return None
    match = re.fullmatch(UMA_PATTERN, text)
    if match is None:
        raise ValueError(f"found {text!r}, expected {UMA_FORM}")
    return Uma(four(map(float, match.groups()[:4])), int(match[5] or 0))


FIRST_DAN: Final = 10
"""Index of 1-dan."""
START: Final = FIRST_DAN + 3
"""4-dan, the lowest rank admitted to the room of the paper's games."""
GAMES: Final = 2_000
CLIMBERS: Final = 2_000

_GOALS: Final = np.array([*PROMOTION_POINTS, np.iinfo(np.int64).max])
_STARTS: Final = np.array(
    [goal // 2 if rank >= FIRST_DAN else 0 for rank, goal in enumerate(PROMOTION_POINTS)] + [0]
)
"""Points at the start of a new rank."""


class Ladder(msgspec.Struct, frozen=True):
    """Where climbers stand after many games in the tokujou room, that of the paper's games.

    Attributes:
        games: played by each climber, from 4-dan on.
        dan: average; Tenhoui counts as 11.
        first_quartile: a quarter of the climbers stand here or lower.
        third_quartile: a quarter stand here or higher.
        tenhoui: share of climbers above 10-dan.
        shares: shares of the climbers at each rank, from 1-dan to 10-dan, then Tenhoui.
    """

    games: int
    dan: float
    first_quartile: float
    third_quartile: float
    tenhoui: float
    shares: tuple[float, ...]


def stable_rank(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """``[..., 4]`` counts of the places to the stable rank, by the formula Tenhou's players use.

    Source: Suphx, arXiv:2003.13590, appendix C, equation 7: ``(5 n1 + 2 n2) / n4 - 2``, from the rank
    points of the room of the paper's games.

    >>> float(stable_rank(np.array([30.0, 25.0, 25.0, 20.0])))
    8.0
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        rank: npt.NDArray[np.float64] = (5.0 * counts[..., 0] + 2.0 * counts[..., 1]) / counts[..., 3] - 2.0
    return rank


def climb(
    counts: npt.NDArray[np.float64], length: GameLength, *, games: int = GAMES, climbers: int = CLIMBERS
) -> Ladder:
    """Simulate climbers whose places follow the counted frequencies.

    In this simplification no player falls below 1-dan: dan is no measure of players who could.

    Args:
        counts: ``[N, 4]`` counts of the places; each climber uses one row, so that resampled counts carry
            their uncertainty into the spread of the climbers.
        length: length of the games.
        games: per climber.
        climbers: how many.
    """
    rng = np.random.default_rng(0)
    chances = counts[np.arange(climbers) % len(counts)]
    first, second, third, _ = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1).T
    gains = _gains(length).ravel()
    ranks = np.full(climbers, START, dtype=np.int64)
    points = _STARTS[ranks]
    goals, rows = _GOALS[ranks], 4 * ranks
    for _ in range(games):
        luck = rng.random(climbers)
        at = rows + (luck >= first)
        at += luck >= second
        at += luck >= third
        points += gains.take(at)
        up = points >= goals
        moved = np.flatnonzero(up | (points < 0))
        if moved.size:
            now = np.maximum(ranks[moved] + np.where(up[moved], 1, -1), FIRST_DAN)
            ranks[moved], rows[moved], goals[moved], points[moved] = now, 4 * now, _GOALS[now], _STARTS[now]
    dans = ranks - FIRST_DAN + 1
    low, high = np.quantile(dans, (0.25, 0.75))
    shares = np.bincount(dans, minlength=TENHOUI - FIRST_DAN + 2)[1:] / climbers
    return Ladder(
        games=games,
        dan=float(dans.mean()),
        first_quartile=float(low),
        third_quartile=float(high),
        tenhoui=float(shares[-1]),
        shares=tuple(shares.tolist()),
    )


def climb_from(places: Sequence[int], length: GameLength, *, climbers: int = CLIMBERS) -> Ladder:
    """Simulate climbers of whom only these places are known.

    Each climber's chances are drawn from the posterior given the places, under a uniform prior (a Dirichlet
    distribution): a few games say little, and the climbers spread widely.

    Args:
        places: counts of first to fourth place.
        length: length of the games.
        climbers: how many.
    """
    drawn = np.random.default_rng((0, *places)).dirichlet(np.add(places, 1.0), climbers)
    return climb(drawn, length, climbers=climbers)


def _gains(length: GameLength) -> npt.NDArray[np.int64]:
    """``[ranks, 4]``: points for each place."""
    return np.array(
        [
            [rank_points(place, rank, "tokujou", length) for place in (1, 2, 3, 4)]
            for rank in range(TENHOUI + 1)
        ]
    )
