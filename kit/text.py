"""Untrusted text: player names, file names, server messages."""

from __future__ import annotations

import re
from typing import Final

_CONTROL: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_LINE_ENDS: Final = re.compile("[\t\n]+")


def clean_text(text: str, *, keep_lines: bool = False) -> str:
    r"""Untrusted text without anything that could control a terminal: control, direction and surrogate ones.

    >>> clean_text("\x1b[31mred\u202e\nnext")
    '[31mred next'
    """
    text = _CONTROL.sub("", text)
    return text if keep_lines else _LINE_ENDS.sub(" ", text)
