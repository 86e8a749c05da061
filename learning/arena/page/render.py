"""Renders a report as its page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from kit.files import replace_file
from learning.arena.page import plots
from learning.arena.report import ArenaReport, headline
from learning.matches.figures import table_of

_TEMPLATE: Final = "page.html"


def write_page(found: ArenaReport, path: Path) -> None:
    """Write the page of a comparison.

    Raises:
        OSError: the page cannot be written.
    """
    replace_file(path, page_of(found).encode())


def page_of(found: ArenaReport) -> str:
    """The page of a comparison; it is self-contained, and names are always escaped as text."""
    sides = (found.challenger, found.champions)
    templates = Environment(
        loader=PackageLoader("learning.arena.page", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return templates.get_template(_TEMPLATE).render(
        found=found,
        headline=headline(found),
        sides=sides,
        table=list(table_of(sides)),
        placements=plots.placements_plot(sides),
        convergence=plots.convergence_plot(found.convergence) if found.convergence else None,
        stable_rank=plots.stable_rank_plot(sides),
        ladder=plots.ladder_plot(sides),
        times=list(_times(found)),
    )


def _times(found: ArenaReport) -> Iterator[tuple[str, float, float]]:
    """Breakdown of a game's CPU time: task, milliseconds, and share; largest first."""
    whole = sum(found.times.values()) or 1.0
    for what, spent in sorted(found.times.items(), key=lambda part: -part[1]):
        yield what, 1000.0 * spent, spent / whole
