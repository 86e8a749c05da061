"""One game from our chair: table frames in, folded events and prompts out. No socket, no clock.

The seat folds every frame at once, opens a prompt where a choice is ours, and says what to answer on the
wire. State changes only on the server's word: what we send is folded when it comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from bot.tenhou.game_types import GameType
from bot.tenhou.messages import client_messages as c
from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.comeback import Comeback, blind_choice, with_riichi
from bot.tenhou.session.events import (
    Disagreement,
    GameEnded,
    GameStarted,
    PromptClosed,
    PromptOpened,
    Resumed,
    RoundEnded,
    SessionEvent,
    StateLost,
    TableEvent,
)
from bot.tenhou.session.prompts import Prompt, agree, difference, objection, reply
from bot.tenhou.session.resume import Candidate
from bot.tenhou.session.translate import TABLE_MESSAGES, by_player, player_of_dealer, translate
from game.actions import Action, ActionKind
from game.errors import LocalProtocolError, StateMismatchError
from game.events import DrawnRound, EndGame, EndRound, Four, GameEvent, Riichi, StartGame, StartRound, Win
from game.layout import PHASE_CALLED
from game.rules import legal_actions
from game.settlement import GameLength, final_scores, placements
from game.state import apply, clone, is_furiten, new_round

MOST_DISPUTES: Final = 3
"""So often frames of one round may contradict our table; then it is played to its end without one."""
MOST_EARLY: Final = 64
"""Comings and goings remembered before a game begins."""
_KEEP_PROMPT: Final = (m.IndicatorShown,)
"""Frames that leave an open prompt open; so does a paid riichi, see `Seat._keeps_prompt`."""


class Seat:
    """A running game.

    Args:
        match: the frame that seated us.
        numbers: where prompts get their numbers from.
        send: takes the frames we answer with.
        is_named: whether the server has said what kind of table it is; else ``match`` is what we queued for.

    Attributes:
        record: the round's state.
        player: who we are, -1 before it is known.
        log: every event of the game so far, as we saw it.
        prompt: the open choice, or None.
        over: the final scores have come.
        game_id: id of the server's record, empty if none.
        people: who sits where, by seat, ours first.
    """

    def __init__(
        self,
        match: m.MatchFound,
        numbers: Iterator[int],
        send: Callable[[c.ClientMessage], None],
        *,
        is_named: bool = True,
    ) -> None:
        self.match = match
        self._is_named = is_named
        self.record = new_round()
        self.player = -1
        self.log: list[GameEvent] = []
        self.prompt: Prompt | None = None
        self.over = False
        self.game_id = ""
        self.people = m.Players(("", "", "", ""))
        self._numbers = numbers
        self._send = send
        self._round_start = 0  # index into the log
        self._is_dealt = False  # a first round is on the table, or was
        self._early: list[m.PlayerGone | m.PlayerBack] = []  # comings and goings before the game began
        self._disputed = (-1, -1)  # round and honba whose frames contradicted our table last
        self._disputes = 0  # so often in that round
        self._result: GameEvent | None = None  # how the running round ended
        self._winners: set[int] = set()
        self._ready_sent = False
        self._strict = True  # the scores of this round are known for sure
        self._blind = False
        self._riichi_sent = False
        self._riichi_assumed = False
        self._furiten: bool | None = None  # as the server last stated it, not compared yet
        self._comeback: Comeback | None = None  # until the first frame after a snapshot
        self._rejoined = False  # into the running round

    @property
    def length(self) -> GameLength:
        """Hanchan or tonpuu."""
        return GameType(self.match.game_type).length

    # --- frames in -----------------------------------------------------------------------------------

    def receive(self, message: m.ServerMessage) -> list[SessionEvent]:
        """Fold one frame.

        Raises:
            StateMismatchError: it does not fit; the table is as before.
        """
        handler = _HANDLERS.get(type(message))
        if handler is None or self.over:
            return []
        try:
            events: list[SessionEvent] = handler(self, message)
        except StateMismatchError:
            self._note_dispute()
            raise
        return events

    def _note_dispute(self) -> None:
        now = (int(self.record["round_index"]), int(self.record["honba"]))
        self._disputes = self._disputes + 1 if now == self._disputed else 1
        self._disputed = now

    def seated(self, message: m.Players) -> list[SessionEvent]:
        """Everybody's name and rank."""
        self.people = message
        return []

    def begin(self, message: m.GameBegins) -> list[SessionEvent]:
        """The game is about to begin."""
        if self._started:
            if not self._blind or self._is_dealt:
                raise StateMismatchError("a game begins that has begun")
            self._blind = False  # the line broke before the first deal
            return []
        self.game_id = message.log_id
        self.player = player_of_dealer(0, message.dealer)
        self._blind = False
        return self._open_log()

    @property
    def _started(self) -> bool:
        return bool(self.log)

    @property
    def is_dealt(self) -> bool:
        """Whether a round of the game has been seen."""
        return self._is_dealt

    @property
    def is_returning(self) -> bool:
        """Whether nothing is believed before a snapshot or a deal has come."""
        return self._blind

    def _open_log(self) -> list[SessionEvent]:
        people, player = self.people, self.player
        names = by_player(people.names, player)
        start = StartGame(names, player)
        self.log = [start]
        self._round_start = 1
        early, self._early = self._early, []
        match = self.match
        started = GameStarted(
            self.game_id,
            names,
            self.length,
            match.game_type,
            match.lobby,
            player,
            ranks=by_player(people.dans, player),
            rates=by_player(people.rates, player),
            sexes=by_player(people.sexes, player),
            is_named=self._is_named,
        )
        return [
            started,
            TableEvent(start),
            *(event for message in early for event in self._presence(message)),
        ]

    def _table(self, message: m.ServerMessage) -> list[SessionEvent]:
        if self._blind:
            return self._grope(message)
        if self.player < 0:
            raise StateMismatchError("a round runs before the game has begun")
        if self._settle(message):
            return self.close_prompt() + self._consequences(message)
        self._notice_riichi(message)
        if isinstance(message, m.RiichiStep) and self._riichi_assumed and message.seat == 0:
            self._riichi_assumed = False
            if message.step == 1:
                return []
        event = translate(message, self.record, self.player, strict=self._strict)
        assert event is not None
        self._check_result(event)
        apply(self.record, event)
        self.log.append(event)
        events: list[SessionEvent] = []
        if not self._keeps_prompt(message):
            self._riichi_sent = False
            events += self.close_prompt()
        return [*events, TableEvent(event), *self._consequences(message)]

    def _keeps_prompt(self, message: m.ServerMessage) -> bool:
        # A riichi is paid as soon as nobody may ron; a call may still be ours to make.
        paid = isinstance(message, m.RiichiStep) and message.step == 2
        return paid or isinstance(message, _KEEP_PROMPT)

    def _check_result(self, event: GameEvent) -> None:
        """The fold lets several players win on one tile; it is not told who has won already."""
        if isinstance(event, Win | DrawnRound) and isinstance(self._result, DrawnRound):
            raise StateMismatchError("the round has ended already")
        if isinstance(event, Win) and event.player in self._winners:
            raise StateMismatchError(f"player {event.player} has won already")

    def _consequences(self, message: m.ServerMessage) -> list[SessionEvent]:
        handler = _CONSEQUENCES.get(type(message))
        return handler(self, message) if handler else []

    # --- the deal and the result ---------------------------------------------------------------------

    def _deal(self, message: m.RoundDealt) -> list[SessionEvent]:
        opened: list[SessionEvent] = []
        if self._blind or self.player < 0:
            self.player = player_of_dealer(message.round_index, message.dealer)
        start = translate(message, self.record, self.player)
        assert isinstance(start, StartRound)
        if self._strict and not self._blind:
            self._check_progress(start)
        record = new_round()
        apply(record, start)
        if not self._started:
            opened = self._open_log()
        opened += self.close_prompt()
        if self._result is not None:
            opened += self._end_round()
        elif self._blind and self._is_dealt:
            del self.log[self._round_start :]
        self._begin_round(record, start)
        return [*opened, TableEvent(start)]

    def _begin_round(self, record: np.void, start: StartRound) -> None:
        self.record = record
        self._is_dealt = True
        self._round_start = len(self.log)
        self.log.append(start)
        self._result = None
        self._winners = set()
        self._ready_sent = False
        self._strict = True
        self._blind = False
        self._comeback = None
        self._rejoined = False
        self._furiten = None
        self._riichi_sent = self._riichi_assumed = False

    def _check_progress(self, start: StartRound) -> None:
        """A round follows the one before it, with its scores."""
        if not self._is_dealt:
            return
        if self._result is None:
            raise StateMismatchError("a round begins before the last one ended")
        index, honba = int(self.record["round_index"]), int(self.record["honba"])
        follows = [(index, honba + 1), (index + 1, 0), (index + 1, honba + 1)]
        if (start.round_index, start.honba) not in follows:
            raise StateMismatchError(f"round {start.round_index}.{start.honba} follows {index}.{honba}")
        sticks = int(self.record["riichi_sticks"])
        if start.scores != _four(self.record["scores"]) or start.riichi_sticks != sticks:
            raise StateMismatchError("a round begins with other scores than the last one ended with")

    def _end_round(self) -> list[SessionEvent]:
        self.log.append(EndRound())
        index, honba = int(self.record["round_index"]), int(self.record["honba"])
        ended = RoundEnded(index, honba, _four(self.record["scores"]))
        return [TableEvent(EndRound()), ended]

    def _result_shown(self, message: m.RoundWon | m.RoundDrawn) -> list[SessionEvent]:
        self._result = self.log[-1]
        if isinstance(self._result, Win):
            self._winners.add(self._result.player)
        if message.final is not None:
            return self._end_game(message.final)
        self._say_ready()
        return []

    def _say_ready(self) -> None:
        # With a double ron the second result follows at once: one answer is enough.
        if not self._ready_sent:
            self._ready_sent = True
            self._send(c.Ready())

    def _end_game(self, final: m.FinalScores) -> list[SessionEvent]:
        scores, results = by_player(final.scores, self.player), by_player(final.results, self.player)
        events: list[SessionEvent] = []
        if not self._blind:
            events = self._end_round()
            ours = final_scores(_four(self.record["scores"]), int(self.record["riichi_sticks"]))
            if self._strict and ours != scores:
                events.append(Disagreement("final scores", f"the server has {scores}, we have {ours}"))
        end = EndGame(scores, results)
        self.log.append(end)
        self.over = True
        return [*events, TableEvent(end), GameEnded(scores, results, placements(scores))]

    # --- prompts -------------------------------------------------------------------------------------

    def _ours(self) -> list[Action]:
        return legal_actions(self.record, self.player)

    def _open(self, legal: tuple[Action, ...], offered: int, mismatch: str | None) -> list[SessionEvent]:
        self.prompt = Prompt(next(self._numbers), legal, offered, mismatch)
        return [PromptOpened(self.prompt.prompt_id, legal, offered, mismatch)]

    def close_prompt(self) -> list[SessionEvent]:
        """The open prompt, if any, is over."""
        prompt, self.prompt = self.prompt, None
        return [PromptClosed(prompt.prompt_id)] if prompt else []

    def _after_draw(self, message: m.TileDrawn) -> list[SessionEvent]:
        events = self._compare_furiten()
        if message.seat != 0:
            return events
        legal, mismatch = agree(self._ours(), message.offers, claim=False)
        return events + self._open(legal, message.offers, mismatch)

    def _after_tile(self, message: m.TileThrown | m.MeldMade) -> list[SessionEvent]:
        """Somebody threw a tile or laid a meld: ours to claim, or ours to go on with."""
        if message.seat == 0:
            return self._discard_prompt() if isinstance(message, m.MeldMade) else []
        ours = self._ours()
        if message.offers:
            legal, mismatch = agree(self._with_ron(ours, message.offers), message.offers, claim=True)
            return self._open(legal, message.offers, mismatch)
        unoffered = difference((action.kind for action in ours), 0)
        return [Disagreement("offer", unoffered)] if unoffered else []

    def _with_ron(self, ours: list[Action], offered: int) -> list[Action]:
        """In a rebuilt round it is not known what we let pass: there the server's word on furiten counts."""
        tile = int(self.record["last_tile"])
        known = self._strict or any(action.kind is ActionKind.RON for action in ours)
        if (
            known
            or not offered & m.OFFER_RON
            or not int(self.record["waits"][self.player]) >> (tile >> 2) & 1
        ):
            return ours
        return [Action(ActionKind.RON, tile), *ours]

    def _after_riichi(self, message: m.RiichiStep) -> list[SessionEvent]:
        return self._discard_prompt() if message.seat == 0 and message.step == 1 else []

    def _discard_prompt(self) -> list[SessionEvent]:
        """After our chi, pon or riichi; after our kan a draw comes first."""
        legal = tuple(self._ours())
        return self._open(legal, 0, None) if legal else []

    def answer(self, prompt_id: int, action: Action) -> None:
        """Take a choice; the frames go out, the state waits for the server's word.

        Raises:
            LocalProtocolError: the prompt is over, or the action is not in its legal set.
        """
        prompt = self.prompt
        if prompt is None or prompt.prompt_id != prompt_id:
            raise LocalProtocolError(f"prompt {prompt_id} is over")
        if action not in prompt.legal:
            raise LocalProtocolError(f"{action} is not legal at prompt {prompt_id}")
        self.prompt = None
        self._riichi_sent = action.kind is ActionKind.RIICHI
        self._send(reply(action))

    @property
    def riichi_pending(self) -> bool:
        """Whether we sent a riichi that the server has not confirmed yet."""
        return self._riichi_sent

    def assume_riichi(self) -> list[SessionEvent]:
        """Go on as if the server had confirmed our riichi: the prompt for its discard opens.

        Raises:
            LocalProtocolError: no riichi is waiting to be confirmed.
        """
        if not self._riichi_sent or self.prompt is not None:
            raise LocalProtocolError("no riichi is waiting to be confirmed")
        event = Riichi(self.player)
        apply(self.record, event)
        self.log.append(event)
        self._riichi_sent, self._riichi_assumed = False, True
        return [TableEvent(event), *self._discard_prompt()]

    # --- furiten and absences ------------------------------------------------------------------------

    def _furiten_shown(self, message: m.FuritenShown) -> list[SessionEvent]:
        self._furiten = message.furiten
        return []

    def _compare_furiten(self) -> list[SessionEvent]:
        """FURITEN comes before the discard it is about, so it is compared at the draw after that."""
        stated, self._furiten = self._furiten, None
        if stated is None or not self._strict or stated == is_furiten(self.record, self.player):
            return []
        return [Disagreement("furiten", f"the server says {stated}, we say {not stated}")]

    def _presence(self, message: m.PlayerGone | m.PlayerBack) -> list[SessionEvent]:
        if not self._started:
            self._early = [*self._early[1 - MOST_EARLY :], message]
            return []
        event = translate(message, self.record, self.player)
        assert event is not None
        self.log.append(event)
        return [TableEvent(event)]

    # --- coming back ---------------------------------------------------------------------------------

    def come_back(self) -> None:
        """The line is new: a snapshot or a deal must come before anything else is believed."""
        self.prompt = None
        self._blind = True
        self._riichi_sent = self._riichi_assumed = False

    def _restore(self, message: m.RoundSnapshot) -> list[SessionEvent]:
        self.player = player_of_dealer(message.round_index, message.dealer)
        events = [] if self._started else self._open_log()
        if self._result is not None:
            events += self._end_round()
            self._result, self._round_start = None, len(self.log)
        self._is_dealt = True
        if self._is_hopeless(message):
            return [*events, *self._lose(f"{self._disputes} frames of this round contradicted our table")]
        comeback = Comeback(message, self.player, self.log[self._round_start :])
        first = comeback.first()
        if first is None:
            return [*events, *self._lose("the snapshot of the round cannot be explained")]
        self._take(first)
        self._comeback, self._rejoined, self._blind = comeback, True, False
        self._winners, self._ready_sent, self._furiten = set(), False, None
        events.append(Resumed(message.round_index, message.honba, first.exact))
        # After our own call nothing more comes before we throw; our draw comes again, with its offer.
        called = self.record["phase"] == PHASE_CALLED and self.record["turn"] == self.player
        return events + (self._discard_prompt() if called else [])

    def _is_hopeless(self, message: m.RoundSnapshot) -> bool:
        """Whether coming back into this round has only led to the next contradiction."""
        return self._disputes >= MOST_DISPUTES and self._disputed == (message.round_index, message.honba)

    def _lose(self, why: str) -> list[SessionEvent]:
        """Go on without a table until the next deal."""
        self._blind, self._comeback = True, None
        return [StateLost(why)]

    def _take(self, candidate: Candidate) -> None:
        self.log[self._round_start :] = candidate.events
        self.record = clone(candidate.record)
        self._strict = candidate.exact

    def _settle(self, message: m.ServerMessage) -> bool:
        """Take the explanation of the snapshot that its next frame fits; whether it only repeats its end."""
        comeback, self._comeback = self._comeback, None
        if comeback is None:
            return False
        events = tuple(self.log[self._round_start :])
        now = Candidate(events, self.record, self._strict)
        settled, repeats = comeback.settle(now, message)
        if settled is not now:
            self._take(settled)
        return repeats

    def _notice_riichi(self, message: m.ServerMessage) -> None:
        """A riichi declared while we were away shows when it is paid."""
        if not (self._rejoined and isinstance(message, m.RiichiStep) and message.step == 2):
            return
        player = (message.seat + self.player) % 4
        if not self.record["riichi"][player]:
            told = with_riichi(self.log[self._round_start :], player)
            if told is not None:
                self.log[self._round_start :], self.record = told

    # --- without a record ----------------------------------------------------------------------------

    def _grope(self, message: m.ServerMessage) -> list[SessionEvent]:
        """Until the next deal: whatever needs no knowledge of the round."""
        events = self.close_prompt()
        if isinstance(message, m.RoundWon | m.RoundDrawn):
            if message.final is not None and self.player >= 0:
                return events + self._end_game(message.final)
            self._say_ready()
        choice = blind_choice(message)
        if choice and isinstance(message, m.TileDrawn | m.TileThrown | m.MeldMade):
            events += self._open(choice, message.offers, None)
        return events

    # --- recorded frames of a client -----------------------------------------------------------------

    def objection(self, message: c.ClientMessage) -> str | None:
        """Why a frame would not have been ours to send now, or None if it would."""
        if self._riichi_sent and isinstance(message, c.Throw):
            return objection(message, (), self.record, self.player, riichi_sent=True)
        if self.prompt is None:
            return "nothing is asked of us"
        if self._blind:
            return None
        return objection(message, self.prompt.legal, self.record, self.player, riichi_sent=False)

    def observe(self, message: c.ClientMessage) -> None:
        """A recorded client sent this."""
        self.prompt = None
        self._riichi_sent = isinstance(message, c.DeclareRiichi)


def _four(values: Any) -> Four:
    a, b, c, d = map(int, values)
    return a, b, c, d


_HANDLERS: Final[dict[type[m.ServerMessage], Callable[[Seat, Any], list[SessionEvent]]]] = {
    **dict.fromkeys(TABLE_MESSAGES, Seat._table),
    m.RoundDealt: Seat._deal,
    m.RoundSnapshot: Seat._restore,
    m.FuritenShown: Seat._furiten_shown,
    m.PlayerGone: Seat._presence,
    m.PlayerBack: Seat._presence,
    m.Players: Seat.seated,
    m.GameBegins: Seat.begin,
}

_CONSEQUENCES: Final[dict[type[m.ServerMessage], Callable[[Seat, Any], list[SessionEvent]]]] = {
    m.TileDrawn: Seat._after_draw,
    m.TileThrown: Seat._after_tile,
    m.MeldMade: Seat._after_tile,
    m.RiichiStep: Seat._after_riichi,
    m.RoundWon: Seat._result_shown,
    m.RoundDrawn: Seat._result_shown,
}
