"""Writes every frame both ways to a file, redacted as it is written.

One line a frame: seconds since the capture began, TAB, ``C`` (ours) or ``S`` (the server's), TAB, the text.
``suzaku traffic verify`` reads it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TextIO, TypeAlias

import structlog

from bot.redaction import redact

Direction: TypeAlias = Literal["C", "S"]

log = structlog.get_logger(__name__)


class Capture:
    """A capture file. A disk that fails costs the capture, never the game."""

    def __init__(self, path: Path, now: Callable[[], float] = time.monotonic) -> None:
        """Open the file.

        Raises:
            OSError: it cannot be written.
        """
        self._now = now
        self._began = now()
        path.parent.mkdir(parents=True, exist_ok=True)
        # the owner's alone: chat and names of strangers stand in it
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._file: TextIO | None = os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n")
        self._file.write("# seconds\tC client, S server\tframe, secrets redacted\n")

    def frame(self, direction: Direction, text: str) -> None:
        """Write one frame."""
        if self._file is None:
            return
        line = _one_line(redact(text))
        try:
            self._file.write(f"{self._now() - self._began:.3f}\t{direction}\t{line}\n")
            self._file.flush()
        except OSError as exc:
            log.warning("capture.failed", error=str(exc), hint="the game goes on without its capture")
            self.close()

    def close(self) -> None:
        """Finish the file."""
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError as exc:
                log.warning("capture.failed", error=str(exc))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _one_line(text: str) -> str:
    """Frames hold no line ends; one from a broken server must not forge a line."""
    return text.replace("\r", " ").replace("\n", " ").replace("\0", " ")
