"""Reads Tenhou's record format into events: strictly checked, bounded in time and memory.

It is not an XML parser: records contain bare ampersands, and entities must never be followed. Three-player
games are rejected with a message that names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from game.errors import ReplayFormatError, ReplayTooLarge
from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    DrawReason,
    EndGame,
    EndRound,
    Four,
    GameEvent,
    Kakan,
    PlayerLeft,
    PlayerReturned,
    Pon,
    Riichi,
    RiichiAccepted,
    StartGame,
    StartRound,
    Win,
)
from game.melds import MeldKind, decode_meld
from game.tiles import TILES, UNSEEN
from replays.record import GameRecord, Names

MAX_CHARACTERS: Final = 2 * 1024 * 1024
"""A long hanchan has about 60,000."""
MAX_TAGS: Final = 20_000
MAX_ATTRIBUTES: Final = 32
MAX_VALUE: Final = 8192

_NOT_READ: Final = ((16 | 2048, "three-player"), (512 | 1024, "chip"))
"""Bits of game types that change the contents of tags."""
_TAG: Final = re.compile(  # without the "<" that texts are split at: values never contain one
    r"(?P<close>/?+)(?P<name>[A-Za-z]++)(?P<tile>[0-9]{0,3}+)"
    r'(?P<attributes>(?:\s++[A-Za-z][A-Za-z0-9]{0,20}+="[^"<>]*+")*+)\s*+/?+>\s*+'
)
_DECLARATION: Final = re.compile(r"\?xml[^<>]*\?>\s*")
_ATTRIBUTE: Final = re.compile(r'([A-Za-z][A-Za-z0-9]*+)="([^"]*+)"')
_INTEGER: Final = re.compile(r"-?[0-9]{1,7}")
_INTEGERS: Final = re.compile(r"-?[0-9]{1,7}(?:,-?[0-9]{1,7})*+")
_RESULT: Final = re.compile(r"(-?)([0-9]{1,5})(?:\.([0-9]))?")
_DRAW_REASONS: Final[dict[str, DrawReason]] = {
    "": "exhaustive",
    "yao9": "nine_terminals",
    "kaze4": "four_winds",
    "reach4": "four_riichi",
    "ron3": "triple_ron",
    "kan4": "four_kans",
    "nm": "nagashi_mangan",
}


def read(text: str) -> list[GameEvent]:
    """Read the events of a game from its mjlog text, `StartGame` to `EndGame`.

    Raises:
        ReplayFormatError: it is not a complete four-player mjlog.
        ReplayTooLarge: it is longer than any game can be.
    """
    return list(read_record(text).events)


def read_record(text: str, game_id: str = "") -> GameRecord:
    """Read a game from its mjlog text; the text itself does not contain the id.

    Raises:
        ReplayFormatError: it is not a complete four-player mjlog.
        ReplayTooLarge: it is longer than any game can be.
    """
    if len(text) > MAX_CHARACTERS:
        raise ReplayTooLarge(f"{len(text)} characters; at most {MAX_CHARACTERS} are read")
    if text.count("<") > MAX_TAGS:
        raise ReplayTooLarge(f"more than {MAX_TAGS} tags")
    head, *tags = text.split("<")
    if head.strip("\ufeff \r\n\t"):
        raise _no_tag(text, 0)
    if tags and ">" not in tags[-1]:
        raise ReplayFormatError("cut short within its last tag; save the record again")
    reader = _Reader()
    reader.add_all(tags)
    return reader.record(game_id)


class _Tag:
    """One tag with its attributes as text, and checked access to them."""

    def __init__(self, name: str, tile: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.tile_text = tile
        self.attributes = attributes

    def fail(self, reason: str) -> ReplayFormatError:
        return ReplayFormatError(f"<{self.name}{self.tile_text}>: {reason}")

    def has(self, key: str) -> bool:
        return key in self.attributes

    def text(self, key: str) -> str:
        if key not in self.attributes:
            raise self.fail(f"{key} is missing")
        return self.attributes[key]

    def integers(self, key: str, count: int | None = None) -> tuple[int, ...]:
        """A list separated by commas; "" is the empty list."""
        text = self.text(key)
        if text and not _INTEGERS.fullmatch(text):
            raise self.fail(f"{key} is not a list of numbers: {text[:80]!r}")
        values = tuple(map(int, text.split(","))) if text else ()
        if count is not None and len(values) != count:
            raise self.fail(f"{key} has {len(values)} numbers instead of {count}")
        return values

    def integer(self, key: str, low: int, high: int) -> int:
        (value,) = self.integers(key, 1)
        if not low <= value <= high:
            raise self.fail(f"{key} {value} is outside {low} to {high}")
        return value

    def player(self, key: str = "who") -> int:
        return self.integer(key, 0, 3)

    def four(self, key: str, scale: int = 1) -> Four:
        a, b, c, d = self.integers(key, 4)
        return (a * scale, b * scale, c * scale, d * scale)

    def tiles(self, key: str, low: int, high: int) -> tuple[int, ...]:
        """Between ``low`` and ``high`` physical tiles, all different."""
        values = self.integers(key)
        if not low <= len(values) <= high or len(set(values)) != len(values):
            raise self.fail(f"{key} has {len(values)} tiles, or a tile twice")
        if not all(0 <= value < TILES for value in values):
            raise self.fail(f"{key} names a tile outside 0 to {TILES - 1}")
        return values

    def own_tile(self, *, may_be_unseen: bool = False) -> int:
        """The tile number in the tag's name."""
        if not self.tile_text and may_be_unseen:
            return UNSEEN
        if not self.tile_text or int(self.tile_text) >= TILES:
            raise self.fail("no such tile")
        return int(self.tile_text)


