"""A game as sent to the page: a fold over events and decisions that produces incremental messages.

Together the messages have the form of a review (`replays.review.schema`), with less in it: no result for a
running round, no verdicts on decisions, no summary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
import structlog

from bot.dashboard.feed import Began, DecisionSent, HandsGuessed, Happened, Item, Restated
from bot.dashboard.guesses import HandQuestion
from bot.logs.redaction import REDACTOR
from bot.tenhou.session.events import GameStarted
from game.events import DrawnRound, EndGame, GameEvent, StartGame, StartRound, Win
from game.rules import legal_actions
from game.scoring.settlement import placements
from game.state import apply, clone, new_round
from kit.errors import BotError
from replays.mjai.lines import render
from replays.record import DecisionRecord, shown_time
from replays.review.live import played_decision
from replays.review.moments import Moment, RoundEvents
from replays.review.notes import Notes
from replays.review.rounds import rounds_of
from replays.review.schema import ReviewRound

Message: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[int, int, int]
Source: TypeAlias = Literal["live", "mjlog"]

UNSHOWN_STEPS: Final = ("forced",)
"""Steps without a choice."""

log = structlog.get_logger(__name__)


class GameMessages:
    """The running game, from a feed or from a record.

    Args:
        send: called with every message, in order.
        program: name and version of the program that shows it.
        policy: name of the policy that plays, "" for none.
        ask: called with every decision, to find out what the opponents may hold; the answers are items of the
            feed.

    Attributes:
        running: whether a game has begun.
    """

    def __init__(
        self,
        send: Callable[[Message], None],
        program: str,
        policy: str = "",
        ask: Callable[[HandQuestion], None] | None = None,
    ) -> None:
        self.running = False
        self._send = send
        self._program = program
        self._policy = policy
        self._ask = ask

    def take(self, item: Item) -> None:
        """Show an item of the feed, if it belongs to a game that has begun."""
        if isinstance(item, Began):
            own = [player == item.game.player for player in range(4)]
            self.begin(item.game, item.game_id, shown_time(item.date), "live", own)
        elif self.running:
            match item:
                case Happened(event):
                    self.happened(event)
                case Restated(events):
                    self.restated(events)
                case DecisionSent(made):
                    self.decided(made)
                case HandsGuessed():
                    self.guessed(item)

    def begin(
        self, game: GameStarted, game_id: str, date: str, source: Source, known: Sequence[bool]
    ) -> None:
        """Start a game with an empty review.

        Args:
            game: its type, players and ranks; its player is the one whose decisions are shown.
            game_id: id of its record.
            date: date of its start, as text; "" if unknown.
            source: live, or from a record.
            known: whether the hand is shown, by player.
        """
        self.running = True
        self._player, self._length, self._game_id = game.player, game.length, game_id
        self._head = {
            "format": "suzaku-review/3",
            "program": self._program,
            "game": {
                "id": game_id,
                "date": date or None,
                "type": game.game_type,
                "length": game.length,
                "names": [REDACTOR.value(name) for name in game.names],
                "ranks": game.ranks if any(game.ranks) else None,
                "rates": game.rates if any(game.ranks) else None,
                "scores": None,
                "results": None,
                "places": None,
                "source": source,
                "known": known,
            },
            "seat": game.player,
            "policy": {"name": self._policy, "identity": ""},
            "thresholds": {},
            "rounds": [],
            "decisions": [],
            "summary": None,
        }
        self._begin()

    def happened(self, event: GameEvent) -> None:
        """Add an event."""
        if isinstance(event, StartGame):
            return
        if isinstance(event, EndGame):
            self._end(event)
            return
        if isinstance(event, StartRound):
            self._state, self._folds = new_round(), True
            self._rounds.append(RoundEvents(event, [], []))
        if not self._rounds:
            return
        self._fold(event)
        dealt = self._rounds[-1]
        dealt.events.append(event)
        message = render(event)
        if message is None:
            return
        dealt.messages.append(message)
        if isinstance(event, StartRound):
            self._deal()
        else:
            self._send({"type": "events", "round": self._index, "events": [message]})
        if isinstance(event, (Win, DrawnRound)):  # its end is sent only with the next deal
            self._patch(self._shown()[-1], "result")

    def decided(self, made: DecisionRecord) -> None:
        """Add the decision made in the current situation; one that does not fit is left out."""
        if not self.expects(made):
            return
        record = clone(self._state)
        moment = Moment(
            record,
            self._player,
            self._legal(made),
            self._length,
            round=self._index,
            event=len(self._rounds[-1].messages) - 1,
            done=made.decision.action,
        )
        decision = played_decision(moment, made, self._notes)
        shown: Message = msgspec.to_builtins(decision) | {"done": None}
        # the text of an error can contain anything
        shown["live"] = REDACTOR.value(shown["live"])
        self._made.append(made)
        if not self._decisions or self._decisions[-1] != (moment.round, moment.event):
            self._decisions.append((moment.round, moment.event))
        self._send({"type": "decision", "decision": shown})
        if self._ask is not None:
            self._ask(HandQuestion(self._game_id, moment.round, moment.event, record, self._player))

    def guessed(self, found: HandsGuessed) -> None:
        """Add what the opponents may hold at a decision; nothing if it is of another game."""
        place = (found.round, found.event)
        if found.game_id == self._game_id and place in self._decisions:
            hands = msgspec.to_builtins(found.hands)
            self._send({"type": "hands", "round": found.round, "event": found.event, "candidates": hands})

    def expects(self, made: DecisionRecord) -> bool:
        """Whether a decision belongs to the current situation."""
        return (
            self._folds
            and made.player == self._player
            and made.decision.step not in UNSHOWN_STEPS
            and self._place == (made.round_index, made.honba, made.turn)
            and bool(self._legal(made))
        )

    def replay(self, events: Sequence[GameEvent], made: Sequence[DecisionRecord]) -> None:
        """Add further events and the decisions made among them, each where it fits."""
        waiting: defaultdict[Place, list[DecisionRecord]] = defaultdict(list)
        for each in made:
            waiting[each.round_index, each.honba, each.turn].append(each)
        for event in events:
            self.happened(event)
            here = waiting[self._place]
            for each in [each for each in here if self.expects(each)]:
                here.remove(each)
                self.decided(each)

    def restated(self, events: Sequence[GameEvent]) -> None:
        """Start the whole game again, with the decisions sent so far."""
        made = self._made
        self._begin()
        self.replay(events, made)

    # --- parts ------------------------------------------------------------------------------------------

    @property
    def _index(self) -> int:
        return len(self._rounds) - 1

    @property
    def _place(self) -> Place:
        """Round, honba and discards so far."""
        state = self._state
        return int(state["round_index"]), int(state["honba"]), int(state["discard_count"])

    def _begin(self) -> None:
        self._rounds: list[RoundEvents] = []
        self._decisions: list[tuple[int, int]] = []
        self._made: list[DecisionRecord] = []
        self._notes = Notes()
        self._state = new_round()
        self._folds = False
        self._send({"type": "game", "game": self._head})

    def _fold(self, event: GameEvent) -> None:
        if not self._folds:
            return
        try:
            apply(self._state, event)
        except BotError as exc:
            self._folds = False  # until the next deal the table is shown, but no decisions
            log.warning("dashboard.confused", reason=str(exc))

    def _legal(self, made: DecisionRecord) -> tuple[Any, ...]:
        """The options in our order; none if the decision belongs to another situation."""
        legal = tuple(legal_actions(self._state, self._player))
        fits = set(legal) == {option.action for option in made.decision.options}
        return legal if fits and made.decision.action in legal else ()

    def _shown(self, ending: EndGame | None = None) -> tuple[ReviewRound, ...]:
        counted = [place for place, _ in self._decisions]
        return rounds_of(self._rounds, ending, self._length, None, counted)

    def _deal(self) -> None:
        shown = self._shown()
        if len(shown) > 1:
            self._patch(shown[-2], "after")
        self._send({"type": "round", "round": msgspec.to_builtins(shown[-1]) | {"result": None}})

    def _patch(self, changed: ReviewRound, field: Literal["after", "result"]) -> None:
        value = msgspec.to_builtins(getattr(changed, field))
        self._send({"type": "patch", "round": changed.index, "fields": {field: value}})

    def _end(self, ending: EndGame) -> None:
        if self._rounds:
            self._patch(self._shown(ending)[-1], "after")
        self._send(
            {
                "type": "over",
                "scores": list(ending.scores),
                "results": [tenths / 10 for tenths in ending.results or ()],
                "places": list(placements(ending.scores)),
            }
        )
