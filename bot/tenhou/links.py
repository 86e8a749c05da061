"""Links to games on Tenhou: what they say, and fetching the record once.

One request for a game, to Tenhou and nowhere else, with a time limit and a limit on size; a game that was
fetched is kept and never asked for again.
"""

from __future__ import annotations

import re
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any, Final, NamedTuple
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit

import structlog

from game.errors import ReplayError
from game.files import replace_file
from replays.formats import MAX_FILE, parse
from replays.library import RECORD_SUFFIX
from replays.record import check_game_id

HOST: Final = "tenhou.net"
ADDRESS: Final = "https://tenhou.net/0/log/?"
TIMEOUT_S: Final = 15.0

_HEADERS: Final = {"User-Agent": "Mozilla/5.0 (suzaku review)", "Accept-Encoding": "gzip"}
_LINK: Final = re.compile(r"(?:https?://)?tenhou\.net/\S*", re.IGNORECASE)
_VIEWERS: Final = re.compile(r"/[0-9]+/?(?:log/?)?")

_log = structlog.get_logger(__name__)


class GameLink(NamedTuple):
    """A game on Tenhou, and the seat it is looked at from, None where the link does not say."""

    game_id: str
    seat: int | None


def parse_link(text: str) -> GameLink | None:
    """What a link like ``http://tenhou.net/0/?log=ID&tw=2`` says, None for any other text.

    Raises:
        ReplayFormatError: it is a link to Tenhou, but names no game.
    """
    if not _LINK.fullmatch(text.strip()):
        return None
    parts = urlsplit(text.strip() if "://" in text else f"https://{text.strip()}")
    query = parse_qs(parts.query, keep_blank_values=True)
    known = (
        _VIEWERS.fullmatch(parts.path) and (parts.hostname or "") == HOST and parts.port in (None, 80, 443)
    )
    game_id = query.get("log", [parts.query.split("&")[0]])[0] if known else ""
    seats = query.get("tw", [])
    seat = int(seats[0]) if seats and re.fullmatch("[0-3]", seats[0]) else None
    return GameLink(check_game_id(game_id), seat)


def fetched(game_id: str, folder: Path, address: str = ADDRESS) -> Path:
    """The file of a game on Tenhou, fetched if it is not there yet.

    Args:
        game_id: of the game.
        folder: where fetched games are kept.
        address: what the id is put behind.

    Raises:
        ReplayFormatError: it is no game id, or what came is no record.
        ReplayError: it cannot be fetched; says how to save it by hand.
    """
    path = folder / (check_game_id(game_id) + RECORD_SUFFIX)
    if path.is_file():
        return path
    url = address + game_id
    try:
        data = _get(url)
        parse(data, game_id)
    except (OSError, HTTPException, ReplayError) as exc:
        if isinstance(exc, HTTPError):
            exc.close()  # it holds the connection
        raise ReplayError(_by_hand(url, game_id, exc)) from exc
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    except OSError as exc:
        raise ReplayError(f"{path}: the game was fetched but cannot be kept: {exc.strerror}") from exc
    _log.info("review.fetched", url=url, path=str(path))
    return path


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        """The record is where we ask for it, or nowhere."""


def _get(url: str) -> bytes:
    opener = urllib.request.build_opener(_NoRedirects())
    # the address is ours and the id behind it was checked
    request = urllib.request.Request(url, headers=_HEADERS)  # noqa: S310
    with opener.open(request, timeout=TIMEOUT_S) as response:
        data: bytes = response.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise ReplayError(f"more than {MAX_FILE} bytes came")
    return data


def _by_hand(url: str, game_id: str, error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return (
        f"{game_id} could not be fetched: {reason}\n"
        f"  Save it by hand: open {url} in a browser, save the page as {game_id}.xml, and\n"
        f"  `suzaku review {game_id}.xml`. Tenhou's client for Windows keeps the games it has shown under\n"
        f"  Documents\\My Tenhou\\log as .mjlog files, which can be reviewed as they are."
    )
