"""Records in every format: detecting the format of a text, reading it, and writing it in a chosen format.

Any input may come from a stranger: sizes are capped before and while a file expands, file names are never
taken from file contents, and no reference in a text is ever followed.
"""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from kit.errors import ReplayError, ReplayFormatError, ReplayTooLarge
from replays import kobalab, mjai, mjlog, tenhou6
from replays.files import read_file
from replays.record import GameRecord, known_id

Format: TypeAlias = Literal["mjlog", "tenhou6", "link", "mjai"]
"""Formats that can be written."""
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
SourceFormat: TypeAlias = Literal["mjlog", "tenhou6", "link", "mjai", "kobalab"]
"""Formats that can be read."""

MAX_FILE: Final = 4 * 1024 * 1024
"""Bytes of a file on disk; a long hanchan has 60 kB as mjlog and 200 kB as mjai."""
MAX_EXPANDED: Final = 8 * 1024 * 1024
"""Bytes of an expanded file."""

SUFFIXES: Final[dict[str, Format]] = {
    ".xml": "mjlog",
    ".mjlog": "mjlog",
    ".json": "tenhou6",
    ".url": "link",
    ".jsonl": "mjai",
    ".mjson": "mjai",
    ".mjai": "mjai",
}
"""Format for each file name suffix; ``.gz`` may follow."""
_VIEWER_LOSSES: Final = (
    "the exact copies of tiles, the order hands were dealt in, dice, the wall's seed, and players' absences"
)
LOSSES: Final[dict[Format, str]] = {"tenhou6": _VIEWER_LOSSES, "link": _VIEWER_LOSSES}
"""The information that a format cannot store, as text."""

