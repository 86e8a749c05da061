"""Every named error, by family, so that a caller catches what it can mend and no more."""

from __future__ import annotations


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


class DecisionError(BotError):
    """A policy gave no usable answer."""


class ModelError(DecisionError):
    """A model crashed, returned NaN or ran out of memory."""


class DeadlineExceeded(DecisionError):  # noqa: N818
    """The answer came after its deadline."""


class IllegalActionError(DecisionError):
    """An action outside the legal set."""


class WorkerFailed(BotError):  # noqa: N818
    """A process that did part of the work could not go on."""


class ReplayError(BotError):
    """A record cannot be read."""


class ReplayFormatError(ReplayError):
    """It is not in a form we know, or is cut short."""


class ReplayTooLarge(ReplayError):  # noqa: N818
    """It expands past its limit."""
