"""Builds a page as one file: markup, style, program, drawings of the tiles and the data.

The page's program consists of modules under ``web/``, which a server can deliver as they are. A page opened
from disk may load no other file, so the modules are combined here into one script, each in its own scope, and
the data are compressed: the JSON of all seats of a long game takes 5 MB. The page loads nothing from anywhere
else, and a strict content security policy enforces that in the browser.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote

import msgspec

from kit.errors import BotError

WEB: Final = files("replays.viewer") / "web"
TILES: Final = (*(f"{n}{s}" for s in "mps" for n in range(1, 10)), "5mr", "5pr", "5sr", *"ESWNPFC")
STYLES: Final = ("theme.css", "board.css", "panels.css")

_IMPORT: Final = re.compile(r'^import (\{[^}]*\}) from "\./([a-z]+\.js)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?:const|class|(?:async )?function) (\w+)", re.MULTILINE)
_UNSAFE: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
"""Characters in JSON, always within strings, that could end a script or be read as a line break."""


class PageError(BotError):
    """The data for a page is not a JSON object."""


def page(review: bytes | dict[str, Any]) -> str:
    """The page of one reviewed game.

    Args:
        review: a review as JSON, or decoded.

    Raises:
        PageError: it is not a JSON object.
    """
    return _page("review", "main.js", review)


def index_page(index: bytes | dict[str, Any]) -> str:
    """The page of many reviewed games, with a link to the page of each.

    Args:
        index: an index of reviews as JSON, or decoded.

    Raises:
        PageError: it is not a JSON object.
    """
    return _page("index", "many.js", index)


def policy(style: str, script: str) -> str:
    """The content security policy of a page that allows this style and this script, and no others."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_source(script)}",
            f"style-src {_source(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


@cache
def styles() -> str:
    """The style sheets of the page, including the drawings of the tiles."""
    return "\n".join([_tiles(), *(_text(name) for name in STYLES)])


@cache
def script(entry: str) -> str:
    """A module and all its imports as one module, each in its own scope, dependencies first.

    Args:
        entry: file name of the module that starts the page.
    """
    order: list[str] = []
    _visit(entry, order)
    return "\n".join(["const modules = {};", *(_scope(name) for name in order)])


def embed(data: bytes | dict[str, Any]) -> str:
    """JSON for a script element: no part of it can be taken for markup.

    Raises:
        PageError: it is not a JSON object.
    """
    try:
        value = msgspec.json.decode(data) if isinstance(data, bytes) else data
        text = msgspec.json.encode(value).decode()
    except (msgspec.MsgspecError, TypeError, ValueError) as exc:
        raise PageError(f"not valid JSON for a page: {exc}") from None
    if not isinstance(value, dict):
        raise PageError("not a JSON object")
    return text.translate(_UNSAFE)


def _page(name: str, entry: str, data: bytes | dict[str, Any]) -> str:
    style, program = styles(), script(entry)
    packed = base64.b64encode(gzip.compress(embed(data).encode(), compresslevel=6, mtime=0)).decode()
    return _text("page.html").format(
        policy=policy(style, program), style=style, name=name, data=packed, script=program
    )


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _text(name: str) -> str:
    return (WEB / name).read_text(encoding="utf-8")


def _tiles() -> str:
    return "\n".join(f'.t-{tile} {{ --art: url("{_address(tile)}"); }}' for tile in TILES)


def _address(tile: str) -> str:
    return "data:image/svg+xml," + quote(_text(f"tiles/{tile}.svg").strip(), safe=" =:/'(),.;-")


def _visit(name: str, order: list[str]) -> None:
    if name not in order:
        for _, needed in _IMPORT.findall(_text(name)):
            _visit(needed, order)
        order.append(name)


def _scope(name: str) -> str:
    text = _text(name)
    names = ", ".join(_EXPORT.findall(text))
    body = _IMPORT.sub(r'const \1 = modules["\2"];\n', text).replace("\nexport ", "\n")
    return f'modules["{name}"] = (() => {{\n{body}\nreturn {{ {names} }};\n}})();'
