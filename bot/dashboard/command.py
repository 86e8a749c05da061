"""`suzaku dashboard`: shows past games without playing any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.config.settings import Config
from bot.dashboard.pump import About
from bot.dashboard.server import open_dashboard
from kit.distribution import program_name

EXIT_DONE: Final = 0
EXIT_FAILED: Final = 1


def show_past(config: Config, environment: Mapping[str, str]) -> int:
    """Serve until Ctrl-C; return the exit code.

    Raises:
        ConfigError: the server cannot listen on the configured address.
    """
    with open_dashboard(config, environment, About(program=program_name()), None) as dashboard:
        try:
            dashboard.wait()
        except KeyboardInterrupt:
            return EXIT_DONE
    return EXIT_FAILED
