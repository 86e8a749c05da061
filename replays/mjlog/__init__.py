"""Tenhou's record format, version 2.3: one line of XML-like text per game."""

from __future__ import annotations

from replays.mjlog.reader import read_record
from replays.mjlog.writer import write

__all__ = ["read_record", "write"]
