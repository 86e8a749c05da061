"""Combines reviews of many games into one index with total figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replays.review import grading, schema
from replays.review.report import Reviewer
from replays.tally import PlayerTally


def made_entry(review: schema.Review, name: str) -> schema.IndexEntry:
    """The entry of one review.

    Args:
        review: review of one game.
        name: name of its files, without suffixes.
    """
    return schema.IndexEntry(
        **grading.fields(review.summary),
        page=f"{name}.html",
        data=f"{name}.json",
        game=review.game,
        player=review.player,
        rates=review.summary.rates,
    )


def index_of(
    entries: Sequence[schema.IndexEntry],
    tallies: Sequence[PlayerTally],
    skipped: Sequence[schema.Skipped],
    reviewer: Reviewer,
    players: int,
) -> schema.ReviewIndex:
    """The index, ordered by date; games without a date come last.

    Args:
        entries: one per game.
        tallies: the reviewed player's counts in each game.
        skipped: records that could not be reviewed.
        reviewer: the reviewer used.
        players: number of different people reviewed.
    """
    ordered = sorted(entries, key=lambda entry: (entry.game.date is None, entry.game.date or "", entry.page))
    return schema.ReviewIndex(
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
            held.setdefault(entry.game.ranks[entry.player], []).append(entry)
    for rank, games in sorted(held.items()):
        yield schema.RankFigures(**grading.fields(grading.together(games)), rank=rank, games=len(games))


def _total(
    entries: Sequence[schema.IndexEntry], tallies: Sequence[PlayerTally], players: int
) -> schema.Total:
    places = [entry.game.places[entry.player] for entry in entries if entry.game.places is not None]
    first, second, third, fourth = (places.count(place) for place in (1, 2, 3, 4))
    return schema.Total(
        **grading.fields(grading.together(entries)),
        games=len(entries),
        players=players,
        rates=grading.rates_of(grading.added(tallies), sum(entry.rates.rounds for entry in entries)),
        places=(first, second, third, fourth),
        average_place=round(sum(places) / len(places), 3) if places else None,
    )
