"""Checks that a round was dealt from the wall of its seed."""

from __future__ import annotations

from collections.abc import Iterator

from learning.corpus.rounds import RecordedRound
from replays.wall import Wall


def wall_findings(played: RecordedRound, wall: Wall, dice: tuple[int, int]) -> Iterator[tuple[int, str]]:
    """Compare deal, draws, indicators and dice with a wall: discards before each difference, and its text."""
    start = played.start
    if dice != wall.dice:
        yield 0, f"dice {dice} in the record, {wall.dice} from the seed"
    for player, (theirs, ours) in enumerate(zip(start.hands, wall.hands(start.dealer), strict=True)):
        if theirs != ours:
            yield 0, f"player {player} is dealt {theirs}, {ours} from the seed"
    for replacement, drawn, tiles in (
        (False, played.live, wall.draws),
        (True, played.replacements, wall.replacements),
    ):
        number = _first_difference(drawn, tiles)
        if number is not None:
            what = "replacement" if replacement else "draw"
            due = tiles[number] if number < len(tiles) else "none"
            turn = played.turn_of_draw(number, replacement=replacement)
            yield turn, f"{what} {number + 1} is {drawn[number]}, {due} from the seed"
    number = _first_difference(played.indicators, wall.indicators)
    if number is not None:
        yield played.turns, f"indicators {played.indicators} in the record, {wall.indicators} from the seed"
    for win in played.wins:
        if win.ura_indicators and win.ura_indicators != wall.ura_indicators[: len(win.ura_indicators)]:
            yield played.turns, f"ura {win.ura_indicators} in the record, {wall.ura_indicators} from the seed"


def _first_difference(theirs: list[int], ours: tuple[int, ...]) -> int | None:
    if tuple(theirs) == ours[: len(theirs)]:
        return None
    return next((n for n, tile in enumerate(theirs) if n >= len(ours) or tile != ours[n]), None)
