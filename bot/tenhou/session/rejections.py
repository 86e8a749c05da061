"""What the server's error codes mean and what to do about them.

Source: the texts of the official client.
"""

from __future__ import annotations

from typing import Final

from bot.tenhou.session.events import Rejected

_TEXTS: Final[dict[str, tuple[str, bool]]] = {
    "1001": ("the name has characters the server does not allow; choose another", False),
    "1002": ("the name belongs to a registered id; log in with that id", False),
    "1003": ("the id is invalid, suspended or deleted; check it, do not try again", False),
    "1004": ("this player is still connected; try again later", True),
    "1005": ("the name is taken; choose another", False),
    "1006": ("this address may not register a new id for about seven days", False),
    "1012": ("a new id was registered", False),
    "1019": ("there is no such tournament lobby; check its number", False),
    "1020": ("the id needs paid days for this", False),
    "1021": ("the external login server is silent; try again later", True),
    "1027": ("the registration for the tournament is done", False),
}


def rejection(code: str) -> Rejected:
    """The refusal with this code, in words."""
    text, retry = _TEXTS.get(
        code, ("the server refused the request with a code that is not documented", False)
    )
    return Rejected(code, text, retry)
