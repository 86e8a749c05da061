"""Output of commands where stdout fails: a full disk, a closed pipe, an encoding that lacks a character."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

EXIT_FAILED: Final = 1
STDOUT: Final = 1
ESCAPING: Final = "suzaku.escape"
"""Name of the error handler for characters that an encoding lacks."""
_PLAIN: Final = {"±": "+-", "…": "...", "–": "-", "−": "-", "×": "x", "·": "|", "▲": ">", "★": "*"}


def _escape(error: UnicodeError) -> tuple[str, int]:
    """The characters that could not be encoded, as plain signs or as escapes, which are valid in JSON too."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character) or _escaped(character) for character in lacking), error.end


def _escaped(character: str) -> str:
    r"""The escapes of a character's UTF-16 units.

    >>> _escaped("東"), _escaped("😀")
    ('\\u6771', '\\ud83d\\ude00')
    """
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


codecs.register_error(ESCAPING, _escape)


class _Stdout(io.FileIO):
    """Stdout; keeps the error of a failed write."""

    def __init__(self) -> None:
        super().__init__(STDOUT, "wb", closefd=False)
        self.failure: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as exc:
            self.failure = exc
            raise


@contextlib.contextmanager
def checked_output() -> Iterator[None]:
    """Exit with a message and code 1 if output printed in the block cannot be written.

    If the reader closed the pipe, as `head` does, exit silently: it has what it wanted.
    """
    if sys.stdout is None:
        _end("stdout is closed; redirect it to a file, or to /dev/null")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ESCAPING)
    if sys.stdout.isatty():
        yield
        return
    raw, given = _Stdout(), sys.stdout
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=given.encoding,
        errors=given.errors,
        line_buffering=getattr(given, "line_buffering", False),
    )
    try:
        yield
    except OSError:
        if raw.failure is None:
            raise
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        sys.stdout = given
        if raw.failure is not None:
            _give_up(raw.failure)


def _give_up(failure: OSError) -> NoReturn:
    # discard the remaining buffer, or Python reports the error again at exit
    os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
    if isinstance(failure, BrokenPipeError):
        raise SystemExit(EXIT_FAILED)
    _end(f"cannot write to stdout: {failure.strerror}; free some space, or redirect the output elsewhere")


def _end(why: str) -> NoReturn:
    sys.stderr.write(f"suzaku: {why}\n")
    raise SystemExit(EXIT_FAILED)
