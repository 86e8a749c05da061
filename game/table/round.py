"""One round at the table: the events that follow each answer, in Tenhou's order.

`riichienv` (behind `game.table.engine`) decides what is legal and moves the tiles; this module produces the
events, over a wall it knows. `game.table.table` combines rounds into a game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

import msgspec
import numpy as np

from game.actions import PASS, Action, ActionKind
from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    DrawReason,
    EndRound,
    Four,
    GameEvent,
    Kakan,
    Pon,
    Riichi,
    RiichiAccepted,
    StartRound,
    four,
)
from game.layout import LIVE_TILES, PHASE_CLAIM, PHASE_ROB
from game.melds import MeldKind
from game.packing import pack_all
from game.scoring.settlement import RIICHI_STICK
from game.state import clone, fold_packed, new_round
from game.table.endings import aborted_by, drawn_round, exhausted, win_events
from game.table.engine import Choices, TableEngine
from game.table.restore import filled, is_dealt
from game.table.walls import (
    dealt_hands,
    indicator_place,
    next_place,
    rebuilt_wall,
    replacement_place,
    with_hands,
)
from game.tiles import TILES, UNSEEN
from kit.errors import IllegalActionError, StateMismatchError

_CALLS: Final = {ActionKind.CHI: 1, ActionKind.PON: 2, ActionKind.DAIMINKAN: 2}


class RoundResult(msgspec.Struct, frozen=True):
    """How a round ended, as far as the next one depends on it.

    Attributes:
        dealer_repeats: the dealer won, was tenpai at the end of the wall, or the round was aborted.
        won: the round ended with a win.
        aborted: the round was aborted, which never ends a game.
    """

    dealer_repeats: bool
    won: bool
    aborted: bool


class Round:
    """A round in progress.

    Attributes:
        events: list its events are appended to, shared with the whole game.
        round_index: 0 East 1, 4 South 1, 8 West 1.
        honba: repeat counters.
        riichi_sticks: sticks on the table.
        scores: current points, paid riichi sticks deducted.
        wall: in deal order (`game.table.walls`).
        asked: the players who must answer now, ascending.
        result: None during the round.
        engine: the same round at the rules engine's table.
    """

    def __init__(
        self,
        events: list[GameEvent],
        wall: Sequence[int],
        round_index: int,
        honba: int,
        riichi_sticks: int,
        scores: Four,
    ) -> None:
        self.events = events
        self.wall = list(wall)
        self.round_index = round_index
        self.honba = honba
        self.riichi_sticks = riichi_sticks
        self.scores = scores
        self.result: RoundResult | None = None
        self._folded = len(events)

    def deal(self) -> Self:
        """Deal, and let the dealer draw; returns the round."""
        self._deal(new_round())
        dealer = self.round_index % 4
        place = self.round_index, self.honba, self.riichi_sticks
        indicator, hands = self.wall[indicator_place(0)], dealt_hands(self.wall, dealer)
        self.events.append(StartRound(*place, dealer, self.scores, indicator, hands))
        self._draw(dealer)
        return self

    def _deal(self, record: np.void) -> None:
        """Deal from the wall, without an event; ``record`` is the round so far."""
        self.engine = TableEngine()
        self.engine.deal(self.wall, self.round_index, self.honba, self.riichi_sticks, self.scores)
        self._record = record
        self._left = LIVE_TILES
        self._kan_owners: tuple[int, ...] = ()
        self._shown = 1
        self._owes_indicator = False
        self._declared = False

    @classmethod
    def restore(
        cls, events: list[GameEvent], record: np.void, hands: Sequence[Sequence[int]], hidden: Sequence[int]
    ) -> Round:
        """Continue from the middle of a round; see `game.table.table.Table.restore`."""
        full = filled(record, hands, hidden)
        left, shown = int(full["wall_left"]), int(full["indicator_count"])
        owners = [
            player for player in range(4) for kind in full["meld_kind"][player] if kind >= MeldKind.DAIMINKAN
        ]
        try:
            wall = rebuilt_wall(hidden, full["indicators"][:shown].tolist(), left, len(owners))
        except ValueError:  # a kan after the wall was exhausted
            raise StateMismatchError("the hidden tiles do not form a wall for this round") from None
        index, honba, sticks = (int(full[name]) for name in ("round_index", "honba", "riichi_sticks"))
        this = cls(events, wall, index, honba, sticks, four(full["scores"].tolist()))
        if is_dealt(full):
            dealer = int(full["dealer"])
            this.wall = with_hands(wall, hands, dealer)
            this._deal(full)
            this._draw(dealer)
            return this
        this.engine = TableEngine.restore(
            full, hands, wall[next_place(left, len(owners)) : TILES - len(owners)]
        )
        this._record = full
        this._left = left
        this._kan_owners = tuple(owners)
        this._shown = shown
        this._owes_indicator = shown <= len(owners)
        this._declared = bool((full["riichi"] == 1).any())
        this._ask_again()
        return this

    @property
    def state(self) -> np.void:
        """The current round's record with all hands known; owned by the table, read-only."""
        if self._folded < len(self.events):
            fold_packed(self._record, pack_all(self.events[self._folded :]))
            self._folded = len(self.events)
        return self._record

    def clone(self, events: list[GameEvent]) -> Round:
        """An independent copy that writes to ``events``, its own copy of the list."""
        twin = Round.__new__(Round)
        twin.__dict__.update(self.__dict__)
        twin.events = events
        twin.engine = self.engine.clone()
        twin._record = clone(self._record)
        twin._known = self._known.copy()
        return twin

    def choices(self, player: int) -> Choices:
        """The options of a player who is asked, each with the engine's action."""
        known = self._known.get(player)
        if known is None:
            known = self._known[player] = self.engine.choices(player, self._only_wins)
        return known

    def answer(self, actions: Mapping[int, Action]) -> None:
        """Continue with the players' answers; see `game.table.table.Table.step`."""
        moves = {player: self._move(player, action) for player, action in actions.items()}
        if self._claimed:
            for player in self.asked:
                if player not in moves:
                    moves[player] = self._move(player, PASS)
            self.engine.step(moves)
            self._resolve(actions)
            return
        if not moves:
            asked = f"player {self.asked[0]} gave no answer on its turn" if self.asked else "the game is over"
            raise IllegalActionError(asked)
        player = self.asked[0]
        self.engine.step(moves)
        self._act(player, actions[player])

    def _move(self, player: int, action: Action) -> Any:
        """The engine's action for ours."""
        if player in self.asked:
            move = self.choices(player).get(action)
            if move is None:
                move = self.engine.find(player, action, self._only_wins)
            if move is not None:
                return move
        raise IllegalActionError(f"player {player} may not {action} now")

    def _ask_again(self) -> None:
        record = self._record
        phase, turn = record["phase"], int(record["turn"])
        self._discarder = int(record["last_player"])
        if phase == PHASE_CLAIM:
            self._tile = int(record["last_tile"])
            self._offer_discard()
        elif phase == PHASE_ROB:
            self._tile = int(record["last_tile"])
            self._offer_added()
        else:
            self._tile = int(record["drawn"])
            self._ask([turn], claimed=False)

    # --- turns --------------------------------------------------------------------------------------------

    def _draw(self, player: int) -> None:
        place = next_place(self._left, len(self._kan_owners))
        self._left -= 1
        self._turn(player, self.wall[place])

    def _draw_replacement(self, player: int) -> None:
        self._left -= 1
        self._turn(player, self.wall[replacement_place(len(self._kan_owners))])

    def _turn(self, player: int, tile: int) -> None:
        self._tile = tile
        self.events.append(Draw(player, tile))
        self._ask([player], claimed=False)

    def _ask(self, players: list[int], *, claimed: bool, only_wins: bool = False) -> None:
        self.asked = players
        self._claimed = claimed
        self._only_wins = only_wins
        self._robbing = False
        self._known: dict[int, Choices] = {}

    def _act(self, player: int, action: Action) -> None:
        kind = action.kind
        if kind is ActionKind.DISCARD:
            self._discard(player, action.tile)
        elif kind is ActionKind.RIICHI:
            self._declared = True
            self.events.append(Riichi(player))
            self._ask([player], claimed=False)
        elif kind is ActionKind.TSUMO:
            self._win([player], player, action.tile)
        elif kind is ActionKind.NINE_TERMINALS:
            self._abort("nine_terminals", [player])
        elif kind is ActionKind.ANKAN:
            self._kan(player, Ankan(player, four(action.consumed)))
            self._reveal()
            self._draw_replacement(player)
        else:
            self._kakan(player, action)

    def _discard(self, player: int, tile: int) -> None:
        self._reveal_owed()
        self.events.append(Discard(player, tile, tile == self._tile))
        self._tile = tile
        self._discarder = player
        self._offer_discard()

    def _offer_discard(self) -> None:
        only_wins = len(self._kan_owners) == 4 and len(set(self._kan_owners)) > 1
        claimants = self.engine.claimants(only_wins)
        if claimants:
            self._ask(claimants, claimed=True, only_wins=only_wins)
        else:
            self._let_pass()

    def _let_pass(self) -> None:
        """No claim on the discard: riichi is accepted, the round ends, or the next player draws."""
        self._accept_riichi()
        reason = aborted_by(self.state)
        if reason is not None:
            self._abort(reason, range(4) if reason == "four_riichi" else ())
        elif self._left == 0:
            drawn, dealer_repeats = exhausted(self.state)
            self._draw_round(drawn, dealer_repeats=dealer_repeats)
        else:
            self._draw((self._discarder + 1) % 4)

    def _accept_riichi(self) -> None:
        if self._declared:
            self._declared = False
            self.events.append(RiichiAccepted(self._discarder))
            self._pay(_one(self._discarder, -RIICHI_STICK))
            self.riichi_sticks += 1

    def _kakan(self, player: int, action: Action) -> None:
        first, second, third = action.consumed
        self._kan(player, Kakan(player, action.tile, (first, second, third)))
        self._owes_indicator = True
        self._tile = action.tile
        self._discarder = player
        self._offer_added()

    def _offer_added(self) -> None:
        robbers = self.engine.claimants(only_wins=True)
        if robbers:
            self._ask(robbers, claimed=True, only_wins=True)
            self._robbing = True
        else:
            self._draw_replacement(self._discarder)

    def _kan(self, player: int, event: Ankan | Daiminkan | Kakan) -> None:
        """Make a kan; an indicator still owed for an earlier open kan is revealed now."""
        self._kan_owners = (*self._kan_owners, player)
        self.events.append(event)
        self._reveal_owed()

    def _reveal_owed(self) -> None:
        if self._owes_indicator:
            self._owes_indicator = False
            self._reveal()

    def _reveal(self) -> None:
        self.events.append(DoraRevealed(self.wall[indicator_place(self._shown)]))
        self._shown += 1

    # --- claims -------------------------------------------------------------------------------------------

    def _resolve(self, answers: Mapping[int, Action]) -> None:
        winners = [player for player, action in answers.items() if action.kind is ActionKind.RON]
        winners.sort(key=lambda player: (player - self._discarder) % 4)
        callers = [player for player, action in answers.items() if action.kind in _CALLS]
        if len(winners) == 3:
            self._abort("triple_ron", winners)
        elif winners:
            self._win(winners, self._discarder, self._tile)
        elif callers:
            caller = max(callers, key=lambda player: _CALLS[answers[player].kind])
            self._accept_riichi()
            self._call(caller, answers[caller])
        elif self._robbing:
            self._draw_replacement(self._discarder)
        else:
            self._let_pass()

    def _call(self, player: int, action: Action) -> None:
        self._tile = UNSEEN
        source, tile = self._discarder, action.tile
        if action.kind is ActionKind.DAIMINKAN:
            first, second, third = action.consumed
            self._kan(player, Daiminkan(player, source, tile, (first, second, third)))
            self._owes_indicator = True
            self._draw_replacement(player)
            return
        first, second = action.consumed
        make = Chi if action.kind is ActionKind.CHI else Pon
        self.events.append(make(player, source, tile, (first, second)))
        self._ask([player], claimed=False)

    # --- ends ---------------------------------------------------------------------------------------------

    def _win(self, winners: Sequence[int], source: int, tile: int) -> None:
        under = [self.wall[indicator_place(number) - 1] for number in range(self._shown)]
        for win in win_events(self.state, winners, source, tile, under):
            self.events.append(win)
            self._pay(win.deltas)
        self.riichi_sticks = 0
        self._end_round(dealer_repeats=self.round_index % 4 in winners, won=True)

    def _abort(self, reason: DrawReason, shown: Sequence[int]) -> None:
        self._draw_round(drawn_round(self.state, reason, shown), dealer_repeats=True)

    def _draw_round(self, drawn: DrawnRound, *, dealer_repeats: bool) -> None:
        self.events.append(drawn)
        self._pay(drawn.deltas)
        aborted = drawn.reason not in ("exhaustive", "nagashi_mangan")
        self._end_round(dealer_repeats=dealer_repeats, won=False, aborted=aborted)

    def _pay(self, paid: Four) -> None:
        self.scores = four(had + gets for had, gets in zip(self.scores, paid, strict=True))

    def _end_round(self, *, dealer_repeats: bool, won: bool, aborted: bool = False) -> None:
        self.events.append(EndRound())
        self.result = RoundResult(dealer_repeats, won, aborted)
        self._ask([], claimed=False)


def _one(player: int, points: int) -> Four:
    return four(points * (each == player) for each in range(4))
