"""Frames as text and back: one JSON object, or one XML-like empty element, is a tag with attributes.

This module does not know the meaning of tags. Unreadable input raises `RemoteProtocolError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import msgspec

from bot.logs.redaction import redact
from bot.tenhou.messages.server_messages import Pairs
from kit.errors import LocalProtocolError, RemoteProtocolError
from replays.mjlog.attributes import Attributes

MAX_FRAME_BYTES: Final = 256 * 1024
MAX_ATTRIBUTES: Final = 64


def unreadable(reason: str, text: str = "") -> RemoteProtocolError:
    """The error for an unreadable frame, with the start of the frame, redacted."""
    return RemoteProtocolError(redact(reason[:400]), redact(text[:400]))


class Element(msgspec.Struct, frozen=True):
    """A tag with its attributes, all text; frames within a frame, which only spectators get, are JSON."""

    tag: str
    attributes: dict[str, str]


_Flat: TypeAlias = dict[str, str | int]
_JSON: Final = msgspec.json.Decoder(dict[str, str | int | list[int | float | _Flat]])


def read_element(text: str) -> Element:
    """One frame in either form.

    Raises:
        RemoteProtocolError: too long, not one complete frame, or nested where nesting is not allowed.
    """
    if len(text) > MAX_FRAME_BYTES:
        raise unreadable(f"frame of {len(text)} characters, at most {MAX_FRAME_BYTES} are read", text)
    text = text.strip("\0 \r\n\t")
    if text.startswith("{"):
        return _read_json(text)
    if text.startswith("<"):
        return _read_xml(text)
    raise unreadable("neither a JSON object nor an XML element", text)


# --- JSON --------------------------------------------------------------------------------------------


def _read_json(text: str) -> Element:
    try:
        return _element_of(_JSON.decode(text.encode()))
    except (msgspec.MsgspecError, ValueError, RecursionError) as exc:
        raise unreadable(f"not a frame in JSON ({exc})", text) from None


def _element_of(members: Mapping[str, object]) -> Element:
    if len(members) > MAX_ATTRIBUTES:
        raise ValueError(f"{len(members)} members")
    attributes = {
        key: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for key, value in members.items()
    }
    tag = attributes.pop("tag", "")
    if not isinstance(members.get("tag"), str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,39}", tag):
        raise ValueError("no usable tag")
    # A lone surrogate is valid in JSON but cannot be encoded again.
    "".join((*attributes, *attributes.values())).encode()
    return Element(tag, attributes)


def write_json(tag: str, attributes: Mapping[str, object]) -> str:
    """One JSON object, ``tag`` first."""
    return msgspec.json.encode({"tag": tag, **attributes}).decode()


# --- XML ---------------------------------------------------------------------------------------------

_XML: Final = re.compile(r'<([A-Za-z][A-Za-z0-9_-]{0,39})((?:\s+[A-Za-z]\w*\s*=\s*"[^"<>]*")*)\s*/?>')
_ATTRIBUTE: Final = re.compile(r'([A-Za-z]\w*)\s*=\s*"([^"<>]*)"')


def _read_xml(text: str) -> Element:
    found = _XML.fullmatch(text)
    if found is None:
        raise unreadable("not one complete XML element", text)
    attributes: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(found[2]):
        if name in attributes or len(attributes) >= MAX_ATTRIBUTES:
            raise unreadable("a duplicate attribute, or too many", text)
        attributes[name] = value
    try:
        text.encode()
    except UnicodeEncodeError:
        raise unreadable("an invalid character", ascii(text[:200])) from None
    return Element(found[1], attributes)


def write_xml(tag: str, attributes: Mapping[str, object]) -> str:
    """One empty element.

    Raises:
        LocalProtocolError: an attribute cannot be written as XML.
    """
    parts = [f"<{tag}"]
    for name, value in attributes.items():
        text = str(value)
        if re.search(r'["<>\0]', text) or not re.fullmatch(r"[A-Za-z]\w*", name):
            raise LocalProtocolError(f"{tag}: attribute {name!r} cannot be written as XML")
        parts.append(f'{name}="{text}"')
    return " ".join(parts) + "/>"


# --- reading attributes ------------------------------------------------------------------------------


class Fields(Attributes):
    """Attributes of one frame, read with checks; those not read are left as `rest`."""

    def __init__(self, element: Element, text: str) -> None:
        super().__init__(element.attributes)
        self.element = element
        self._text = text

    def fail(self, reason: str) -> RemoteProtocolError:
        """The error that names this frame and what is wrong with it."""
        return unreadable(f"{self.element.tag}: {reason}", self._text)

    def take_where(self, wanted: Callable[[str], bool]) -> Pairs:
        """All attributes not read yet whose name is wanted, as pairs in the frame's order."""
        return tuple((name, self.take(name)) for name, _ in self.rest() if wanted(name))
