"""Checks real games against our rules, to the last point.

    python -m tests.verify_records [--json] [--workers N] FOLDER…

Every event is folded into five records of its round: the whole table's, and what each player sees. Before
that, every move is looked up in the legal actions of its player's own view, and every chance passed up in
those of the other players. Wins, payments, the order of the rounds, the end of the game and the walls are
compared with what our rules give. Moves that a rule forbids and the server allowed, and rules that Tenhou no
longer has, are counted separately. Exit code 1 if anything is left unexplained.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from game.actions import NINE_TERMINALS, Action, ActionKind
from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
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
from game.forbidden import NOT_COMPLETE, RULES, broken_rule
from game.layout import PHASE_CLAIM, PHASE_ROB
from game.packing import pack
from game.rules import legal_actions, legal_rows
from game.scoring.settlement import (
    RETURN_SCORE,
    START_SCORE,
    UMA_TENTHS,
    GameLength,
    final_results,
    final_scores,
    game_over,
    next_round,
    placements,
)
from game.scoring.value import context_of, evaluate
from game.state import apply, clone, new_round
from game.table.endings import aborted_by, drawn_round, exhausted, win_events
from game.table.table import masked
from game.tiles import TILES, face_of
from kit.errors import BotError
from kit.reports import write_json
from kit.text import clean_text
from kit.workers.ordered import batches, default_workers, in_order, peak_memory_mb
from learning.data.pack import unsupported
from learning.data.sources import StoredRecord, load, stored_games
from replays.mjlog.reader import read_record
from replays.record import GameRecord
from replays.review.report import length_of

TABLE = 4
"""The whole table's place among the five records of a round; the others are the players'."""
BATCH = 32
COUNTS = (
    *("games", "checked", "unreadable", "differences", "forbidden_games"),
    *("rounds", "events", "moves", "claims", "passes", "wins", "seeded", "disconnected"),
)
ODDITIES = {
    "no_tenpai_yame": "until June 2010 a dealer leading in the last round ended the game by winning, "
    "not by being tenpai",
    "east_into_west": "in March 2009 an East game without 30,000 points continued after South 4",
    "whole_results": "until 2022 results were whole numbers: the other players' scores rounded to the "
    "nearest thousand, the rest to first place",
    "small_uma": "until July 2009 the uma of an East game was 10, 5, -5 and -10 points",
}
SMALL_UMA_TENTHS = (100, 50, -50, -100)
RAN_OUT = ("exhaustive", "nagashi_mangan")
AFTER_A_DISCARD = ("four_winds", "four_riichi", "four_kans")
ABORTS = ("nine_terminals", "triple_ron", *AFTER_A_DISCARD)
CLAIMS = (ActionKind.CHI, ActionKind.PON, ActionKind.DAIMINKAN, ActionKind.RON)
VALUE = ("fu", "points", "limit", "yaku", "yakuman", "value")
"""Fields of a win that a record may leave to us."""


Begins: TypeAlias = tuple[int, int, int, Four]
"""Index, honba, sticks and scores of a round."""


class Difference(msgspec.Struct):
    """One thing in a record that our rules do not produce, ``turn`` discards into its round."""

    game_id: str
    round: str
    turn: int
    kind: str
    player: int
    text: str
    oddity: str = ""
    forbidden: str = ""

    def __str__(self) -> str:
        player = f"player {self.player}: " if self.player >= 0 else ""
        where = f"{self.game_id} {self.round or 'game'} turn {self.turn}"
        return clean_text(f"{where}: {self.kind}: {player}{self.text}")


class Wall(NamedTuple):
    """What a seed deals in one round; ``hands`` from the dealer on."""

    dice: tuple[int, int]
    hands: list[tuple[int, ...]]
    draws: Iterator[int]
    replacements: Iterator[int]
    indicators: Iterator[int]
    ura_indicators: tuple[int, ...]


def walls(seed: str) -> Iterator[Wall]:
    """The walls that follow from the text of a seed, endlessly.

    Source: Tenhou's description of its shuffle (Mersenne Twister, hashed with SHA-512). The records of early
    2009 have a seed for every round, and the generator's output is used unhashed (observed).
    """
    form, _, words = seed.partition(",")
    if form not in ("mt19937ar", "mt19937ar-sha512-n288", "mt19937ar-sha512-n288-base64"):
        raise ValueError(f"unknown form of seed: {form}")
    is_base64 = form.endswith("base64")
    key = base64.b64decode(words) if is_base64 else [int(word, 16) for word in words.split(",")]
    # NumPy's legacy seeding with an array is the generator's own init_by_array.
    generator = np.random.RandomState(np.frombuffer(key, "<u4") if isinstance(key, bytes) else key)
    while True:
        drawn = generator.randint(0, 1 << 32, 288, np.uint32).astype("<u4")
        if "sha512" in form:
            blocks = (hashlib.sha512(block.tobytes()).digest() for block in drawn.reshape(9, 32))
            drawn = np.frombuffer(b"".join(blocks), "<u4")
        yield shuffled(drawn.tolist(), lower_first=is_base64)


def shuffled(numbers: list[int], *, lower_first: bool) -> Wall:
    """The wall that numbers shuffle; in 2009 the upper tile of each pair of the dead wall came first."""
    tiles = list(range(TILES))
    for at in range(TILES - 1):
        other = at + numbers[at] % (TILES - at)
        tiles[at], tiles[other] = tiles[other], tiles[at]
    dealt = tuple(reversed(tiles))
    return Wall(
        (numbers[TILES - 1] % 6, numbers[TILES] % 6),
        [
            (*dealt[at : at + 4], *dealt[at + 16 : at + 20], *dealt[at + 32 : at + 36], dealt[48 + at // 4])
            for at in (0, 4, 8, 12)
        ],
        iter(dealt[52:122]),
        iter(tiles[place] for place in ((1, 0, 3, 2) if lower_first else (0, 1, 2, 3))),
        iter(tiles[4 + lower_first : 14 + lower_first : 2]),
        tuple(tiles[5 - lower_first : 15 - lower_first : 2]),
    )


class Finished(NamedTuple):
    """How a round left the table."""

    start: StartRound
    scores: Four
    sticks: int
    won: bool
    repeats: bool
    ends: bool


class GameCheck:
    """One game being checked.

    Attributes:
        counts: what was checked.
        found: every difference so far.
    """

    def __init__(self, record: GameRecord) -> None:
        self.record = record
        self.counts = Counter(seeded=int(bool(record.shuffle or record.round_shuffles)))
        self.found: list[Difference] = []
        self.length: GameLength = length_of(record.game_type)
        self.year = int(record.game_id[:4]) if record.game_id[:4].isdigit() else 0
        self.walls: Iterator[Wall] = iter(())
        if record.shuffle:
            self.walls = walls(record.shuffle)
        elif record.round_shuffles:
            self.walls = (next(walls(seed)) for seed in record.round_shuffles)
        self.views = [new_round()] * (TABLE + 1)
        self.away: set[int] = set()
        self.name = ""
        self.start: StartRound | None = None
        self.last: Finished | None = None
        self.due: Begins | None = (0, 0, 0, (START_SCORE,) * 4)

    def run(self) -> None:
        for event in self.record.events:
            self.attend(event)
            if isinstance(event, StartRound):
                self.finish()
                self.deal(event)
            elif self.start and self.fits and pack(event) is not None:
                self.step(event)
        self.finish()
        self.end()

    def report(
        self, kind: str, text: str, player: int = -1, *, oddity: str = "", forbidden: str = ""
    ) -> None:
        turn = int(self.views[TABLE]["discard_count"])
        game_id = self.record.game_id
        self.found.append(Difference(game_id, self.name, turn, kind, player, text, oddity, forbidden))

    def compare(self, kind: str, whom: int = -1, /, **fields: tuple[object, object]) -> None:
        for name, (theirs, ours) in fields.items():
            if theirs != ours:
                self.report(kind, f"{name} {theirs} in the record, {ours} by our rules", whom)

    def attend(self, event: GameEvent) -> None:
        """A server only draws and discards the drawn tile for a player who is away."""
        match event:
            case PlayerLeft():
                self.counts["disconnected"] = 1
                self.away.add(event.player)
            case PlayerReturned():
                self.away.discard(event.player)
            case Draw() | RiichiAccepted() | Discard(tsumogiri=True):
                pass
            case _ if (player := getattr(event, "player", -1)) in self.away:
                self.report("legality", f"{event!r} by a player who is away", player)

    # --- a round --------------------------------------------------------------------------------------

    def deal(self, start: StartRound) -> None:
        if self.last and self.last.ends:
            self.report("end", f"the game went on with {self.last.scores}", oddity=self.why_on(self.last))
        wind, number = divmod(start.round_index, 4)
        self.name = f"{('East', 'South', 'West', 'North')[wind % 4]} {number + 1}"
        self.name += f" honba {start.honba}" if start.honba else ""
        self.start, self.fits, self.last = start, True, None
        self.views = self.seen = [new_round() for _ in range(TABLE + 1)]
        self.results: list[Win | DrawnRound] = []
        self.kan: GameEvent | None = None
        self.previous: GameEvent = start
        self.wall = next(self.walls, None)
        self.fold(start)
        begins = (start.round_index, start.honba, start.riichi_sticks, start.scores)
        self.compare("order", begins=(begins, self.due or begins))
        self.due = None
        if self.wall:
            dice = self.record.dice[self.counts["rounds"] :][:1]
            self.compare("wall", dice=(dice, (self.wall.dice,)))
            for player, hand in enumerate(start.hands):
                self.compare("wall", player, deal=(hand, self.wall.hands[(player - start.dealer) % 4]))
            self.compare("wall", indicator=(start.dora_indicator, next(self.wall.indicators)))
        self.counts["rounds"] += 1

    def fold(self, event: GameEvent) -> None:
        self.counts["events"] += 1
        for player, view in enumerate(self.views):
            try:
                apply(view, event if player == TABLE else masked(event, player))
            except BotError as exc:
                whose = "the table" if player == TABLE else f"player {player}'s view"
                self.report("event", f"{whose}: {exc}")
                self.fits = False
                return

    def step(self, event: GameEvent) -> None:
        table = self.views[TABLE]
        if isinstance(event, Win | DrawnRound):
            if not self.results:
                self.seen = [clone(view) for view in self.views]
            self.results.append(event)
            self.fold(event)
            return
        if self.results:
            self.report("event", f"{event!r} after the result")
            self.fits = False
            return
        if isinstance(event, Draw | Discard):
            # The indicator of an open kan is revealed after the draw.
            hidden = isinstance(event, Draw) and isinstance(self.kan, Daiminkan | Kakan)
            if table["indicator_count"] != table["kan_count"] + 1 - hidden:
                self.report("event", f"{table['indicator_count']} indicators lie open before {event!r}")
        match event:
            case Draw():
                if table["phase"] in (PHASE_CLAIM, PHASE_ROB):
                    self.passed(())
                if table["phase"] == PHASE_CLAIM and (reason := aborted_by(table)):
                    self.report("legality", f"{event!r} although {reason} ends the round")
                if self.wall:
                    due = next(self.wall.replacements if self.kan else self.wall.draws, None)
                    self.compare("wall", draw=(event.tile, due))
                self.kan = None
            case DoraRevealed() if self.wall:
                self.compare("wall", indicator=(event.indicator, next(self.wall.indicators, None)))
            case Chi() | Pon() | Daiminkan() | Discard() | Riichi() | Ankan() | Kakan():
                if isinstance(event, Chi | Pon | Daiminkan):
                    self.passed((event.player,))
                if isinstance(event, Daiminkan | Ankan | Kakan):
                    self.kan = event
                kind = ActionKind[type(event).__name__.upper()]
                made = Action(kind, getattr(event, "tile", -1), getattr(event, "consumed", ()))
                self.look_up(event, event.player, made)
        self.previous = event
        self.fold(event)

    def look_up(self, event: GameEvent, player: int, action: Action) -> None:
        """Look an action up among the legal ones of its player's own view."""
        self.counts["claims" if action.kind in CLAIMS else "moves"] += 1
        if faces(action) not in map(faces, legal_actions(self.seen[player], player)):
            rule = broken_rule(self.seen[player], event)
            # Every server checks winning hands itself: if ours finds no win, our rules are wrong.
            forbidden = "" if rule == RULES[NOT_COMPLETE] else rule
            self.report("legality", f"{event!r} is not offered: {rule}", player, forbidden=forbidden)

    def passed(self, acting: Collection[int]) -> None:
        """Look up the chances that everybody else let pass."""
        for player in range(4):
            if player != self.seen[TABLE]["last_player"] and player not in acting:
                # With wins that lack a yaku, which are chances, too: to let one pass makes furiten.
                self.counts["passes"] += legal_rows(self.seen[player], player, ROWS) > 1

    # --- results --------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Check the result of the round that was dealt last, if any."""
        start, table = self.start, self.views[TABLE]
        if start is None:
            return
        self.start = None
        if not self.results:
            if self.fits:
                self.report("event", "the round has no result")
            return
        wins = [event for event in self.results if isinstance(event, Win)]
        self.counts["wins"] += len(wins)
        if wins:
            self.won(wins)
        aborted = False
        for event in self.results:
            if isinstance(event, DrawnRound):
                aborted = event.reason in ABORTS
                self.drawn(event)
        if self.fits:
            tenpai = bool(self.seen[TABLE]["waits"][start.dealer])
            repeats = any(win.player == start.dealer for win in wins) if wins else aborted or tenpai
            scores, sticks = tuple(table["scores"].tolist()), int(table["riichi_sticks"])
            ends = game_over(start.round_index, repeats, scores, self.length, aborted=aborted)
            self.last = Finished(start, scores, sticks, bool(wins), repeats, ends)
            index, honba = next_round(start.round_index, start.honba, dealer_repeats=repeats, won=bool(wins))
            self.due = (index, honba, sticks, scores)

    def won(self, wins: list[Win]) -> None:
        table = self.seen[TABLE]
        for win in wins:
            own = win.player == win.from_player
            self.look_up(win, win.player, Action(ActionKind.TSUMO if own else ActionKind.RON, win.tile))
            if not own and isinstance(self.previous, RiichiAccepted):
                self.report("legality", f"{win!r} on a riichi that was accepted", win.player)
        if table["phase"] in (PHASE_CLAIM, PHASE_ROB):
            self.passed([win.player for win in wins])
        tile, source = wins[0].tile, wins[0].from_player
        ura = max((win.ura_indicators for win in wins), key=len)
        if self.wall:
            self.compare("wall", ura=(ura, self.wall.ura_indicators[: len(ura)]))
        for win in wins:
            if evaluate(context_of(table, win.player, tile, source, ura)) is None:
                self.report("result", "no yaku by our rules", win.player)
                return
        ours = win_events(table, [win.player for win in wins], source, tile, ura)
        for win, our in zip(wins, ours, strict=True):
            stated = [name for name in win.__struct_fields__ if win.value == "stated" or name not in VALUE]
            pairs = {name: (getattr(win, name), getattr(our, name)) for name in stated}
            shown = int(table["indicator_count"]) if table["riichi"][win.player] == 2 else 0
            self.compare("result", win.player, **pairs, ura=(len(win.ura_indicators), shown))

    def drawn(self, drawn: DrawnRound) -> None:
        table, reason = self.seen[TABLE], drawn.reason
        if reason == "nine_terminals":
            self.look_up(drawn, int(table["turn"]), NINE_TERMINALS)
        elif reason == "triple_ron":
            for player in {0, 1, 2, 3} - {int(table["last_player"])}:
                self.look_up(drawn, player, Action(ActionKind.RON, int(table["last_tile"])))
        elif reason != "unknown":
            self.passed(())
            due = reason if reason in AFTER_A_DISCARD else None
            self.compare("legality", abort=(due, aborted_by(table)))
        held = drawn_round(table, reason, range(4))
        ours = exhausted(table)[0] if reason in RAN_OUT else held
        self.compare("result", reason=(reason, ours.reason), deltas=(drawn.deltas, ours.deltas))
        for player, hand in enumerate(drawn.hands):
            if hand is not None and tuple(sorted(hand)) != held.hands[player]:
                self.report("result", f"shows {hand}, which is not their hand", player)
            elif reason in RAN_OUT:
                self.compare("result", player, noten=(hand is None, ours.hands[player] is None))

    # --- the end --------------------------------------------------------------------------------------

    def why_on(self, last: Finished) -> str:
        """The rule of earlier years by which a game went on."""
        if min(last.scores) < 0:
            return ""
        if self.year <= 2010 and last.repeats and not last.won:
            return "no_tenpai_yame"
        low = max(last.scores) < RETURN_SCORE and not last.repeats
        east = self.length == "tonpuu" and last.start.round_index == 7
        return "east_into_west" if self.year <= 2009 and east and low else ""

    def end(self) -> None:
        end, last = self.record.ending, self.last
        if end is None:
            self.report("end", "the game has no end")
        elif last is not None:
            if not last.ends:
                self.report("end", f"the game ended with {last.scores}")
            scores = final_scores(last.scores, last.sticks)
            self.compare("end", scores=(end.scores, scores))
            ours = final_results(scores)
            if end.results != ours:
                text = f"results {end.results} in the record, {ours} by our rules"
                self.report("end", text, oddity=self.old_results(end.results, scores))

    def old_results(self, results: Four, scores: Four) -> str:
        """The rule of earlier years by which a game has its results."""
        if self.year <= 2022 and results == whole_results(scores, UMA_TENTHS):
            return "whole_results"
        small = self.year <= 2009 and self.length == "tonpuu"
        return "small_uma" if small and results == whole_results(scores, SMALL_UMA_TENTHS) else ""


