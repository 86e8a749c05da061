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
MAX_CHILDREN: Final = 4096


def unreadable(reason: str, text: str = "") -> RemoteProtocolError:
    """The error for an unreadable frame, with the start of the frame, redacted."""
    return RemoteProtocolError(redact(reason[:400]), redact(text[:400]))


class Element(msgspec.Struct, frozen=True):
    """A tag with its attributes, all text; ``children`` only for frames that contain frames."""

    tag: str
    attributes: dict[str, str]
    children: tuple[Element | int, ...] | None = None


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
        members = _JSON.decode(text.encode())
        children = members.pop("childNodes", None)
        element = _element_of(members)
    except (msgspec.MsgspecError, ValueError, RecursionError) as exc:
        raise unreadable(f"not a frame in JSON ({exc})", text) from None
    if children is None:
        return element
    if not isinstance(children, list) or len(children) > MAX_CHILDREN:
        raise unreadable(f"childNodes is not a list of at most {MAX_CHILDREN} frames", text)
    try:
        nodes = tuple(_element_of(c) if isinstance(c, dict) else int(c) for c in children)
    except (ValueError, OverflowError) as exc:
        raise unreadable(f"childNodes contains an invalid frame ({exc})", text) from None
    return msgspec.structs.replace(element, children=nodes)


def _element_of(members: Mapping[str, object]) -> Element:
    attributes = {}
    if len(members) > MAX_ATTRIBUTES:
        raise ValueError(f"{len(members)} members")
    for key, value in members.items():
        if isinstance(value, list):
            raise ValueError(f"member {key[:40]!r} is a list")  # noqa: TRY004 - the frame is wrong, not the call
        attributes[key] = str(value)
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


def split_xml(buffer: str) -> tuple[list[str], str]:
    r"""The complete elements of a stream, separated by NULs or white space, and the incomplete rest.

    >>> split_xml('<Z />\x00<D p="1"/><JOIN t="0')
    (['<Z />', '<D p="1"/>'], '<JOIN t="0')

    Raises:
        RemoteProtocolError: text between elements, or an element without an end.
    """
    elements: list[str] = []
    at = 0
    while True:
        while at < len(buffer) and buffer[at] in "\0 \r\n\t":
            at += 1
        if at == len(buffer):
            return elements, ""
        if buffer[at] != "<":
            raise unreadable("text outside an element", buffer[at:])
        end = _element_end(buffer, at)
        if end < 0:
            if len(buffer) - at > MAX_FRAME_BYTES:
                raise unreadable("an element without an end", buffer[at:])
            return elements, buffer[at:]
        elements.append(buffer[at:end])
        at = end


def _element_end(buffer: str, start: int) -> int:
    """Index after the ``>`` that ends the element at ``start``, -1 if it is incomplete."""
    quoted = False
    for at in range(start + 1, len(buffer)):
        char = buffer[at]
        if char == '"':
            quoted = not quoted
        elif char == ">" and not quoted:
            return at + 1
        elif char in "<\0":
            raise unreadable("an element cut short", buffer[start:])
    return -1


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
