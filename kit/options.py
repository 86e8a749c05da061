"""How fields of plans become options of commands: their bounds, and names that differ from the fields' own.

A command's options are the fields of its plan, each with the type, default and docstring that it has there
(`bot.cli.command`).
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, get_args

from msgspec import Meta

FLAG: Final = "flag"
"""Key of a field's own flag in the ``extra`` of its `Meta`; ``""`` for none."""
SWITCH: Final = "switch"

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


class Switch(NamedTuple):
    """A flag without a value.

    Attributes:
        value: what the flag sets its field to, instead of the default.
        help: one sentence.
    """

    value: object
    help: str


def flag(name: str) -> Meta:
    """The flag of a field whose name differs."""
    return Meta(extra={FLAG: name})


def switch(name: str, value: object, help_text: str) -> Meta:
    """The flag that sets a field to a value; see `Switch`."""
    return Meta(extra={FLAG: name, SWITCH: Switch(value, help_text)})


def extra_of(hint: Any) -> dict[str, Any]:
    """Settings of an option that the type of its field has, beside bounds."""
    if isinstance(hint, Meta):
        return dict(hint.extra or {})
    return {key: value for part in get_args(hint) for key, value in extra_of(part).items()}


def flag_of(name: str, hint: Any) -> str:
    """The flag of a field, "" for none.

    >>> flag_of("per_game", Count), flag_of("rooms", Annotated[str, flag("--room")])
    ('--per-game', '--room')
    """
    return str(extra_of(hint).get(FLAG, f"--{name.replace('_', '-')}"))