MAX_MESSAGE: Final = 160
"""Characters of an error."""
MAX_NOTE: Final = 2000
"""Characters of notes that may come before an mjlog."""
_PAGE: Final = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
MAX_PARTS: Final = 100_000
"""Objects and lists in a JSON text; a game in mjai has about 5,000."""
_MAHJONG_SOUL: Final = (
    "Mahjong Soul's own record; download the game with a converter to Tenhou's format or mjai"
)
_ARCHIVE: Final = "an archive; unpack it, and give the records in it"
_PICTURE: Final = "a picture or a PDF, not a record; save the record itself, or give its link"
_LIST: Final = "a list of games, not a record; give `suzaku review` the links or ids in it, or a file of them"
_FOREIGN: Final = (
    (
        re.compile(r'"(?:publicObservation|privateObservations|hiddenState)"'),
        "a record of mjx, which is not supported; convert it to mjlog with mjx's tools, or save it as mjai",
    ),
    (
        re.compile('"handRecord"|"handEventRecord"'),
        "Riichi City's record, which is not supported; convert it to Tenhou's JSON or mjai",
    ),
    (re.compile(r'\.lq\.|"head"|"ActionNewRound"|RecordNewRound|mahjongsoul\.|maj-soul\.'), _MAHJONG_SOUL),
    (re.compile(r"[0-9]{10}gm-[0-9a-f]{4}-|\"(?:uuid|startTime)\""), _LIST),
)
"""What is in other programs' texts, and the message for it."""
_BINARIES: Final = (
    (b"\x28\xb5\x2f\xfd", "Zstandard: a shard of many games, not one; use `suzaku corpus` for shards"),
    (b"SQLite format 3", "an SQLite database of many games; export their records to files, and give those"),
    *((mark, _ARCHIVE) for mark in (b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!")),
    *((mark, _PICTURE) for mark in (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"%PDF")),
)
"""How files begin that are no record, and the message for each."""
_TAR: Final = b"ustar"
_LINK: Final = re.compile(r"(?:https?://)?(?:[a-z.]*tenhou\.net|ron2\.jp)/", re.IGNORECASE)
_GZIP: Final = b"\x1f\x8b"
_SPACE: Final = "\ufeff \t\r\n"
_FILE_ID: Final = re.compile(r"[0-9]{10}gm-[0-9a-f]{4}-[0-9]{4,5}-x?[0-9a-f]{8,12}(?![0-9A-Za-z])")


def read_game(source: Path | str) -> GameRecord:
    """Read a game from a file, a text or a link, in any known format.

    Args:
        source: a path; or the text itself.

    Returns:
        The record; if its text has no id, with the one in the file's name, or "".

    Raises:
        ReplayFormatError: it is in no known format, or is cut short.
        ReplayTooLarge: it is larger than any game can be, or expands past that.
        ReplayError: the file cannot be read.
    """
    if isinstance(source, str):
        return _parse(source, "")
    return parse(read_file(source, MAX_FILE), id_in_name(source.name))


def parse(data: bytes, game_id: str = "") -> GameRecord:
    """Parse a game from the bytes of a file, plain or gzip.

    Raises:
        ReplayFormatError: it is in no known format, or is cut short.
        ReplayTooLarge: it is larger than any game can be, or expands past that.
    """
    if data.startswith(_GZIP):
        data = expand_gzip(data)
    if data[257:262] == _TAR:
        raise ReplayFormatError(_ARCHIVE)
    for mark, what in _BINARIES:
        if data.startswith(mark):
            raise ReplayFormatError(what)
    if b".lq." in data[:64]:
        raise ReplayFormatError(_MAHJONG_SOUL)
    if len(data) > MAX_EXPANDED:
        raise ReplayTooLarge(f"more than {MAX_EXPANDED} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise ReplayFormatError(f"not UTF-8 at byte {exc.start}; save it as UTF-8") from None
    return _parse(text, game_id)


def detect(text: str) -> SourceFormat:
    """Detect the format of a text from its beginning, or from the keys of its JSON.

    Raises:
        ReplayFormatError: the format is unknown; that of another program is named, with what to do.
    """
    start = len(text) - len(text.lstrip(_SPACE))
    if _PAGE.match(text, start):
        _refuse_foreign(text)
        raise ReplayFormatError("a web page, not a record; save the record it shows, or give its link")
    if text.startswith("<", start) or "<mjloggm" in text[: start + MAX_NOTE]:
        return "mjlog"
    if tenhou6.is_link(text[start : start + 1000]):
        return "link"
    if max(text.count("{"), text.count("[")) > MAX_PARTS:
        raise ReplayTooLarge(f"more than {MAX_PARTS} objects or lists")
    if text.startswith("[", start):
        return _of_array(text[start:])
    if text.startswith("{", start):
        line = text[start:].partition("\n")[0]
        if len(line) <= mjai.MAX_LINE and "type" in _parts(line):
            return "mjai"
        return _of_keys(text[start:])
    if _LINK.match(text, start):
        raise ReplayFormatError("a link, not the record; give `suzaku review` the link, or a file of links")
    _refuse_foreign(text)
    if text.startswith(("http://", "https://"), start):
        raise ReplayFormatError(
            "a link, not the record; download the record that it shows, and give the file"
        )
    raise ReplayFormatError(f"not a record: it begins with {text[start : start + 40]!r:.80}")


def _refuse_foreign(text: str) -> None:
    """Name the text of another program, with what to do."""
    for mark, what in _FOREIGN:
        if mark.search(text):
            raise ReplayFormatError(what)


def _of_array(text: str) -> SourceFormat:
    """The format of a JSON array, or of lines that each are one: games or rounds, else mjai messages."""
    try:
        first, *others = msgspec.json.decode(text, type=list[dict[str, msgspec.Raw]])
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return "mjai"
    if "log" not in first:
        if "type" not in first:
            _refuse_foreign(text)
        return "mjai"
    if bytes(first["log"]).startswith(b'"'):
        raise ReplayFormatError(_LIST)
    if "qijia" in first:
        raise ReplayFormatError(f"an array of {1 + len(others)} games; save each game as a file")
    return "tenhou6"


def _of_keys(text: str) -> SourceFormat:
    """The format of a JSON object, from its keys; Tenhou's if they tell nothing, for its reader's errors."""
    keys = _parts(text).keys()
    if "mjai_log" in keys:
        return "mjai"
    if keys and not {"log", "split_logs"} & keys:
        _refuse_foreign(text)
        raise ReplayFormatError("JSON without a log, so not a record; give Tenhou's JSON, mjai or an mjlog")
    return "kobalab" if "log" in keys and ("qijia" in keys or '"qipai"' in text) else "tenhou6"


def format_of(data: bytes) -> SourceFormat:
    """Detect the format of the bytes of a file, plain or gzip, that `parse` can read."""
    return detect((expand_gzip(data) if data.startswith(_GZIP) else data).decode("utf-8"))


def write_game(record: GameRecord, form: Format) -> str:
    """Write a game as text.

    Raises:
        ReplayFormatError: the format cannot store this game; the message gives the reason.
    """
    if form == "mjlog":
        if record.ending is None:
            raise ReplayFormatError("the record stops before the game's end, which an mjlog must include")
        text = mjlog.write(record) + "\n"
    elif form == "mjai":
        text = mjai.write_record(record)
    else:
        text = (tenhou6.link(record) if form == "link" else tenhou6.write(record)) + "\n"
    try:
        parse(text.encode("utf-8", "replace"))
    except ReplayError as exc:
        raise ReplayFormatError(f"{form} cannot store this game: {exc}") from None
    return text


def format_of_name(name: str) -> Format | None:
    """The format implied by a file name, None if it implies none.

    >>> format_of_name("game.mjlog.xml"), format_of_name("game.json.gz"), format_of_name("game")
    ('mjlog', 'tenhou6', None)
    """
    return SUFFIXES.get(Path(name.removesuffix(".gz")).suffix)


def id_in_name(name: str) -> str:
    """The game id that a file's name begins with, "" if it has none.

    >>> id_in_name("2026010203gm-0009-0000-0123abcd&tw=2.mjlog"), id_in_name("game.xml")
    ('2026010203gm-0009-0000-0123abcd', '')
    """
    found = _FILE_ID.match(name)
    return known_id(found[0]) if found else ""


def compress(text: str) -> bytes:
    """Compress a text with gzip, reproducibly."""
    return gzip.compress(text.encode("utf-8", "replace"), mtime=0)


def expand_gzip(data: bytes) -> bytes:
    """Expand one gzip member.

    Raises:
        ReplayTooLarge: it expands past `MAX_EXPANDED` bytes; no more than that was kept.
        ReplayFormatError: it is not gzip, is cut short, or has data after its end.
    """
    expander = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        expanded = expander.decompress(data, MAX_EXPANDED + 1)
    except zlib.error as exc:
        raise ReplayFormatError(f"gzip: {exc}") from None
    if len(expanded) > MAX_EXPANDED:
        raise ReplayTooLarge(f"gzip: expands past {MAX_EXPANDED} bytes")
    if not expander.eof:
        raise ReplayFormatError("gzip: cut short")
    if expander.unused_data:
        raise ReplayFormatError("gzip: data follows its end; a record is a single member")
    return expanded


def _parse(text: str, game_id: str) -> GameRecord:
    if len(text) > MAX_EXPANDED:
        raise ReplayTooLarge(f"more than {MAX_EXPANDED} characters")
    text = text.removeprefix("\ufeff")
    try:
        form = detect(text)
        record = _read(_unwrapped(text), form, game_id)
    except OSError:  # such as a deleted working folder, which is no fault of the record
        raise
    except ReplayError as exc:
        said = str(exc)
        raise type(exc)(said if len(said) <= MAX_MESSAGE else f"{said[: MAX_MESSAGE - 1]}…") from None
    except Exception as exc:  # a fault of a reader costs no more than this record
        deep = isinstance(exc, RecursionError)
        why = "nested too deep" if deep else "the reader fails on it; please report the file"
        raise ReplayFormatError(why) from exc
    if not record.rounds:
        raise ReplayFormatError(f"{form}: it contains no round")
    return record if record.game_id else msgspec.structs.replace(record, game_id=game_id)


def _unwrapped(text: str) -> str:
    """The record in a report of mjai-reviewer; other texts as they are."""
    if not re.search('"(?:mjai_log|split_logs)"', text):
        return text
    parts = _parts(text.strip(_SPACE))
    log = parts.get("mjai_log", parts.get("split_logs"))
    return text if log is None else bytes(log).decode()


def _parts(text: str) -> dict[str, msgspec.Raw]:
    """The values of a JSON object; none for other texts."""
    try:
        return msgspec.json.decode(text.encode("utf-8", "replace"), type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError):
        return {}


def _read(text: str, form: SourceFormat, game_id: str) -> GameRecord:
    match form:
        case "mjlog":
            # Nothing here would follow one, but no record has them, so the file is suspect.
            if re.search(r"<!(?!--)|<\?(?!xml)", text):
                raise ReplayFormatError("mjlog: a DOCTYPE, entity or instruction; no record has one")
            return mjlog.read_record(text, game_id)
        case "mjai":
            return mjai.read_record(text)
        case "kobalab":
            return kobalab.read_record(text)
        case _:
            return tenhou6.read_record(text)
