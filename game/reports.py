"""Reports that commands print: text for people, JSON for programs, each in one place and one format."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import msgspec

Report = TypeVar("Report")


def json_text(report: object) -> str:
    """A report as JSON, indented by two spaces.

    >>> print(json_text({"games": 2, "places": (1, 4)}))
    {
      "games": 2,
      "places": [
        1,
        4
      ]
    }
    """
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode()


def write_json(report: object) -> None:
    """Write a report to stdout as JSON."""
    sys.stdout.write(json_text(report) + "\n")


def write_report(report: Report, text_of: Callable[[Report], str], *, as_json: bool) -> None:
    """Write a report to stdout, as JSON or as text.

    Args:
        report: what to write.
        text_of: formats it as text, without a final line break.
        as_json: write JSON.
    """
    sys.stdout.write((json_text if as_json else text_of)(report) + "\n")
