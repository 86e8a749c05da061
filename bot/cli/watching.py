"""The dashboard of commands that play many games at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bot.cli.options import load_settings

if TYPE_CHECKING:
    from replays.standing import LearningStanding, SeriesStanding


@contextlib.contextmanager
def open_run_dashboard(
    shows: Literal["series", "learning"],
    records: Path,
    flags: Mapping[str, str | int | None],
    *,
    has_past: bool,
) -> Iterator[Callable[[SeriesStanding | LearningStanding], None]]:
    """Open the dashboard; yields the function that reports the run's progress to it.

    Args:
        shows: what kind of run it is.
        records: folder of the records of finished games.
        flags: values of the dashboard's flags by the names of its settings; None for the setting.
        has_past: whether finished games can be viewed.

    Raises:
        ConfigError: the server cannot listen on the configured address.
    """
    import os

    from bot.dashboard.feed import Feed, Reached
    from bot.dashboard.pump import About
    from bot.dashboard.server import open_dashboard
    from game.distribution import program_name

    settings = {f"dashboard.{name}": value for name, value in flags.items()}
    config = load_settings(None, settings | {"records.folder": str(records)})
    feed = Feed()
    about = About(program=program_name(), has_past=has_past, shows=shows)
    with open_dashboard(config, os.environ, about, feed):
        yield lambda standing: feed.put(Reached(standing))
