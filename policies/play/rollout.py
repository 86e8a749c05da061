"""Plays many tables side by side and answers their questions in batches.

Every table advances until it needs a decision that is not forced; then all players who are asked, at any
table, are passed to their `Chooser` at once. Only decisions that may be more than a discard wait until there
are more of them: questions about riichi and calls are rare, and a network takes as long for one as for eight.

A game is determined by its seed and the players' seats, to the last tile: an answer depends only on its
position (`policies.play.inference`), not on the rest of the batch.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter, process_time
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

import msgspec
import structlog

from game.actions import Action, ActionKind
from game.events import Four, GameEvent
from game.observation import HiddenTiles, Observation
from game.scoring.settlement import GameLength
from game.table.table import Table
from policies.flow.draws import drawn_bits
from policies.flow.flow import Pick, Running, Verdict, flow, most_likely, reason_of, run_flows
from policies.flow.slots import Policy, Question, Slot
from policies.play.decide import fall_back

TABLES: Final = 256
"""Tables side by side: with fewer, batches on a CPU are less full."""

_WAITING_SHARE: Final = 0.7
"""Share of the games in progress that may wait until riichi and calls are decided together."""

Times: TypeAlias = defaultdict[str, float]
"""CPU seconds, by activity."""

_log = structlog.get_logger(__name__)


class Seating(msgspec.Struct, frozen=True):
    """A game to be played.

    Attributes:
        number: identifies the game.
        seed: determines every wall.
        players: the chooser of each player, as indices into the rollout's choosers.
    """

    number: int
    seed: int
    players: Four


class Request(Observation, frozen=True, kw_only=True):
    """One decision asked for, with all hands known and at least two legal actions.

    Attributes:
        number: the game's, as in its seating.
        table: where it is to be made; a chooser uses only what the player sees.
    """

    number: int
    table: Table

    @property
    def moment(self) -> tuple[int, int, int, int]:
        """The key of this decision among all others, from which draws are seeded (`policies.flow.draws`)."""
        return self.table.seed, self.number, len(self.table.events), self.player

    def hidden(self) -> HiddenTiles:
        """The tiles that no player sees, for policies that learn from them."""
        return HiddenTiles(self.table.wall, drawn_bits(*self.moment))


class Choice(msgspec.Struct, frozen=True):
    """A chooser's decision.

    Attributes:
        action: legal.
        fault: the reason if the action is a replacement, else "".
        verdict: what the decision flow asked and was answered; None if it did not choose the action.
    """

    action: Action
    fault: str = ""
    verdict: Verdict | None = None


class Chooser(Protocol):
    """Anything that can play: a policy behind the decision flow, or an external program."""

    def choose(self, requests: Sequence[Request], times: Times) -> Sequence[Choice]:
        """Decide, for many players at once; every answer is legal.

        Args:
            requests: one or more.
            times: the CPU seconds spent are added here.

        Raises:
            EngineUnusable: this player cannot play at all; no other error is raised.
        """

    def close(self, times: Times) -> None:
        """Release what only the games in progress needed; more games may follow.

        Args:
            times: the CPU seconds spent are added here.
        """


class Fault(msgspec.Struct, frozen=True):
    """A decision that had to be replaced.

    Attributes:
        player: absolute.
        round_index: 0 East 1 … 8 West 1.
        honba: repeat counters of the round.
        turn: earlier discards of all players.
        reason: what went wrong.
    """

    player: int
    round_index: int
    honba: int
    turn: int
    reason: str

    def __str__(self) -> str:
        where = f"{'ESW'[self.round_index // 4]}{self.round_index % 4 + 1}-{self.honba}"
        return f"{where} turn {self.turn} player {self.player}: {self.reason}"


class FinishedGame(msgspec.Struct, frozen=True):
    """A finished game.

    Attributes:
        seating: the game as requested.
        events: everything that happened, all hands open; without an end if the game crashed.
        decisions: asked of the choosers, by player, without forced moves.
        faults: decisions that had to be replaced.
        crash: why the game could not be finished, "" if it was.
    """

    seating: Seating
    events: tuple[GameEvent, ...]
    decisions: Four
    faults: tuple[Fault, ...]
    crash: str = ""


def _always_most_likely(_: Request) -> Pick:
    return most_likely


class PolicyChooser:
    """A policy behind the paper's decision flow.

    After a failed batch each question is asked again on its own (`policies.flow.flow.run_flows`), so that one
    bad position costs one decision: the heuristic's answer replaces it, and the fault is counted.

    Args:
        policy: fills the five slots.
        picks: gives each request the function that picks its option; independent of other requests.
    """

    def __init__(self, policy: Policy, picks: Callable[[Request], Pick] = _always_most_likely) -> None:
        self._policy = policy
        self._picks = picks
        self._logged: set[str] = set()

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide, all flows side by side; see `Chooser`."""
        started = process_time()
        asked = 0.0

        def answer(slot: Slot, questions: Sequence[Question]) -> Sequence[Sequence[float]]:
            nonlocal asked
            before = process_time()
            try:
                return self._policy.answer(slot, questions)
            finally:
                spent = process_time() - before
                times[f"{slot} answers"] += spent
                asked += spent

        flows = [flow(request, self._picks(request)) for request in requests]
        done = run_flows(flows, answer, self._log)
        choices = [self._choice(*each) for each in zip(requests, done, strict=True)]
        times["flow"] += process_time() - started - asked
        return choices

    def close(self, times: Times) -> None:
        """Nothing to do; see `Chooser`."""

    def _choice(self, request: Request, done: Running) -> Choice:
        try:
            verdict = done.result()
        except Exception as error:
            reason = reason_of(error)
        else:
            return Choice(verdict.action, verdict=verdict)
        self._log(reason)
        instead = fall_back(request, reason)
        return Choice(instead.action, instead.fallback_reason)

    def _log(self, reason: str) -> None:
        """Log each reason once: a broken policy gives one for every decision."""
        if reason not in self._logged:
            self._logged.add(reason)
            _log.warning("decision.fallback", reason=reason)


