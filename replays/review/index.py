"""Reviews of many games as one index with what they come to together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replays.review import grading, schema
from replays.review.report import Reviewer
from replays.tally import SeatTally


def made_entry(review: schema.Review, name: str) -> schema.IndexEntry:
    """The line of one review.

    Args:
        review: of one game.
        name: of its files, without their suffixes.
    """
    return schema.IndexEntry(
        **grading.fields(review.summary),
        page=f"{name}.html",
        data=f"{name}.json",
        game=review.game,
        seat=review.seat,
        rates=review.summary.rates,
    )


def index_of(
    entries: Sequence[schema.IndexEntry],
    tallies: Sequence[SeatTally],
    skipped: Sequence[schema.Skipped],
    reviewer: Reviewer,
    players: int,
) -> schema.Index:
    """The index, in the order of dates; games without one stand last.

    Args:
        entries: a line for each game.
        tallies: what the reviewed player's game came to, likewise.
        skipped: what could not be reviewed.
        reviewer: who did it.
        players: how many different people were reviewed.
    """
    ordered = sorted(entries, key=lambda entry: (entry.game.date is None, entry.game.date or "", entry.page))
    return schema.Index(
        program=reviewer.program,
        policy=reviewer.policy,
        thresholds=grading.THRESHOLDS,
        rating_definition=grading.RATING,
        games=tuple(ordered),
        skipped=tuple(skipped),
        ranks=tuple(_by_rank(entries)),
        total=_total(entries, tallies, players),
    )


def _by_rank(entries: Sequence[schema.IndexEntry]) -> Iterator[schema.RankFigures]:
    held: dict[int, list[schema.IndexEntry]] = {}
    for entry in entries:
        if entry.game.ranks is not None:
            held.setdefault(entry.game.ranks[entry.seat], []).append(entry)
    for rank, games in sorted(held.items()):
        yield schema.RankFigures(**grading.fields(grading.together(games)), rank=rank, games=len(games))


def _total(entries: Sequence[schema.IndexEntry], tallies: Sequence[SeatTally], players: int) -> schema.Total:
    places = [entry.game.places[entry.seat] for entry in entries if entry.game.places is not None]
    first, second, third, fourth = (places.count(place) for place in (1, 2, 3, 4))
    return schema.Total(
        **grading.fields(grading.together(entries)),
        games=len(entries),
        players=players,
        rates=grading.rates_of(grading.added(tallies), sum(entry.rates.rounds for entry in entries)),
        places=(first, second, third, fourth),
        average_place=round(sum(places) / len(places), 3) if places else None,
    )
