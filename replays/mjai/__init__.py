"""Games as mjai: one JSON object per line, the format that engines and arenas exchange."""

from __future__ import annotations

from replays.mjai.lines import MAX_LINE, read, read_record, render, write, write_record
from replays.mjai.reader import MjaiReader

__all__ = ["MAX_LINE", "MjaiReader", "read", "read_record", "render", "write", "write_record"]
