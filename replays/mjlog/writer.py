"""Tenhou's record format, version 2.3: one line of XML-like text per game, all hands open, players absolute.

Names are percent-encoded, scores are in hundreds, and discards are always upper case: a tsumogiri is a
discard of the tile just drawn. A view with hidden hands is written with the same tags, with draws without
tiles and lower-case tsumogiri as in live play. An attribute of the first tag marks a game without an end.

Source: recorded games of 2009 to 2026; `docs/tenhou-protocol.md`, section 8.1, describes how the live
protocol differs.
"""

from __future__ import annotations

from urllib.parse import quote_from_bytes

import numpy as np

from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    EndGame,
    Four,
    GameEvent,
    Kakan,
    PlayerLeft,
    PlayerReturned,
    Pon,
    Riichi,
    RiichiAccepted,
    StartRound,
    Win,
)
from game.melds import Meld, MeldKind, encode_meld
from game.state import apply_all, melds_of, new_round
from game.tiles import UNSEEN
from kit.errors import ReplayFormatError, StateMismatchError
from replays.mjlog.tags import DRAW_TYPES, OTHER_YAKU, UNFINISHED, UNPAID
from replays.record import GameRecord, in_words


def write(record: GameRecord) -> str:
    """Write a game as mjlog text.

    Raises:
        ReplayFormatError: the events do not form a game: one does not fit those before it.
    """
    writer = _MjlogWriter(record)
    try:
        for event in record.events:
            writer.add(event)
        end = writer.finish()
    except StateMismatchError as exc:
        raise ReplayFormatError(f"cannot be written as mjlog: {in_words(exc)}") from exc
    ended = record.ending is not None and record.ending.results is not None
    mark = "" if ended else f' {UNFINISHED}="1"'
    return f'<mjloggm ver="2.3"{mark}>{_header(record)}{"".join(writer.parts)}{end}</mjloggm>'


def meld_of(event: Chi | Pon | Daiminkan | Ankan | Kakan, pon: Meld | None = None) -> Meld:
    """The meld of a call.

    Args:
        event: the call.
        pon: for a kakan, the pon it extends.
    """
    if isinstance(event, Ankan):
        return Meld(MeldKind.ANKAN, event.consumed)
    if isinstance(event, Kakan):
        assert pon is not None
        tiles = tuple(sorted((*pon.tiles, event.tile)))
        return Meld(MeldKind.KAKAN, tiles, pon.called, pon.from_seat, event.tile)
    kind = {Chi: MeldKind.CHI, Pon: MeldKind.PON, Daiminkan: MeldKind.DAIMINKAN}[type(event)]
    tiles = tuple(sorted((*event.consumed, event.tile)))
    return Meld(kind, tiles, event.tile, (event.from_player - event.player) % 4)


def tenths_text(tenths: int) -> str:
    """A result in the wire format.

    >>> tenths_text(-170), tenths_text(5)
    ('-17.0', '0.5')
    """
    return f"{'-' if tenths < 0 else ''}{abs(tenths) // 10}.{abs(tenths) % 10}"


def rating_text(rating: float) -> str:
    """A rating in the wire format: two decimals, or four if it has more.

    >>> rating_text(1500.0), rating_text(1656.135)
    ('1500.00', '1656.1350')
    """
    text = f"{rating:.2f}"
    return text if float(text) == rating else f"{rating:.4f}"


def percent_encoded(name: str) -> str:
    """A name with every byte of its UTF-8 form written ``%XX``.

    >>> percent_encoded("No")
    '%4E%6F'
    """
    return "".join(f"%{byte:02X}" for byte in name.encode("utf-8", "replace"))


def _header(record: GameRecord) -> str:
    names = " ".join(f'n{p}="{percent_encoded(name)}"' for p, name in enumerate(record.names))
    rates = ",".join(map(rating_text, record.rates))
    shuffle = _seed("<SHUFFLE seed", record.shuffle, ' ref=""/>')
    return (
        f'{shuffle}<GO type="{record.game_type}" lobby="{record.lobby}"/>'
        f'<UN {names} dan="{_numbers(record.ranks)}" rate="{rates}" sx="{",".join(record.sexes)}"/>'
        '<TAIKYOKU oya="0"/>'
    )


def _seed(before: str, seed: str, after: str = "") -> str:
    return f'{before}="{quote_from_bytes(seed.encode(), safe="+/=,-")}"{after}' if seed else ""


def _numbers(values: tuple[int, ...]) -> str:
    return ",".join(str(value) for value in values)


