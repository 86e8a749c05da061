"""Tenhou's JSON records, as read and written by its viewer at tenhou.net/6, in both directions."""

from __future__ import annotations

from replays.tenhou6.reader import is_link, read_record
from replays.tenhou6.writer import link, write

__all__ = ["is_link", "link", "read_record", "write"]
