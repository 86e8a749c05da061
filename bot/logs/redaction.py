"""Remove secrets and control characters from everything that is shown or written.

Secrets are recognized by key (``gpid``, ``token`` …) and by value: the patterns of Tenhou's ids and tokens,
and every value registered at run time, each also in the percent-encoded form used on the wire.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from kit.text import clean_text

__all__ = ["REDACTED", "REDACTOR", "Redactor", "clean_text", "redact"]

REDACTED: Final = "hidden"
"""Replaces a secret; valid in JSON and XML, so that a capture stays readable."""

_SECRET_KEYS: Final = frozenset(
    {
        "user_id",
        "tenhou_id",
        "login_id",
        "gpid",
        "auth",
        "token",
        "password",
        "secret",
        "cookie",
        "authorization",
    }
)
# Text may be cut off inside a secret, so the start of a secret matches too.
_PATTERNS: Final = re.compile(
    r"(?<![0-9A-Za-z])(?:"
    r"ID[0-9A-Fa-f]{4,8}(?:(?:-|%2[Dd])[0-9a-zA-Z]*)?"  # login id
    r"|[0-9A-F]{8}-[0-9A-F]{0,8}"  # gpid: whoever presents it takes the seat
    r"|(?P<lobby>C[0-9]{8})[0-9]+"  # tournament lobby with its organiser's edit code
    r")(?![0-9A-Za-z])"
)
_FIELDS: Final = re.compile(
    r"""(?P<head>(?<![\w-])\\?["']?(?:gpid|auth|val|token|password)\\?["']?\s*[=:]\s*\\?)(?P<quote>["'])(?P<value>.*?)(?P=quote)""",
    re.IGNORECASE,
)
_PERCENT_RUN: Final = re.compile(r"(?:%[0-9A-Fa-f]{2}|[0-9A-Za-z-]){17,}")


class Redactor:
    """Replaces secrets in text and in structured values."""

    def __init__(self) -> None:
        self._registered: re.Pattern[str] | None = None
        self._values: set[str] = set()

    def register(self, secret: str) -> None:
        """Redact this value from now on, in every form it takes on the wire."""
        if len(secret) < 4 or secret in self._values:
            return
        self._values.add(secret)
        forms: set[str] = set()
        for value in self._values:
            encoded = "".join(f"%{byte:02X}" for byte in value.encode())
            forms |= {value, encoded, encoded.lower(), value.replace("-", "%2D"), value.replace("-", "%2d")}
        longest_first = sorted(forms, key=len, reverse=True)
        self._registered = re.compile("|".join(re.escape(form) for form in longest_first), re.IGNORECASE)

    def text(self, text: str) -> str:
        """The text with every secret replaced."""
        if self._registered is not None:
            text = self._registered.sub(REDACTED, text)
        text = _PATTERNS.sub(lambda m: (m["lobby"] or "") + REDACTED, text)
        text = _FIELDS.sub(lambda m: f"{m['head']}{m['quote']}{REDACTED}{m['quote']}", text)
        return _PERCENT_RUN.sub(self._encoded, text) if "%" in text else text

    def value(self, value: Any, key: str = "") -> Any:
        """A value for the log: secrets replaced, strings cleaned, containers walked."""
        if key.lower() in _SECRET_KEYS:
            return REDACTED if value else value
        if isinstance(value, str):
            return self.text(clean_text(value, keep_lines=key in ("exception", "stack")))
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, Mapping):
            return {self.text(clean_text(str(k))): self.value(v, str(k)) for k, v in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.value(item) for item in value]
        return self.text(clean_text(str(value)))

    @staticmethod
    def _encoded(match: re.Match[str]) -> str:
        return REDACTED if "%" in match[0] and _PATTERNS.search(unquote(match[0])) else match[0]


REDACTOR: Final = Redactor()
"""The redactor of this process; our id and the tokens of pages are registered, and patterns find the rest."""


def redact(text: str) -> str:
    """`Redactor.text` of this process."""
    return REDACTOR.text(text)
