"""Every named error, by family, so that callers catch only what they can handle."""

from __future__ import annotations

from pathlib import Path


class BotError(Exception):
    """Base of all errors this program raises on purpose."""


class ConfigError(BotError):
    """The configuration is wrong; the message lists every problem at once."""


class PositionError(ConfigError):
    """A position written by hand is impossible; the message names what to change."""


class ProtocolError(BotError):
    """A message, or the order of messages, is wrong."""


class LocalProtocolError(ProtocolError):
    """We tried to send something illegal: a bug of ours."""


class RemoteProtocolError(ProtocolError):
    """We received something unreadable; keeps at most 200 characters of it."""

    def __init__(self, reason: str, text: str = "") -> None:
        self.reason = reason
        self.excerpt = text[:200]
        super().__init__(f"{reason}: {self.excerpt!r}" if text else reason)


class StateMismatchError(ProtocolError):
    """An event does not fit our table: ask for a resync, then resume."""


class TransportError(BotError):
    """The connection or the login failed."""


class ConnectionLost(TransportError):  # noqa: N818 - a state of the line, named as the logs name it
    """The connection is lost; try again."""


class SessionReplaced(TransportError):  # noqa: N818
    """The same id logged in elsewhere: stop, do not compete for the seat."""


class LoginRejected(TransportError):  # noqa: N818
    """Invalid or suspended id, or no permission: stop. Carries the server's code."""

    def __init__(self, message: str, code: str = "") -> None:
        self.code = code
        super().__init__(message)


class NothingListens(TransportError):  # noqa: N818
    """No lobby of ours answers; it may not be running yet."""


class NotAllowed(TransportError):  # noqa: N818
    """Connecting there, or playing there this way, is not allowed: stop."""


class DecisionError(BotError):
    """A policy gave no usable answer."""


class ModelError(DecisionError):
    """A model crashed, returned NaN or ran out of memory."""


class DeadlineExceeded(DecisionError):  # noqa: N818
    """The answer came after its deadline."""


class IllegalActionError(DecisionError):
    """An action outside the legal set."""


class EngineError(DecisionError):
    """An external engine gave no answer; later output can no longer be matched to a question."""


class EngineDied(EngineError):  # noqa: N818
    """The engine ended, closed its output, or could not be started."""


class EngineLate(EngineError):  # noqa: N818
    """The engine did not answer in time."""


class EngineGarbled(EngineError):  # noqa: N818
    """The engine's output is no answer: not JSON, too long, or unasked for."""


class EngineUnusable(BotError):  # noqa: N818
    """An external engine never answers: the rule-based player would play all its games."""


class CheckpointError(BotError):
    """The files of a model cannot be used.

    Attributes:
        file: the file in question.
        field: the part of it: a field of the card, a tensor, or a section of the file.
        problem: what is wrong with that part.
        advice: what to do next.
    """

    def __init__(self, file: Path, field: str, problem: str, advice: str = "") -> None:
        self.file = file
        self.field = field
        self.problem = problem
        self.advice = advice
        super().__init__(file, field, problem, advice)

    def __str__(self) -> str:
        said = f"{self.file}: {self.field}: {self.problem}"
        return f"{said}; {self.advice}" if self.advice else said


class CheckpointMissing(CheckpointError):  # noqa: N818
    """No checkpoint of this model exists."""


class CheckpointCorrupt(CheckpointError):  # noqa: N818
    """The checkpoint is incomplete, or does not match its own description."""


class CheckpointMismatch(CheckpointError):  # noqa: N818
    """The checkpoint is intact, but for another model, architecture, feature set or format version."""


class ReplayError(BotError):
    """A record cannot be read."""


class ReplayFormatError(ReplayError):
    """The record is in an unknown format, or cut short."""


class ReplayTooLarge(ReplayError):  # noqa: N818
    """The record expands past its limit."""


class TrainingError(BotError):
    """A training run cannot continue; what it saved is intact."""


class WorkerFailed(BotError):  # noqa: N818
    """A worker process failed."""