def _no_tag(text: str, at: int) -> ReplayFormatError:
    return ReplayFormatError(f"not a tag at character {at}: {text[at : at + 80]!r}")


def _parse(text: str) -> _Tag | None:
    """Parse a tag without its "<"; None for a closing tag."""
    found = _TAG.fullmatch(text)
    if found is None:
        raise _no_tag("<" + text, 0)
    pairs = _ATTRIBUTE.findall(found["attributes"])
    attributes = dict(pairs)
    if len(attributes) != len(pairs) or len(pairs) > MAX_ATTRIBUTES:
        raise ReplayFormatError(f"<{found['name']}>: a repeated attribute, or too many")
    if any(len(value) > MAX_VALUE for value in attributes.values()):
        raise ReplayTooLarge(f"<{found['name']}>: a value of more than {MAX_VALUE} characters")
    return None if found["close"] else _Tag(found["name"], found["tile"], attributes)


# Nine tags in ten are a draw or a discard; these texts after "<" map to their events without parsing.
_DRAWS: Final = tuple(tuple(Draw(player, tile) for tile in range(TILES)) for player in range(4))
_DRAW_TEXTS: Final = {
    f"{'TUVW'[draw.player]}{draw.tile}/>": draw for of_player in _DRAWS for draw in of_player
}
_DISCARD_TEXTS: Final = {
    f"{'DEFG'[draw.player]}{draw.tile}/>": (
        draw,
        Discard(draw.player, draw.tile, tsumogiri=True),
        Discard(draw.player, draw.tile, tsumogiri=False),
    )
    for of_player in _DRAWS
    for draw in of_player
}


