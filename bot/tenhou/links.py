"""Links to games on Tenhou: parse them, and download each record once.

One request per game, to Tenhou only, with limits on time and size; a downloaded game is kept and never
requested again.
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

from kit.cache import CACHE_VARIABLE
from kit.errors import ReplayError, ReplayFormatError
from kit.files import replace_file
from replays.files import RECORD_SUFFIX
from replays.formats import MAX_FILE, parse
from replays.record import check_game_id

HOST: Final = "tenhou.net"
ADDRESS: Final = "https://tenhou.net/0/log/?"
TIMEOUT_S: Final = 15.0

_EXAMPLE: Final = "https://tenhou.net/0/?log=2026010203gm-0009-0000-0123abcd&tw=0"
_HEADERS: Final = {"User-Agent": "Mozilla/5.0 (suzaku review)", "Accept-Encoding": "gzip"}
_TENHOU: Final = re.compile(r"(?:https?://)?(?:(?:www\.)?tenhou\.net|(?:www\.)?ron2\.jp)/", re.IGNORECASE)
"""Tenhou, and a viewer of its games that has its ids."""
_VIEWERS: Final = re.compile(r"/[0-9]+/?(?:log/?)?")
_SETTINGS: Final = re.compile(r"(?:&[a-z]{1,8}=[0-9]{0,6}){1,8}$")
"""Settings at the end of a link that contains the record, as the reader of such links accepts them."""

_log = structlog.get_logger(__name__)


class GameLink(NamedTuple):
    """A game on Tenhou and the player it is viewed by, absolute, None if the link does not specify one."""

    game_id: str
    player: int | None


def full_link(text: str) -> str | None:
    """A complete link, None if the text is not a link; links to Tenhou may lack the scheme.

    >>> full_link(" Tenhou.net/0/?log=ID "), full_link("game.xml")
    ('https://tenhou.net/0/?log=ID', None)
    """
    text = text.strip()
    begins = _TENHOU.match(text)
    if begins is None:
        return text if "://" in text else None
    return f"https://{HOST}/{text[begins.end() :]}"


def parse_link(text: str) -> GameLink | None:
    """Parse a link such as ``http://tenhou.net/0/?log=ID&tw=2``; None for any other text.

    Raises:
        ReplayFormatError: it is a link to Tenhou without a game id.
    """
    link = full_link(text)
    if link is None or not _TENHOU.match(link):
        return None
    parts = urlsplit(link)
    query = parse_qs(parts.query, keep_blank_values=True)
    game_id = query.get("log", [parts.query.split("&")[0]])[0].lower()
    if not game_id or not _VIEWERS.fullmatch(parts.path):
        raise ReplayFormatError(f"the link has no game id; expected a link such as {_EXAMPLE}")
    return GameLink(check_game_id(game_id), _player(query))


def linked_hand(text: str) -> str:
    """The hand in a link to Tenhou's calculator; any other text as it is.

    >>> linked_hand("https://tenhou.net/2/?q=123m406p11z"), linked_hand("123m")
    ('123m406p11z', '123m')
    """
    found = re.search(r"tenhou\.net/2/?\?(?:.*&)?[pq]=([0-9mpsz]+)", text)
    return found[1] if found else text


def viewed_player(link: str) -> int | None:
    """The viewing player of a link that contains the record, None if it does not specify one.

    >>> viewed_player("https://tenhou.net/6#json=%7B%7D&ts=3&tw=2")
    2
    """
    settings = _SETTINGS.search(link)
    return _player(parse_qs(settings[0])) if settings else None


def _player(query: dict[str, list[str]]) -> int | None:
    players = query.get("tw", [])
    return int(players[0]) if players and re.fullmatch("[0-3]", players[0]) else None


def fetched(game_id: str, folder: Path, address: str = ADDRESS) -> Path:
    """The file of a game on Tenhou, downloaded if not there yet.

    Args:
        game_id: id of the game.
        folder: folder of downloaded games.
        address: start of the URL, without the id.

    Raises:
        ReplayFormatError: it is not a game id.
        ReplayError: the record cannot be downloaded; the message states how to save it manually.
    """
    path = folder / (check_game_id(game_id) + RECORD_SUFFIX)
    if path.is_file():
        return path
    url = address + game_id
    try:
        data = download(url)
        parse(data, game_id)
    except (OSError, HTTPException, ReplayError) as exc:
        if isinstance(exc, HTTPError):
            exc.close()  # it holds the connection
        raise ReplayError(_by_hand(url, game_id, exc)) from exc
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    except OSError as exc:
        raise ReplayError(
            f"{path}: the game was downloaded but cannot be saved: {exc.strerror}; free some space, or set "
            f"{CACHE_VARIABLE} to another folder"
        ) from exc
    _log.info("review.fetched", url=url, path=str(path))
    return path


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        """Follow no redirects."""


def download(url: str) -> bytes:
    """The record at an address of Tenhou's."""
    opener = urllib.request.build_opener(_NoRedirects())
    # the address is fixed, and the id was checked
    request = urllib.request.Request(url, headers=_HEADERS)  # noqa: S310
    with opener.open(request, timeout=TIMEOUT_S) as response:
        data: bytes = response.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise ReplayError(f"the response is larger than {MAX_FILE} bytes")
    return data


def _by_hand(url: str, game_id: str, error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    if isinstance(reason, OSError) and reason.strerror:
        reason = reason.strerror  # without the number
    return (
        f"{game_id} could not be downloaded: {reason}\n"
        f"  To download it manually, open {url} in a browser, save the page as {game_id}.xml,\n"
        f"  and run `suzaku review {game_id}.xml`. Tenhou's Windows client saves viewed games in\n"
        f"  Documents\\My Tenhou\\log as .mjlog files, which `suzaku review` also reads."
    )
