"""Games as mjai: one JSON object per line, the format that engines and arenas exchange."""

from __future__ import annotations

from replays.mjai.lines import MAX_LINE, read_record, write_record

__all__ = ["MAX_LINE", "read_record", "write_record"]