ROWS = np.zeros((48, 6), np.int16)
"""Where legal actions are written to be counted."""


def faces(action: Action) -> tuple[ActionKind, int, list[int]]:
    """An action without the difference between copies that look alike."""
    return action.kind, face_of(action.tile), sorted(map(face_of, action.consumed))


def whole_results(scores: Four, uma_tenths: Four) -> tuple[int, ...]:
    """Results in tenths as they were until 2022: whole points, the rest of the rounding to first place.

    >>> whole_results((41_500, 27_500, -500, 31_500), UMA_TENTHS)
    (510, -120, -510, 120)
    """
    places = placements(scores)
    thousands = [(abs(score) + 500) // 1000 * (1 if score >= 0 else -1) for score in scores]
    results = [10 * (n - 30) + uma_tenths[place - 1] for n, place in zip(thousands, places, strict=True)]
    results[places.index(1)] -= sum(results)
    return tuple(results)


class Checked(NamedTuple):
    counts: Counter[str]
    found: Sequence[Difference] = ()
    not_supported: str = ""


class Batch(NamedTuple):
    games: list[Checked]
    process: int
    memory_mb: float


def check_batch(batch: list[StoredRecord]) -> Batch:
    return Batch([check(stored) for stored in batch], os.getpid(), peak_memory_mb())


def check(stored: StoredRecord) -> Checked:
    """Check one stored record."""
    name = stored.place
    try:
        loaded = load(stored)
        name = loaded.game_id
        if why := unsupported(loaded.game_type):  # before it is read: games of three cannot be
            return Checked(Counter(), not_supported=why)
        return check_record(read_record(loaded.text, name))
    except (BotError, ValueError) as exc:  # ValueError: of the seed
        text = f"{stored.place}: {exc}"
        return Checked(Counter(unreadable=1), [Difference(name, "", 0, "unreadable", -1, text)])


def check_record(record: GameRecord) -> Checked:
    """Check one game."""
    if why := unsupported(record.game_type) or ("" if record.is_complete else "hidden hands"):
        return Checked(Counter(), not_supported=why)
    game = GameCheck(record)
    game.run()
    return Checked(Counter({**game.counts, "checked": 1}), game.found)


def verify(paths: Sequence[Path], workers: int) -> dict[str, Any]:
    """Check every game of some files, folders and shards, in several processes."""
    started = time.monotonic()
    memory: dict[int, float] = {}
    games: list[Checked] = []
    for batch in in_order(check_batch, batches(stored_games(paths), BATCH), workers):
        memory[batch.process] = batch.memory_mb
        games += batch.games
    memory[os.getpid()] = peak_memory_mb()
    report, seconds = totals(games), time.monotonic() - started
    report["seconds"] = round(seconds, 2)
    report["games_per_s"] = round(report["checked"] / seconds, 1)
    return report | {"memory_mb": round(sum(memory.values()), 1), "workers": workers}


def totals(games: Sequence[Checked]) -> dict[str, Any]:
    """What games add up to.

    ``events`` were folded into five records each; ``moves`` on a player's own turn, ``claims`` of others'
    tiles and ``passes`` were looked up in the player's own view; ``seeded`` games had their walls compared.
    ``differences`` counts neither ``oddities`` nor ``forbidden`` moves, and ``listed`` is without oddities.
    """
    found = [each for game in games for each in game.found]
    oddities = Counter(each.oddity for each in found if each.oddity)
    unexplained = [each for each in found if not each.oddity and not each.forbidden]
    counts = sum((game.counts for game in games), Counter[str]())
    counts["games"] = len(games)
    counts["differences"] = len(unexplained) - counts["unreadable"]
    counts["forbidden_games"] = sum(any(each.forbidden for each in game.found) for game in games)
    return {name: counts[name] for name in COUNTS} | {
        "not_supported": dict(Counter(game.not_supported for game in games if game.not_supported)),
        "oddities": dict(oddities),
        "forbidden": dict(Counter(each.forbidden for each in found if each.forbidden)),
        "listed": [each for each in found if not each.oddity],
        "explanations": {name: text for name, text in ODDITIES.items() if name in oddities},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.verify_records", description="Check real games against our rules."
    )
    parser.add_argument("paths", nargs="+", type=Path, help="records, shards, and folders of them")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--workers", type=int, default=default_workers(), help="processes (%(default)s)")
    args = parser.parse_args(arguments)
    report = verify(args.paths, args.workers)
    if args.json:
        write_json(report)
    else:
        listed = report.pop("listed")
        print(*listed, *(f"{name} {value}" for name, value in report.items() if value), sep="\n")
    return 1 if report["differences"] or report["unreadable"] else 0


if __name__ == "__main__":
    sys.exit(main())
