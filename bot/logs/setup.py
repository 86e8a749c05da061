"""Logging: structlog to stderr, as readable text on a terminal and as JSON lines elsewhere, without secrets.

The standard library's loggers (asyncio, websockets) and uncaught exceptions use the same handler, so their
tracebacks are redacted too.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator, MutableMapping
from functools import partial
from types import TracebackType
from typing import Any, Final, Literal, TextIO, TypeAlias

import structlog

from bot.logs.redaction import REDACTOR
from kit import processes

WINDOW_S: Final = 60.0
LIMIT: Final = 30
"""Number of lines of one kind per window."""


class RateLimit:
    """Admits the first few of each kind in every time window.

    Args:
        limit: number per kind and window.
        window_s: length of a window.
        now: a monotonic clock.
    """

    def __init__(
        self, limit: int = LIMIT, window_s: float = WINDOW_S, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = limit
        self._window_s = window_s
        self._now = now
        self._windows: dict[str, tuple[float, int]] = {}
        self._left_out: dict[str, int] = {}

    def reset(self) -> None:
        """Clear all counts."""
        self._windows.clear()
        self._left_out.clear()

    def admit(self, kind: str) -> int | None:
        """The number of the kind omitted since the last one admitted, or None if this one is omitted."""
        now = self._now()
        began, count = self._windows.get(kind, (now, 0))
        if now - began >= self._window_s:
            began, count = now, 0
        if count >= self._limit:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return None
        self._windows[kind] = began, count + 1
        return self._left_out.pop(kind, 0)

    def take_left_out(self) -> dict[str, int]:
        """The unreported omissions by kind; they then count as reported."""
        left_out, self._left_out = self._left_out, {}
        return left_out


Format: TypeAlias = Literal["auto", "console", "json"]
EventDict: TypeAlias = MutableMapping[str, Any]

CAUSED_BY_OTHERS: Final = frozenset(
    {
        "clock.expired",
        "login.accepted",
        "login.rejected",
        "proto.rejected",
        "proto.unknown_tag",
        "server.closing",
        "server.text",
        "session.replaced",
        "state.mismatch",
        "table.refused",
    }
)
"""Events that the other side of a connection can cause at will; a few a minute are logged, others counted."""

_hidden: set[tuple[str, str]] = set()
_limit = RateLimit()


def set_up_logs(level: str = "info", log_format: Format = "auto", stream: TextIO | None = None) -> None:
    """Send every log line to ``stream``, or to whatever `sys.stderr` is when the line is logged.

    Processes started later set up their logs in the same way, with their own stderr.

    Args:
        level: debug, info, warning or error.
        log_format: ``auto`` is console on a terminal and JSON lines otherwise.
        stream: destination of the lines; None for stderr.
    """
    on_terminal = (stream or sys.stderr).isatty()
    as_console = log_format == "console" or (log_format == "auto" and on_terminal)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S%z" if as_console else "iso", utc=not as_console),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        redact_event,
    ]
    structlog.configure(
        processors=[hide_event, limit_event, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        cache_logger_on_first_use=False,
    )
    renderer: Any = structlog.processors.JSONRenderer(ensure_ascii=False)
    if as_console:
        # exceptions are already text, so that redaction covers them; there is nothing left to pretty-print
        renderer = structlog.dev.ConsoleRenderer(
            colors=on_terminal, exception_formatter=structlog.dev.plain_traceback
        )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared[:-1], _as_event, redact_event],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *([without_game_id] if as_console else []),
            renderer,
        ],
    )
    handler: logging.StreamHandler[Any] = logging.StreamHandler(stream) if stream else _StderrHandler()
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in ("asyncio", "numba", "torch", "websockets"):
        # websockets logs whole frames at debug level; --capture is for those
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
    logging.captureWarnings(True)
    sys.excepthook = _log_uncaught
    threading.excepthook = _log_uncaught_in_thread
    sys.unraisablehook = _log_unraisable
    processes.on_start(partial(set_up_logs, level, log_format))
    _limit.reset()
    atexit.unregister(tell_left_out)
    atexit.register(tell_left_out)


def redact_event(_: Any, __: str, event: EventDict) -> EventDict:
    """Remove secrets and control characters from every value of a log event."""
    return {key: value if key.startswith("_") else REDACTOR.value(value, key) for key, value in event.items()}


def hide_event(_: Any, method: str, event: EventDict) -> EventDict:
    """Drop events hidden by `hidden`; warnings and errors are always shown."""
    if method in ("debug", "info") and any(event.get(key) == value for key, value in _hidden):
        raise structlog.DropEvent
    return event


def limit_event(_: Any, __: str, event: EventDict) -> EventDict:
    """Drop events that others cause too often; the next line of the same kind reports how many."""
    kind = str(event.get("event", ""))
    if kind not in CAUSED_BY_OTHERS:
        return event
    left_out = _limit.admit(kind)
    if left_out is None:
        raise structlog.DropEvent
    if left_out:
        event["left_out"] = left_out
    return event


def tell_left_out() -> None:
    """Log how many lines of each kind were dropped since the last one shown."""
    for kind, count in _limit.take_left_out().items():
        structlog.get_logger("suzaku").info("log.left_out", kind=kind, lines=count)


@contextlib.contextmanager
def hidden(**values: str) -> Iterator[None]:
    """Hide log events with one of these values during the block: ``hidden(event="round.ended")``."""
    added = set(values.items()) - _hidden
    _hidden.update(added)
    try:
        yield
    finally:
        _hidden.difference_update(added)


def without_game_id(_: Any, __: str, event: EventDict) -> EventDict:
    """On the console, show the game id only where a game begins or ends; JSON has it in every event."""
    if not str(event.get("event", "")).startswith("game."):
        event.pop("game_id", None)
    return event


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to the current `sys.stderr`: a live table replaces it, to keep the table below the log lines."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr


def _as_event(logger: Any, _: str, event: EventDict) -> EventDict:
    record = event.get("_record")
    if record is not None:
        event["logger"] = record.name
    return event


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    log = structlog.get_logger("suzaku")
    log.error("program.failed", exc_info=(kind, error, trace))


def _log_uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None and args.exc_type is not SystemExit:
        _log_uncaught(args.exc_type, args.exc_value, args.exc_traceback)


def _log_unraisable(args: Any) -> None:
    if args.exc_type is KeyboardInterrupt:
        processes.interrupt_again()
    elif args.exc_value is not None:
        _log_uncaught(args.exc_type, args.exc_value, args.exc_traceback)
