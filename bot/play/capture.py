"""The file of `--capture`: all frames sent and received, redacted.

One line per frame: seconds since the start, TAB, ``C`` (client) or ``S`` (server), TAB, the text;
`python -m tests.verify_traffic` checks such files. Chat is limited to a few frames a minute, and the file in
size, so that neither a chatty server nor a long run fills the disk.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import chain, count
from pathlib import Path
from typing import Final, TextIO

import structlog

from bot.logs.redaction import redact
from bot.logs.setup import RateLimit
from bot.tenhou.client.settings import Direction

MAX_FILE_BYTES: Final = 64 * 1024 * 1024
CHAT: Final = ('{"tag":"CHAT"', "<CHAT")
"""Start of a chat frame from the server, in JSON and XML."""
LONGEST_REMARK: Final = 64

log = structlog.get_logger(__name__)


class Capture:
    """A capture file. If the disk fails, the capture ends and the game goes on."""

    def __init__(self, path: Path, now: Callable[[], float] = time.monotonic) -> None:
        """Create the file, under a name with a number if an earlier capture has the name.

        Raises:
            OSError: the file cannot be written.
        """
        self._now = now
        self._chat = RateLimit(now=now)
        self._size = 0
        self._began = now()
        path.parent.mkdir(parents=True, exist_ok=True)
        # readable by the owner only: it contains chat and other players' names
        handle = os.open(_free(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file: TextIO | None = os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n")
        self._write("# seconds\tC client, S server\tframe, secrets redacted\n")

    def frame(self, direction: Direction, text: str) -> None:
        """Write one frame."""
        if self._file is None:
            return
        is_chat = direction == "S" and text.startswith(CHAT)
        left_out = self._chat.admit("chat") if is_chat else 0
        if left_out is None:
            return
        line = _one_line(redact(text))
        try:
            self._tell(left_out)
            self._write(f"{self._now() - self._began:.3f}\t{direction}\t{line}\n")
            if self._file is not None:
                self._file.flush()
        except OSError as exc:
            log.warning("capture.failed", error=str(exc), hint="the game goes on without a capture")
            self.close()

    def _tell(self, chats: int) -> None:
        if chats:
            self._write(f"# {chats} chat frames left out\n")

    def _write(self, line: str) -> None:
        """Write a line, or end the capture if the file would become too large.

        Raises:
            OSError: the line cannot be written.
        """
        if self._file is None:
            return
        size = len(line.encode("utf-8", "replace"))
        if self._size + size > MAX_FILE_BYTES - LONGEST_REMARK:
            log.warning(
                "capture.full",
                mib=MAX_FILE_BYTES >> 20,
                hint="the game goes on without a capture; use another file for the next run",
            )
            self._file.write("# the capture is full\n")
            self.close()
            return
        self._file.write(line)
        self._size += size

    def close(self) -> None:
        """Finish the file."""
        left_out = sum(self._chat.take_left_out().values())
        file, self._file = self._file, None
        if file is not None:
            try:
                if left_out:
                    file.write(f"# {left_out} chat frames left out\n")
                file.close()
            except OSError as exc:
                log.warning("capture.failed", error=str(exc))


def _one_line(text: str) -> str:
    """The frame without line ends; valid frames have none, and a broken server must not forge a line."""
    return text.replace("\r", " ").replace("\n", " ").replace("\0", " ")


def _free(path: Path) -> Path:
    """The path, or if a file has it, with the first free number."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return next(free for free in chain((path,), numbered) if not free.is_file())
