"""How fields of plans become options of commands: their bounds, and names that differ from the fields' own.

A command's options are the fields of its plan, each with the type, default and docstring that it has there
(`bot.cli.command`).
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

FLAG: Final = "flag"
"""Key of a field's own flag in the ``extra`` of its `Meta`; ``""`` for none."""

INTERNAL: Final = Meta(extra={FLAG: ""})
"""Marks a field that is no option."""

LARGEST_SEED: Final = 2**31 - 1

Count: TypeAlias = Annotated[int, Meta(ge=1)]
Seed: TypeAlias = Annotated[int, Meta(ge=0, le=LARGEST_SEED)]
Share: TypeAlias = Annotated[float, Meta(ge=0.0, le=1.0)]
NotNegative: TypeAlias = Annotated[float, Meta(ge=0.0)]


def day(text: str) -> date:
    """A day, as 2026-01-31.

    Raises:
        ValueError: the text is none.
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"found {text!r}, expected a day such as 2026-01-31") from None


Day: TypeAlias = Annotated[date, day]


def flag(name: str) -> Meta:
    """The flag of a field whose name differs."""
    return Meta(extra={FLAG: name})
