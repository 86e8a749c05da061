"""Texts for the server's error codes: the meaning of each and the remedy.

Source: the texts of the official client.
"""

from __future__ import annotations

from typing import Final

from bot.tenhou.session.events import Rejected

_TEXTS: Final[dict[str, tuple[str, bool]]] = {
    "1001": ("the name has characters the server does not allow; choose another", False),
    "1002": ("the name belongs to a registered id; log in with that id", False),
    "1003": ("the id is invalid, suspended or deleted; check it before you try again", False),
    "1004": ("this player is still connected; try again later", True),
    "1005": ("the name is taken; choose another", False),
    "1006": ("this IP address may not register a new id for about seven days", False),
    "1012": ("a new id was registered", False),
    "1019": ("the tournament lobby does not exist; check its number", False),
    "1020": ("this needs an id with paid days", False),
    "1021": ("the external login server does not respond; try again later", True),
    "1027": ("registration for the tournament is complete", False),
}


def rejection(code: str) -> Rejected:
    """The rejection for an error code."""
    text, retry = _TEXTS.get(
        code, ("the server refused the request with a code that is not documented", False)
    )
    return Rejected(code, text, retry)
