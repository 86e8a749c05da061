"""Players that met the same opponents, side by side: a table, and a plot after the paper's figure 8.

Source: Suphx, arXiv:2003.13590, section 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from kit.distribution import require
from kit.errors import ConfigError
from learning import plots
from learning.arena.report import ArenaReport
from learning.arena.run import look
from learning.matches.figures import Side, lines_of

_COLOUR: Final = "#a83220"
_EQUAL: Final = "#6b7280"


class AgentsReport(msgspec.Struct, frozen=True):
    """Players that met the same opponents.

    Attributes:
        opponents: name of the opponents.
        agents: the players, in the order given.
    """

    opponents: str
    agents: tuple[Side, ...]

    def __str__(self) -> str:
        """The report for people."""
        played = ", ".join(f"{each.name} {each.games} games" for each in self.agents)
        return "\n".join((f"against three {self.opponents}: {played}", *lines_of(self.agents)))


def compare_agents(folders: Sequence[Path]) -> AgentsReport:
    """The challengers of several runs of the arena.

    Args:
        folders: the ``--out`` of each run, finished or not; at least one.

    Raises:
        ConfigError: a run has no complete set yet, is not one against three, or had other opponents.
        ReplayError: there are no results in a folder, or they cannot be read.
    """
    found = [_report(folder) for folder in folders]
    first = found[0]
    for folder, each in zip(folders, found, strict=True):
        if each.plan.mode != "1v3":
            raise ConfigError(f"{folder}: a run of {each.plan.mode}; only runs of 1v3 can be compared")
        if each.champions.identity != first.champions.identity or each.plan.length != first.plan.length:
            raise ConfigError(
                f"{folder}: {each.plan.length} games against {each.champions.name}, but {folders[0]}: "
                f"{first.plan.length} games against {first.champions.name}; give runs with the same opponents"
            )
    return AgentsReport(first.champions.name, tuple(each.challenger for each in found))


def _report(folder: Path) -> ArenaReport:
    found = look(folder)
    if found is None:
        raise ConfigError(f"{folder}: no set of games is complete yet; wait for the run, or leave it out")
    return found


def draw_agents(found: AgentsReport, path: Path) -> None:
    """Draw stable ranks, with boxes for the quartiles over resamples and whiskers for 95 %, and points.

    Args:
        found: players.
        path: of the SVG file.

    Raises:
        ConfigError: matplotlib is not installed, or a stable rank is not defined.
    """
    require("matplotlib", "--plot")
    names = [each.name for each in found.agents]
    drawing = plots.figure(1.6 + 1.1 * len(names), 5.0)
    above, below = drawing.subplots(2, 1, sharex=True)
    above.bxp(
        [_box(each) for each in found.agents],
        positions=range(len(names)),
        showfliers=False,
        patch_artist=True,
        boxprops={"facecolor": "#f3d9d3", "edgecolor": _COLOUR},
        medianprops={"color": _COLOUR},
    )
    above.set_ylabel("stable rank (dan)")
    for place, each in enumerate(found.agents):
        low, value, high = each.points.low or 0.0, each.points.value or 0.0, each.points.high or 0.0
        below.errorbar(
            place, value, yerr=[[value - low], [high - value]], fmt="o", color=_COLOUR, capsize=4.0
        )
    below.axhline(0.0, color=_EQUAL, linewidth=0.8)
    below.set_ylabel(f"points a game\nagainst three {found.opponents}")
    below.set_xticks(range(len(names)), names)
    for part in (above, below):
        part.grid(axis="y", alpha=0.3)
    plots.save(drawing, path)


def _box(agent: Side) -> dict[str, float | str]:
    spread = agent.stable_rank
    drawn = {
        "med": spread.value,
        "q1": spread.first_quartile,
        "q3": spread.third_quartile,
        "whislo": spread.low,
        "whishi": spread.high,
    }
    box = {name: value for name, value in drawn.items() if value is not None}
    if len(box) < len(drawn):
        raise ConfigError(
            f"{agent.name}: no stable rank after {agent.games} games; play more, or leave it out"
        )
    return {"label": agent.name, **box}
