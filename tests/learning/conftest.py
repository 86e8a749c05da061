from __future__ import annotations

from tests.bot.conftest import restore_logs

__all__ = ["restore_logs"]