class _Stopwatch:
    """Divides CPU time among activities that alternate faster than the CPU clock can be read.

    Reading that clock takes a microsecond or more, as long as some of the activities; the other clock says
    how they share the time.
    """

    def __init__(self) -> None:
        self._laps: Times = defaultdict(float)
        self._begun = process_time()
        self._last = perf_counter()

    def start(self) -> None:
        """Begin the first activity after something else."""
        self._last = perf_counter()

    def lap(self, what: str) -> None:
        """End an activity and begin the next."""
        now = perf_counter()
        self._laps[what] += now - self._last
        self._last = now

    def charge(self, times: Times) -> None:
        """Add the CPU time since the watch was made to the activities."""
        spent, whole = process_time() - self._begun, sum(self._laps.values())
        for what, lap in self._laps.items():
            times[what] += spent * lap / (whole or 1.0)


class _RunningGame:
    """One table in progress; ``first`` holds answers already known.

    It ends after ``rounds`` rounds, or when ``stop`` says so before a question.
    """

    def __init__(
        self,
        seating: Seating,
        table: Table,
        rounds: int | None = None,
        first: Mapping[int, Action] = MappingProxyType({}),
        stop: Callable[[Table], bool] = lambda _: False,
    ) -> None:
        self.seating = seating
        self.decisions = [0, 0, 0, 0]
        self.faults: list[Fault] = []
        self.crash = ""
        self.table = table
        self._rounds = rounds
        self._stop, self._stopped = stop, False
        self._first = dict(first)
        self._answers: dict[int, Action] = {}
        self._open = 0

    @property
    def over(self) -> bool:
        table = self.table
        return (
            table.done
            or self._stopped
            or bool(self.crash)
            or (self._rounds is not None and len(table.results) >= self._rounds)
        )

    def advance(self, watch: _Stopwatch) -> list[Request]:
        """Apply the given answers and any forced moves, up to the next decisions.

        Nothing happens while an answer is missing.
        """
        if self._open:
            return []
        try:
            asked = self._advance(watch)
        except Exception as error:
            self.crash = reason_of(error)
            _log.error("game.crashed", seating=str(self.seating), reason=self.crash, exc_info=True)
            return []
        self._open = len(asked)
        return asked

    def _advance(self, watch: _Stopwatch) -> list[Request]:
        table = self.table
        watch.start()
        while True:
            if self._answers:
                table.step(self._answers)
                watch.lap("table")
                self._answers = {}
            if not self.over:
                self._stopped = self._stop(table)
            if self.over:
                return []
            asked = self._asked()
            watch.lap("legal")
            record = table.state  # folded here, so that the first reader is not charged for it
            watch.lap("fold")
            if asked:
                number = self.seating.number
                return [Request(record, *each, table.length, number=number, table=table) for each in asked]

    def _asked(self) -> list[tuple[int, tuple[Action, ...]]]:
        """The players who must decide, with their legal actions; forced moves are answered."""
        table, asked = self.table, []
        for player in table.waiting():
            if player in self._first:
                self._answers[player] = self._first.pop(player)
                continue
            legal = tuple(table.legal(player))
            if len(legal) == 1:
                self._answers[player] = legal[0]
            else:
                asked.append((player, legal))
                self.decisions[player] += 1
        return asked

    def take(self, player: int, choice: Choice) -> None:
        """Store an answer for the next step."""
        self._answers[player] = choice.action
        self._open -= 1
        if choice.fault:
            record = self.table.state
            self.faults.append(
                Fault(
                    player,
                    int(record["round_index"]),
                    int(record["honba"]),
                    int(record["discard_count"]),
                    choice.fault,
                )
            )

    def played(self) -> FinishedGame:
        first, second, third, fourth = self.decisions
        return FinishedGame(
            self.seating,
            tuple(self.table.events),
            (first, second, third, fourth),
            tuple(self.faults),
            self.crash,
        )