def _hundreds(points: Four) -> str:
    return _numbers(tuple(value // 100 for value in points))


class _MjlogWriter:
    """Folds a game's events and collects their tags."""

    def __init__(self, record: GameRecord) -> None:
        self.parts: list[str] = []
        self._record = record
        self._folded = new_round()
        self._coming: list[GameEvent] = []  # most tags do not need the state
        self._hidden = [False] * 4
        self._rounds = 0
        # A result's tag stays open until it is known whether the end of the game follows.
        self._open_result = ""

    def add(self, event: GameEvent) -> None:
        """Write one event."""
        if isinstance(event, EndGame):
            if not self._open_result:
                raise ReplayFormatError(f"{self._record.game_id}: the game ends without a result")
            if event.results is None:
                return
            final = zip(event.scores, event.results, strict=True)
            owari = ",".join(f"{score // 100},{tenths_text(result)}" for score, result in final)
            self._open_result += f' owari="{owari}"'
            return
        if isinstance(event, Win | DrawnRound):
            self.parts.append(self.finish())
            self._open_result = self._win(event) if isinstance(event, Win) else self._drawn(event)
        else:
            self.parts.append(self._tag(event))
        self._coming.append(event)

    @property
    def _state(self) -> np.void:
        """The round before the event that is being written."""
        self._fold()
        return self._folded

    def _fold(self) -> None:
        apply_all(self._folded, self._coming)
        self._coming.clear()

    def finish(self) -> str:
        """Make sure of the events so far, and close a result's tag; "" if none is open."""
        self._fold()
        text, self._open_result = self._open_result, ""
        return f"{text} />" if text else ""

    def _tag(self, event: GameEvent) -> str:
        match event:
            case StartRound():
                return self.finish() + self._start(event)
            case Draw(player=player, tile=tile):
                return f"<{'TUVW'[player]}{'' if tile == UNSEEN else tile}/>"
            case Discard():
                return self._discard(event)
            case Chi() | Pon() | Daiminkan() | Ankan() | Kakan():
                return f'<N who="{event.player}" m="{self._call(event)}" />'
            case DoraRevealed(indicator=indicator):
                return f'<DORA hai="{indicator}" />'
            case Riichi(player=player):
                return f'<REACH who="{player}" step="1"/>'
            case RiichiAccepted(player=player):
                scores = [int(score) // 100 for score in self._state["scores"]]
                scores[player] -= 10
                return f'<REACH who="{player}" ten="{_numbers(tuple(scores))}" step="2"/>'
            case PlayerLeft(player=player):
                return self.finish() + f'<BYE who="{player}" />'
            case PlayerReturned(player=player):
                name = percent_encoded(self._record.names[player])
                return self.finish() + f'<UN n{player}="{name}" />'
            case _:
                return ""

    def _start(self, event: StartRound) -> str:
        dice = self._record.dice[self._rounds] if self._rounds < len(self._record.dice) else (0, 0)
        shuffle = "".join(self._record.round_shuffles[self._rounds : self._rounds + 1])
        self._rounds += 1
        self._hidden = [UNSEEN in hand for hand in event.hands]
        seed = (event.round_index, event.honba, event.riichi_sticks, *dice, event.dora_indicator)
        hands = (
            f' hai{player}="{_numbers(hand)}"'
            for player, hand in enumerate(event.hands)
            if UNSEEN not in hand
        )
        return (
            f'<INIT seed="{_numbers(seed)}" ten="{_hundreds(event.scores)}" '
            f'oya="{event.dealer}"{"".join(hands)}{_seed(" shuffle", shuffle)}/>'
        )

    def _discard(self, event: Discard) -> str:
        letter = ("defg" if event.tsumogiri and self._hidden[event.player] else "DEFG")[event.player]
        return f"<{letter}{event.tile}/>"

    def _call(self, event: Chi | Pon | Daiminkan | Ankan | Kakan) -> int:
        if not isinstance(event, Kakan):
            return encode_meld(meld_of(event))
        for pon in melds_of(self._state, event.player):
            if pon.kind is MeldKind.PON and pon.tiles[0] >> 2 == event.tile >> 2:
                return encode_meld(meld_of(event, pon))
        raise ReplayFormatError(f"{self._record.game_id}: an added kan without its pon: {event!r}")

    def _scores(self, deltas: Four) -> str:
        pairs = zip(self._state["scores"], deltas, strict=True)
        return ",".join(f"{int(score) // 100},{delta // 100}" for score, delta in pairs)

    def _win(self, event: Win) -> str:
        indicators = [int(t) for t in self._state["indicators"][: self._state["indicator_count"]]]
        codes = tuple(encode_meld(meld) for meld in reversed(melds_of(self._state, event.player)))
        attributes = [
            ("ba", f"{event.honba},{event.riichi_sticks}"),
            ("hai", _numbers(event.hand)),
            ("m", _numbers(codes)),
            ("machi", str(event.tile)),
            ("ten", f"{event.fu},{event.points},{event.limit}"),
            ("yaku", ",".join(f"{yaku},{han}" for yaku, han in event.yaku)),
            ("yakuman", _numbers(event.yakuman)),
            (OTHER_YAKU, ",".join(f"{percent_encoded(name)},{han}" for name, han in event.other_yaku)),
            ("doraHai", _numbers(tuple(indicators))),
            ("doraHaiUra", _numbers(event.ura_indicators)),
            ("who", str(event.player)),
            ("fromWho", str(event.from_player)),
            ("paoWho", str(event.liable) if event.liable >= 0 else ""),
            ("value", "" if event.value == "stated" else event.value),
            ("sc", self._scores(event.deltas)),
            (UNPAID, "" if event.payments_known else "1"),
        ]
        return "<AGARI " + " ".join(f'{name}="{value}"' for name, value in attributes if value)

    def _drawn(self, event: DrawnRound) -> str:
        kind = DRAW_TYPES[event.reason]
        ba = f"{int(self._state['honba'])},{int(self._state['riichi_sticks'])}"
        hands = (
            f' hai{player}="{_numbers(hand)}"' for player, hand in enumerate(event.hands) if hand is not None
        )
        return (
            f"<RYUUKYOKU{f' type={chr(34)}{kind}{chr(34)}' if kind else ''} "
            f'ba="{ba}" sc="{self._scores(event.deltas)}"{"".join(hands)}'
            f"{'' if event.payments_known else f' {UNPAID}={chr(34)}1{chr(34)}'}"
        )