class _Reader:
    """Collects events tag by tag."""

    def __init__(self) -> None:
        self._events: list[GameEvent] = []
        self._dice: list[tuple[int, int]] = []
        self._shuffles: list[str] = []
        self._header: dict[str, _Tag] = {}
        self._in_round = False
        self._result_seen = False
        self._ended = False
        self._drawn: Draw | None = None
        """The draw that a discard may follow; riichi, an indicator or a lost connection may come between."""

    def add_all(self, tags: list[str]) -> None:
        """Add all tags, each without its "<"."""
        events = self._events
        for number, text in enumerate(tags):
            plain = text if text[-1:] == ">" else text.rstrip()
            if self._takes_moves:
                draw = _DRAW_TEXTS.get(plain)
                if draw is not None:
                    events.append(draw)
                    self._drawn = draw
                    continue
                discard = _DISCARD_TEXTS.get(plain)
                if discard is not None:
                    same, tsumogiri, tedashi = discard
                    events.append(tsumogiri if self._drawn is same else tedashi)
                    self._drawn = None
                    continue
            if number == 0 and _DECLARATION.fullmatch(text):
                continue
            tag = _parse(text)
            if tag is not None:
                self._add(tag)

    def _add(self, tag: _Tag) -> None:
        """Add the next tag."""
        if not self._header and tag.name != "mjloggm":
            raise ReplayFormatError("not an mjlog: it does not begin with <mjloggm>")
        if tag.name in _HEADER_TAGS and not (tag.name == "UN" and "UN" in self._header):
            self._header[tag.name] = tag
            self._check_header(tag)
            return
        handler = _HANDLERS.get(tag.name)
        if handler is None:
            raise tag.fail("unknown tag")
        if self._ended and tag.name not in ("BYE", "UN"):
            raise tag.fail("comes after the end of the game")
        handler(self, tag)

    def record(self, game_id: str) -> GameRecord:
        """Return the whole game."""
        if not self._ended:
            raise ReplayFormatError("cut short: no final result; save the record again when the game is over")
        names = self._names()
        un, go, shuffle = self._header["UN"], self._header.get("GO"), self._header.get("SHUFFLE")
        rates = un.text("rate").split(",") if un.has("rate") else []
        sexes = un.text("sx").split(",") if un.has("sx") else []
        return GameRecord(
            game_id=game_id,
            game_type=go.integer("type", 0, 4095) if go else 0,
            lobby=go.integer("lobby", 0, 19999) if go and go.has("lobby") else 0,
            names=names,
            ranks=un.four("dan") if un.has("dan") else (0, 0, 0, 0),
            rates=_four_rates(un, rates),
            sexes=(sexes[0], sexes[1], sexes[2], sexes[3]) if len(sexes) == 4 else ("M",) * 4,
            events=(StartGame(names=names), *self._events),
            dice=tuple(self._dice),
            shuffle=shuffle.text("seed") if shuffle and shuffle.has("seed") else "",
            round_shuffles=tuple(self._shuffles) if len(self._shuffles) == len(self._dice) else (),
        )

    def _check_header(self, tag: _Tag) -> None:
        if tag.name != "GO":
            return
        for bits, name in _NOT_READ:
            if tag.integer("type", 0, 4095) & bits:
                raise tag.fail(f"{name} games are not supported")

    def _names(self) -> Names:
        un = self._header.get("UN")
        if un is None:
            raise ReplayFormatError("no <UN>: the players are missing")
        n0, n1, n2, n3 = (unquote(un.text(f"n{p}"))[:64] for p in range(4))
        return n0, n1, n2, n3

    def _last(self) -> GameEvent | None:
        return self._events[-1] if self._events else None

    @property
    def _takes_moves(self) -> bool:
        return self._in_round and not self._result_seen

    def _needs_round(self, tag: _Tag) -> None:
        if not self._takes_moves:
            raise tag.fail("is outside of a round")

    # --- the tags ------------------------------------------------------------------------------------

    def _skip(self, tag: _Tag) -> None:
        """Ignore elements that only group others."""

    def init(self, tag: _Tag) -> None:
        if self._in_round and not self._result_seen:
            raise tag.fail("a round begins before the previous one ended")
        self._close_round()
        seed = tag.integers("seed", 6)
        if not (0 <= seed[0] <= 15 and 0 <= seed[1] <= 999 and 0 <= seed[2] <= 999 and 0 <= seed[5] < TILES):
            raise tag.fail("seed is out of range")
        hands = tuple(
            tag.tiles(f"hai{p}", 13, 13) if tag.has(f"hai{p}") else (UNSEEN,) * 13 for p in range(4)
        )
        self._dice.append((seed[3], seed[4]))
        if tag.has("shuffle"):
            self._shuffles.append(tag.text("shuffle"))
        self._events.append(
            StartRound(
                round_index=seed[0],
                honba=seed[1],
                riichi_sticks=seed[2],
                dealer=tag.player("oya"),
                scores=tag.four("ten", 100),
                dora_indicator=seed[5],
                hands=(hands[0], hands[1], hands[2], hands[3]),
            )
        )
        self._in_round, self._result_seen, self._drawn = True, False, None

    def draw(self, tag: _Tag) -> None:
        self._needs_round(tag)
        player, tile = "TUVW".index(tag.name), tag.own_tile(may_be_unseen=True)
        self._drawn = Draw(player) if tile == UNSEEN else _DRAWS[player][tile]
        self._events.append(self._drawn)

    def discard(self, tag: _Tag) -> None:
        self._needs_round(tag)
        player, tile = "DEFG".index(tag.name.upper()), tag.own_tile()
        tsumogiri = tag.name.islower() or self._drawn is _DRAWS[player][tile]
        self._events.append(Discard(player, tile, tsumogiri))
        self._drawn = None

    def meld(self, tag: _Tag) -> None:
        self._needs_round(tag)
        player = tag.player()
        try:
            meld = decode_meld(tag.integer("m", 0, 65535))
        except ValueError as exc:
            raise tag.fail(str(exc)) from None
        self._drawn = None
        source = (player + meld.from_seat) % 4
        own = meld.consumed
        match meld.kind:
            case MeldKind.CHI:
                self._events.append(Chi(player, source, meld.called, (own[0], own[1])))
            case MeldKind.PON:
                self._events.append(Pon(player, source, meld.called, (own[0], own[1])))
            case MeldKind.DAIMINKAN:
                self._events.append(Daiminkan(player, source, meld.called, (own[0], own[1], own[2])))
            case MeldKind.ANKAN:
                a, b, c, d = meld.tiles
                self._events.append(Ankan(player, (a, b, c, d)))
            case MeldKind.KAKAN:
                a, b, c = (tile for tile in meld.tiles if tile != meld.added)
                self._events.append(Kakan(player, meld.added, (a, b, c)))

    def indicator(self, tag: _Tag) -> None:
        self._needs_round(tag)
        self._events.append(DoraRevealed(tag.integer("hai", 0, TILES - 1)))

    def riichi(self, tag: _Tag) -> None:
        self._needs_round(tag)
        player = tag.player()
        declared = tag.integer("step", 1, 2) == 1
        self._events.append(Riichi(player) if declared else RiichiAccepted(player))

    def win(self, tag: _Tag) -> None:
        if not self._in_round or (self._result_seen and not isinstance(self._last(), Win)):
            raise tag.fail("is outside of a round")
        fu, points, limit = tag.integers("ten", 3)
        honba, sticks = tag.integers("ba", 2)
        yaku = tag.integers("yaku") if tag.has("yaku") else ()
        if len(yaku) % 2 or not 0 <= limit <= 5:
            raise tag.fail("yaku or ten is malformed")
        self._events.append(
            Win(
                player=tag.player(),
                from_player=tag.player("fromWho"),
                tile=tag.integer("machi", 0, TILES - 1),
                hand=tag.tiles("hai", 2, 14),
                fu=fu,
                points=points,
                limit=limit,
                yaku=tuple(zip(yaku[::2], yaku[1::2], strict=True)),
                yakuman=tag.integers("yakuman") if tag.has("yakuman") else (),
                ura_indicators=tag.tiles("doraHaiUra", 0, 5) if tag.has("doraHaiUra") else (),
                liable=tag.player("paoWho") if tag.has("paoWho") else -1,
                deltas=_deltas(tag),
                honba=honba,
                riichi_sticks=sticks,
            )
        )
        self._finish_round(tag)

    def drawn(self, tag: _Tag) -> None:
        self._needs_round(tag)
        kind = tag.text("type") if tag.has("type") else ""
        if kind not in _DRAW_REASONS:
            raise tag.fail(f"unknown type {kind[:20]!r}")
        hands = tuple(tag.tiles(f"hai{p}", 1, 14) if tag.has(f"hai{p}") else None for p in range(4))
        self._events.append(
            DrawnRound(_DRAW_REASONS[kind], _deltas(tag), (hands[0], hands[1], hands[2], hands[3]))
        )
        self._finish_round(tag)

    def left(self, tag: _Tag) -> None:
        self._events.append(PlayerLeft(tag.player()))

    def returned(self, tag: _Tag) -> None:
        for player in range(4):
            if tag.has(f"n{player}") and not tag.has("dan"):
                self._events.append(PlayerReturned(player))

    def _finish_round(self, tag: _Tag) -> None:
        self._result_seen = True
        if tag.has("owari"):
            self._close_round()
            self._events.append(_end_of_game(tag))
            self._ended = True

    def _close_round(self) -> None:
        if self._in_round:
            self._events.append(EndRound())
        self._in_round = False