_Asked: TypeAlias = tuple[_RunningGame, Request]


def _is_discard(request: Request) -> bool:
    """Whether nothing but a discard is possible: it comes last among the legal actions (`game.rules`)."""
    return request.legal[0].kind is ActionKind.DISCARD


def _due(waiting: list[_Asked], games: int) -> tuple[list[_Asked], list[_Asked]]:
    """The decisions to be made now, and those that wait for others of their kind.

    Args:
        waiting: all that are asked for.
        games: number of games in progress; fewer and fewer towards the end of a run.
    """
    discards: list[_Asked] = []
    others: list[_Asked] = []
    for each in waiting:
        (discards if _is_discard(each[1]) else others).append(each)
    if discards and len(others) < games * _WAITING_SHARE:
        return discards, others
    return waiting, []


class Rollout:
    """Plays many games at once.

    Args:
        choosers: the players; seatings refer to them by index. A chooser listed twice is asked once.
        tables: number played at once.
        length: length of the games.

    Attributes:
        times: CPU seconds spent so far; may be replaced to start a new count.
        decisions: asked for so far, in all games.
    """

    def __init__(
        self, choosers: Sequence[Chooser], *, tables: int = TABLES, length: GameLength = "hanchan"
    ) -> None:
        self._choosers = choosers
        self._first = [choosers.index(chooser) for chooser in choosers]
        self._tables = tables
        self._length: GameLength = length
        self.times: Times = defaultdict(float)
        self.decisions = 0

    def play(self, seatings: Iterable[Seating]) -> Generator[FinishedGame, None, None]:
        """Play games to the end and yield them in the order in which they finish."""
        with contextlib.closing(self.steps(seatings)) as steps:
            for ended in steps:
                yield from ended

    def steps(self, seatings: Iterable[Seating]) -> Generator[list[FinishedGame], None, None]:
        """Like `play`, but yields after each step of all tables the games that ended with it, often none."""
        with contextlib.closing(self._steps(map(self._sit_down, seatings))) as steps:
            for ended in steps:
                yield [game.played() for game in ended]

    def finish_rounds(
        self,
        tables: Iterable[tuple[Seating, Table]],
        first: Callable[[Seating], Mapping[int, Action]] = lambda _: MappingProxyType({}),
        between: Callable[[], None] = lambda: None,
        stop: Callable[[Seating, Table], bool] = lambda _seating, _table: False,
    ) -> Generator[tuple[Seating, Table], None, None]:
        """Play the rounds that are under way to their ends, in the order in which they end.

        Args:
            tables: with their seatings, of which only the players count. The tables are changed, not copied,
                and each is taken only when there is room for it.
            first: answers that some players give to the first question they are asked, whatever their chooser
                would say.
            between: called after each step of all tables; what it raises ends the play.
            stop: asked before each question of a table; true ends the play there.

        Raises:
            RuntimeError: a table crashed.
        """
        games = (
            _RunningGame(seating, table, 1, first(seating), partial(stop, seating))
            for seating, table in tables
        )
        with contextlib.closing(self._steps(games)) as steps:
            for ended in steps:
                between()
                for game in ended:
                    if game.crash:
                        raise RuntimeError(f"game {game.seating.number}: {game.crash}")
                    yield game.seating, game.table

    def _steps(self, coming: Iterator[_RunningGame]) -> Generator[list[_RunningGame], None, None]:
        try:
            games = list(itertools.islice(coming, self._tables))
            waiting: list[_Asked] = []
            while games:
                watch = _Stopwatch()
                waiting += ((game, request) for game in games for request in game.advance(watch))
                watch.charge(self.times)
                due, waiting = _due(waiting, len(games))
                self._answer(due)
                running, ended = [], []
                for game in games:
                    if not game.over:
                        running.append(game)
                        continue
                    ended.append(game)
                    running += itertools.islice(coming, 1)
                yield ended
                games = running
        finally:
            for chooser in self._choosers:
                chooser.close(self.times)

    def _sit_down(self, seating: Seating) -> _RunningGame:
        before = process_time()
        game = _RunningGame(seating, Table(seating.seed, length=self._length))
        self.times["table"] += process_time() - before
        return game

    def _answer(self, asked: Sequence[_Asked]) -> None:
        self.decisions += len(asked)
        shares: list[list[_Asked]] = [[] for _ in self._choosers]
        for game, request in asked:
            shares[self._first[game.seating.players[request.player]]].append((game, request))
        for chooser, share in zip(self._choosers, shares, strict=True):
            if not share:
                continue
            choices = chooser.choose([request for _, request in share], self.times)
            for (game, request), choice in zip(share, choices, strict=True):
                game.take(request.player, choice)
