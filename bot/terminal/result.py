"""The result of a run, as JSON and as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from bot.logs.redaction import clean_text
from bot.player.tally import DecisionTally
from bot.tenhou.client.journal import GameResult, MissedGame
from bot.tenhou.game_types import describe
from game.events import Four, four

EXIT_DONE: Final = 0
EXIT_FAILED: Final = 1
EXIT_INTERRUPTED: Final = 130

_STATM: Final = Path("/proc/self/statm")
_NAME_WIDTH: Final = 16


class PlayedGame(msgspec.Struct, frozen=True):
    """One finished game.

    Attributes:
        game_id: id of its record.
        type: number of the game type.
        names: names of the players, absolute.
        player: our absolute number.
        placement: our place.
        placements: places by player.
        scores: final points by player.
        results: final results by player, uma and oka included, in points of a thousand.
        rounds: number of rounds dealt.
        record: path of the mjlog file, null if it could not be written anywhere.
        rss_mb: resident size of this process after the game in MiB, null if the system does not report it.
    """

    game_id: str
    type: int
    names: tuple[str, str, str, str]
    player: int
    placement: int
    placements: Four
    scores: Four
    results: tuple[float, float, float, float]
    rounds: int
    record: str | None
    rss_mb: float | None


class DecisionFigures(msgspec.Struct, frozen=True):
    """All decisions of a run; latency is from frame received to reply sent, without deliberate delays.

    Attributes:
        count: prompts answered.
        p50_ms: median latency.
        p99_ms: 99th percentile of it.
        fallbacks: those answered by the rules instead of the policy.
        late: those late.
        improved: decisions that adaptation or a search took part in.
        changed: those of them in which the policy alone would have done something else.
    """

    count: int
    p50_ms: float
    p99_ms: float
    fallbacks: int
    late: int
    improved: int = 0
    changed: int = 0


class RunResult(msgspec.Struct, frozen=True):
    """The output of `suzaku play --json`.

    Attributes:
        games: in order.
        decisions: decisions of all games.
        average_placement: over the games, null without games.
        first_move_s: from the start of the program to the first decision, null without decisions.
        missed: games whose end we did not see; their results are unknown.
        unfinished: id of the game that was running when the run ended, null without one.
        failure: why the run could not continue, null if it could.
        rescued: paths of records that could not be written to `records.folder`.
        lost: ids of games whose record or decisions could not be written anywhere.
        unwritten: a text about these two, empty without any.
        interrupted: the run was stopped before all its games were played.
    """

    games: tuple[PlayedGame, ...]
    decisions: DecisionFigures
    average_placement: float | None
    first_move_s: float | None
    missed: tuple[MissedGame, ...]
    interrupted: bool
    unfinished: str | None = None
    failure: str | None = None
    rescued: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    unwritten: str = ""

    @property
    def exit_code(self) -> int:
        """0 done, 1 failed, 130 interrupted; a missed or unwritten game is a failure."""
        if self.failure is not None or self.missed or self.unwritten:
            return EXIT_FAILED
        return EXIT_INTERRUPTED if self.interrupted else EXIT_DONE


def played_game(
    result: GameResult, names: Sequence[str], rss_mb: float | None, late: Path | None = None
) -> PlayedGame:
    """One game as the result shows it; ``late`` is the path of its record if it was not written at once."""
    record = result.record or late
    return PlayedGame(
        game_id=result.game_id,
        type=result.game_type,
        names=four(map(clean_text, names)),
        player=result.player,
        placement=result.placement,
        placements=result.placements,
        scores=result.scores,
        results=four(tenths / 10 for tenths in result.results),
        rounds=result.rounds,
        record=None if record is None else str(record),
        rss_mb=rss_mb,
    )


def decisions_of(tally: DecisionTally) -> DecisionFigures:
    """The counts as the result shows them."""
    return DecisionFigures(
        count=tally.decisions,
        p50_ms=round(tally.percentile_ms(50), 3),
        p99_ms=round(tally.percentile_ms(99), 3),
        fallbacks=tally.fallbacks,
        late=tally.late,
        improved=tally.improved,
        changed=tally.changed,
    )


def resident_mb() -> float | None:
    """Resident size of this process in MiB, None if the system does not report it."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return None
    import resource  # noqa: PLC0415 - not on every system, but on those with /proc

    return round(pages * resource.getpagesize() / 2**20, 1)


def standings_text(game: PlayedGame) -> str:
    """Final standings of one game, best first."""
    lines = [f"{describe(game.type)}, {game.rounds} rounds, {game.game_id}"]
    for player in sorted(range(4), key=lambda p: game.placements[p]):
        name = f"{game.names[player] or f'player {player}':<{_NAME_WIDTH}}"
        ours = "  <- Suzaku" if player == game.player else ""
        points = f"{game.scores[player]:>7,}  {game.results[player]:>+6.1f}"
        lines.append(f"  {game.placements[player]}  {name} {points}{ours}")
    lines.append(f"  record: {game.record or 'not written, see the log'}")
    return "\n".join(lines)


def result_text(result: RunResult) -> str:
    """The whole run as text."""
    parts = [standings_text(game) for game in result.games]
    made = result.decisions
    parts.append(
        f"{len(result.games)} game{'s' if len(result.games) != 1 else ''}, {made.count} decisions: "
        f"p50 {made.p50_ms:.1f} ms, p99 {made.p99_ms:.1f} ms, "
        f"{made.fallbacks} fallbacks, {made.late} late"
        + (f"; {made.improved} with adaptation or search, {made.changed} changed" if made.improved else "")
        + (f"; average place {result.average_placement:.2f}" if len(result.games) > 1 else "")
        + ("; interrupted" if result.interrupted else "")
    )
    troubles = _troubles(result)
    if troubles:
        parts.append("\n".join(troubles))
    return "\n\n".join(parts)


def _troubles(result: RunResult) -> list[str]:
    """The problems of the run, one line each."""
    lines = [_missed_text(game) for game in result.missed]
    if result.unfinished is not None:
        why = "the bot left it" if result.failure is None else "the bot could not return to it"
        lines.append(f"game {result.unfinished} was not finished: {why}")
    if result.failure is not None:
        lines.append(f"stopped: {result.failure}")
    if result.unwritten:
        lines += result.unwritten.splitlines()
    return lines


def _missed_text(game: MissedGame) -> str:
    kept = f"\n  its record up to there: {game.record}" if game.record is not None else ""
    return f"game {game.game_id or 'with unknown id'} was missed: {game.why}{kept}"
