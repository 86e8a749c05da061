"""`suzaku eval deals`: measures in worker processes, keeps every game, reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from game.errors import ConfigError
from learning.matches.measuring import Measurement, MeasurementReport
from learning.matches.statistics import Estimate
from learning.worlds.figures import CHOSEN_BY, ChoiceFigures, WorldsFigures, figures_of
from learning.worlds.plan import GameWorlds, WorldsPlan
from learning.worlds.playing import WorldsSetup, judge_of_games
from policies.checkpoint import files_of
from policies.compute import IN_PLAY, Compute
from policies.deals.named import models_of, settings_of
from policies.named import files_of_named, folder_of_named, load_named

_LEAST_WALLS: Final = 4
"""Walls by which the noise of a mean over them can be told."""


def make_plan(
    *,
    policy: str,
    samplers: Sequence[str],
    games: int,
    per_game: int,
    close: float,
    worlds: int,
    seed: int,
    play: bool = True,
    final: bool = False,
    from_go_around: int = 0,
    walls: int = 0,
    compute: Compute = IN_PLAY,
) -> WorldsPlan:
    """Check what is asked for.

    Raises:
        ConfigError: a sampler or the policy does not exist, or has no reward predictor and needs one;
            or there are too few walls.
        CheckpointError: the policy's checkpoints cannot be used.
    """
    if 0 < walls < _LEAST_WALLS:
        raise ConfigError(f"walls: {walls} are too few to judge by; give at least {_LEAST_WALLS}, or 0")
    settings = tuple(settings_of(text) for text in samplers)
    identity = load_named(policy).identity
    if final:
        folder_of_named(policy)
    return WorldsPlan(
        policy=policy,
        identity=identity,
        samplers=tuple(samplers),
        settings=settings,
        models=models_of(settings),
        games=games,
        per_game=per_game,
        close=close,
        worlds=worlds,
        seed=seed,
        play=play,
        final=final,
        from_go_around=from_go_around,
        walls=walls,
        compute=compute,
    )


def measure(
    plan: WorldsPlan, folder: Path | None, *, workers: int | None, quiet: bool
) -> MeasurementReport[WorldsPlan, WorldsFigures]:
    """Measure the games that are missing, and report on all; see `Measurement.run`."""
    predictor = files_of(folder_of_named(plan.policy), ("reward",)) if plan.final else None
    setup = WorldsSetup(plan, files_of_named(plan.policy), predictor)
    return DEALS.run(plan, plan.games, judge_of_games, setup, folder, workers=workers, quiet=quiet)


def _figures(plan: WorldsPlan, rows: Sequence[GameWorlds]) -> WorldsFigures:
    if not any(row.decisions for row in rows):
        raise ConfigError("no decision of these games is close; give more --games or a lower --close")
    return figures_of(plan, rows)


def _lines(plan: WorldsPlan, found: WorldsFigures) -> list[str]:
    lines = [
        f"{found.decisions} close decisions of {found.games} games ({found.close:.0f} a game), policy "
        f"{plan.policy}, {plan.worlds} worlds each, seed {plan.seed}; {found.seconds:.1f} CPU s a decision",
    ]
    wide = _width(found)
    if found.points is not None:
        lines += _choices(plan, found.points, wide, "points", ".0f")
    if found.final is not None:
        lines += ["", *_choices(plan, found.final, wide, "rank points of the final reward", ".2f")]
    lines += ["", "squared errors of the hands, an opponent:"]
    lines.append(f"{'sampler':<{wide}}{'shanten':<24}{'tenpai':<24}{'waits':<24}{'held':<24}     ms")
    for each in found.samplers:
        scores = "".join(f"{score.text('.3f'):<24}" for score in each.scores.values())
        lines.append(f"{each.name:<{wide}}{scores}{each.ms:>7.0f}")
    return lines


def _choices(plan: WorldsPlan, found: ChoiceFigures, wide: int, unit: str, digits: str) -> list[str]:
    numbers = [str(number) for number in CHOSEN_BY if number <= plan.worlds]

    def cells(gains: dict[str, Estimate]) -> str:
        return "".join(f"{gains[number].text(digits) if number in gains else '-':<20}" for number in numbers)

    deviation = found.deviation.text(digits)
    lines = [
        f"in {unit}: advantage of the first choice {found.advantage.text(digits)}; deviation of the true "
        f"differences {deviation}, of one world {found.noise:{digits}}",
        "",
        f"{'sampler':<{wide}}{'correlation':<22}{'deviation':<20}"
        + "".join(f"{'gain by ' + number:<20}" for number in numbers),
        f"{'true hands':<{wide}}{'':<22}{deviation:<20}{cells(found.bound)}",
    ]
    for each in found.samplers:
        figures = f"{each.correlation.text('.2f'):<22}{each.deviation.text(digits):<20}"
        lines.append(f"{each.name:<{wide}}{figures}{cells(each.gains)}")
        lines.append(f"{'  with the prior of a search':<{wide}}{'':<42}{cells(each.searched)}")
    return [line.rstrip() for line in lines]


def _width(found: WorldsFigures) -> int:
    """Of the first column."""
    return max(30, *(len(each.name) + 2 for each in found.samplers))


DEALS: Final = Measurement("deals", WorldsPlan, GameWorlds, _figures, _lines)
