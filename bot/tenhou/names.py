"""Names to log in with: an id, or in a local lobby a guest's name; on Tenhou every guest is called NoName."""

from __future__ import annotations

import re
from typing import Final

GUEST: Final = "NoName"
LOGIN_ID: Final = re.compile(r"ID[0-9A-F]{8}-[0-9a-zA-Z]{8}")
NAME_LENGTH: Final = 16


def is_guest_name(text: str) -> bool:
    """Whether a guest may have this name; names that begin like an id are refused: they may be mistyped ids.

    >>> [is_guest_name(text) for text in ("Suzaku", "朱雀 2", "ID0123ABCD-aBcD5678", "")]
    [True, True, False, False]
    """
    return (
        0 < len(text) <= NAME_LENGTH
        and text.isprintable()
        and text == text.strip()
        and not text.upper().startswith("ID")
    )