def _deltas(tag: _Tag) -> Four:
    values = tag.integers("sc", 8)
    return (100 * values[1], 100 * values[3], 100 * values[5], 100 * values[7])


def _end_of_game(tag: _Tag) -> EndGame:
    parts = tag.text("owari").split(",")
    results = [_RESULT.fullmatch(part) for part in parts[1:8:2]]
    if len(parts) != 8 or not all(_INTEGER.fullmatch(part) for part in parts[::2]):
        raise tag.fail("owari is not a list of four scores and results")
    a, b, c, d = (100 * int(part) for part in parts[::2])
    tenths = []
    for found in results:
        if found is None:
            raise tag.fail("owari contains an invalid result")
        tenths.append((-1 if found[1] else 1) * (10 * int(found[2]) + int(found[3] or 0)))
    return EndGame((a, b, c, d), (tenths[0], tenths[1], tenths[2], tenths[3]))


def _four_rates(tag: _Tag, texts: list[str]) -> tuple[float, float, float, float]:
    if not texts:
        return (1500.0, 1500.0, 1500.0, 1500.0)
    if len(texts) != 4 or not all(re.fullmatch(r"-?[0-9]{1,6}(\.[0-9]{1,4})?", text) for text in texts):
        raise tag.fail("rate is not a list of four ratings")
    a, b, c, d = map(float, texts)
    return (a, b, c, d)


_HEADER_TAGS: Final = ("mjloggm", "SHUFFLE", "GO", "UN", "TAIKYOKU")
_HANDLERS: Final[dict[str, Callable[[_Reader, _Tag], None]]] = {
    "Scene": _Reader._skip,
    "INIT": _Reader.init,
    **dict.fromkeys("TUVW", _Reader.draw),
    **dict.fromkeys("DEFGdefg", _Reader.discard),
    "N": _Reader.meld,
    "DORA": _Reader.indicator,
    "REACH": _Reader.riichi,
    "AGARI": _Reader.win,
    "RYUUKYOKU": _Reader.drawn,
    "BYE": _Reader.left,
    "UN": _Reader.returned,
}
