"""Every named error, by family, so that a caller catches what it can mend and no more."""

from __future__ import annotations

from pathlib import Path


class BotError(Exception):
    """Anything this program raises on purpose."""


class ConfigError(BotError):
    """The configuration is wrong; the message lists every problem at once."""


class ProtocolError(BotError):
    """A message or the order of messages is wrong."""


class LocalProtocolError(ProtocolError):
    """We tried to send something illegal: our own mistake."""


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
    """The line is gone; try again."""


class SessionReplaced(TransportError):  # noqa: N818
    """The same id logged in elsewhere: stop, do not fight for the seat."""


class LoginRejected(TransportError):  # noqa: N818
    """A bad or suspended id, or no permission: stop. Carries the server's code."""

    def __init__(self, message: str, code: str = "") -> None:
        self.code = code
        super().__init__(message)


class NothingListens(TransportError):  # noqa: N818
    """There is no lobby where one of our own should be; it may be started yet."""


class NotAllowed(TransportError):  # noqa: N818
    """We do not connect there, or do not play there like this: stop."""


class DecisionError(BotError):
    """A policy gave no usable answer."""


class ModelError(DecisionError):
    """A model crashed, returned NaN or ran out of memory."""


class DeadlineExceeded(DecisionError):  # noqa: N818
    """The answer came after its deadline."""


class IllegalActionError(DecisionError):
    """An action outside the legal set."""


class EngineError(DecisionError):
    """An external engine gave no answer; nothing it says later can be trusted to belong to a question."""


class EngineDied(EngineError):  # noqa: N818
    """It ended, closed its output, or could not be started."""


class EngineLate(EngineError):  # noqa: N818
    """It did not answer in time."""


class EngineGarbled(EngineError):  # noqa: N818
    """What it said is no answer: no JSON, too long, or said without being asked."""


class EngineUnusable(BotError):  # noqa: N818
    """An external engine never answers: games with it would be played by the rules alone."""


class CheckpointError(BotError):
    """A model's files cannot be used.

    Attributes:
        file: which one.
        field: what in it: a field of the card, a tensor, or a part of the file.
        problem: what is wrong with that.
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
    """There is none of this model."""


class CheckpointCorrupt(CheckpointError):  # noqa: N818
    """It is not whole, or not what it says it is."""


class CheckpointMismatch(CheckpointError):  # noqa: N818
    """It is whole, but of another model, architecture, feature set or version of the format."""


class ReplayError(BotError):
    """A record cannot be read."""


class ReplayFormatError(ReplayError):
    """It is not in a form we know, or is cut short."""


class ReplayTooLarge(ReplayError):  # noqa: N818
    """It expands past its limit."""


class TrainingError(BotError):
    """A training run cannot go on; what it had saved is still there."""


class WorkerFailed(BotError):  # noqa: N818
    """A process that did part of the work could not go on."""
