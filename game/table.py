"""A whole game at one table, Tenhou's four-player rules, every wall fixed by a seed.

`riichienv` (behind `game.engine`) says what is legal and moves the tiles; this module keeps the game around
it: the order of events, points through `game.scoring`, rounds and the end through `game.settlement`.
Players are absolute: player 0 deals first.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

from game.actions import PASS, Action, ActionKind
from game.endings import drawn_round, exhausted, win_events
from game.engine import Choices, Engine
from game.errors import IllegalActionError
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
    Pon,
    Riichi,
    RiichiAccepted,
    StartGame,
    StartRound,
)
from game.layout import PHASE_CLAIM, PHASE_ROB
from game.melds import MeldKind
from game.packing import pack_all
from game.restore import filled
from game.settlement import (
    RIICHI_STICK,
    START_SCORE,
    GameLength,
    final_results,
    final_scores,
    game_over,
    next_round,
)
from game.state import clone, fold_packed, new_round
from game.tiles import EAST, TILES, UNSEEN, WHITE
from game.walls import (
    LIVE_TILES,
    dealt_hands,
    indicator_place,
    next_place,
    random_wall,
    rebuilt_wall,
    replacement_place,
    round_wall,
)

__all__ = ["Names", "Table", "masked", "random_wall"]

Names: TypeAlias = tuple[str, str, str, str]

_UNSEEN_HAND: Final = (UNSEEN,) * 13
_CALLS: Final = {ActionKind.CHI: 1, ActionKind.PON: 2, ActionKind.DAIMINKAN: 2}


def masked(event: GameEvent, player: int) -> GameEvent:
    """The event as a player at the table sees it: others' hands and draws unseen."""
    if isinstance(event, Draw):
        return event if event.player == player else Draw(event.player, UNSEEN)
    if isinstance(event, StartRound):
        first, second, third, fourth = (
            hand if seat == player else _UNSEEN_HAND for seat, hand in enumerate(event.hands)
        )
        return StartRound(
            event.round_index,
            event.honba,
            event.riichi_sticks,
            event.dealer,
            event.scores,
            event.dora_indicator,
            (first, second, third, fourth),
        )
    if isinstance(event, StartGame):
        return StartGame(event.names, player)
    return event


class Table:
    """One game, from the first deal to the final scores.

    Attributes:
        events: everything so far, all tiles known.
        done: the game is over.
        length: hanchan or tonpuu.
        round_index: 0 East 1, 4 South 1, 8 West 1.
        honba: repeats of the running round.
        riichi_sticks: sticks on the table.
        scores: points now, riichi sticks already paid taken off.
        wall: the running round's wall in deal order.
        engine_scores: scores by the engine's own count after each finished round, for cross-checks.
    """

    def __init__(
        self,
        seed: int | None = None,
        wall: Sequence[int] | None = None,
        length: GameLength = "hanchan",
        names: Names = ("", "", "", ""),
        *,
        round_index: int = 0,
        honba: int = 0,
        riichi_sticks: int = 0,
        scores: Four = (START_SCORE,) * 4,
    ) -> None:
        """Sit down and deal.

        Args:
            seed: every wall follows from it; None for one nobody can foresee.
            wall: the first round's wall in deal order (see `random_wall`); later ones follow from the seed.
            length: of the game.
            names: of the players.
            round_index: round to begin with; with the next three for a game already under way.
            honba: repeats of that round.
            riichi_sticks: sticks lying at its start.
            scores: at its start.
        """
        self._begin(length, seed, scores)
        self.events.append(StartGame(names))
        self.round_index = round_index
        self.honba = honba
        self.riichi_sticks = riichi_sticks
        self._record = new_round()
        self._rounds = 0
        self._engine = Engine()
        self._deal(wall)

    def _begin(self, length: GameLength, seed: int | None, scores: Four) -> None:
        self.seed = secrets.randbits(63) if seed is None else seed
        self.length: GameLength = length
        self.events: list[GameEvent] = []
        self.done = False
        self.scores: Four = scores
        self.engine_scores: list[Four] = []
        self._folded = 0

    @property
    def state(self) -> np.void:
        """The running round's record with all hands known; the table's own, to be read only."""
        if self._folded < len(self.events):
            fold_packed(self._record, pack_all(self.events[self._folded :]))
            self._folded = len(self.events)
        return self._record

    def waiting(self) -> list[int]:
        """The players who must answer now, ascending; empty only when the game is over."""
        return list(self._asked)

    def legal(self, player: int) -> list[Action]:
        """What a player may do now; empty when nothing is asked of him."""
        return list(self._choices(player)) if player in self._asked else []

    def step(self, actions: Mapping[int, Action]) -> list[GameEvent]:
        """Answer for those who were asked.

        Args:
            actions: one for the player whose turn it is; on a claim, a player left out passes.

        Returns:
            What happened, up to the next question; across the end of a round, the next deal included.

        Raises:
            IllegalActionError: a player was not asked, may not do that, or gave no answer on his turn.
        """
        chosen = {player: self._choices(player) for player in self._asked}
        for player, action in actions.items():
            if action not in chosen.get(player, ()):
                raise IllegalActionError(f"player {player} may not {action} now")
        before = len(self.events)
        if self._claimed:
            answers = {player: actions.get(player, PASS) for player in self._asked}
            self._step_engine(chosen, answers)
            self._resolve(answers)
        else:
            player = self._asked[0]
            if player not in actions:
                raise IllegalActionError(f"player {player} gave no answer on his turn")
            self._step_engine(chosen, actions)
            self._act(player, actions[player])
        return self.events[before:]

    def clone(self) -> Table:
        """A copy that plays on by itself, over the same walls."""
        twin = Table.__new__(Table)
        twin.__dict__.update(self.__dict__)
        twin.events = self.events.copy()
        twin.engine_scores = self.engine_scores.copy()
        twin._engine = self._engine.clone()
        twin._record = clone(self._record)
        twin._known = self._known.copy()
        return twin

    @classmethod
    def restore(
        cls,
        record: np.void,
        hands: Sequence[Sequence[int]],
        hidden: Sequence[int],
        *,
        length: GameLength = "hanchan",
        seed: int | None = None,
    ) -> Table:
        """Play on from the middle of a round: what one seat has seen, with a guess at what it has not.

        ``events`` then begins with what happens next; `state` is the record with all hands filled in.

        Args:
            record: the round as seen so far, in a phase in which players are asked.
            hands: concealed tiles of each player; the tile just drawn last.
            hidden: the tiles in nobody's hand and not on the table, in deal order: those to be drawn, then
                the dead wall without the indicators shown (`game.walls.hidden_places`).
            length: of the game.
            seed: the walls of later rounds follow from it.

        Raises:
            StateMismatchError: no one is asked in this phase, or the tiles do not fit the record.
        """
        table = cls.__new__(cls)
        full = filled(record, hands, hidden)
        left, shown = int(full["wall_left"]), int(full["indicator_count"])
        kans = [
            player for player in range(4) for kind in full["meld_kind"][player] if kind >= MeldKind.DAIMINKAN
        ]
        indicators = full["indicators"][:shown].tolist()
        table._begin(length, seed, tuple(full["scores"].tolist()))
        table.round_index, table.honba = int(full["round_index"]), int(full["honba"])
        table.riichi_sticks = int(full["riichi_sticks"])
        table._record = full
        table._rounds = 1
        table.wall = rebuilt_wall(hidden, indicators, left, len(kans))
        table._left, table._shown, table._kan_owners = left, shown, tuple(kans)
        table._owes_indicator = shown <= len(kans)
        table._declared = bool((full["riichi"] == 1).any())
        table._riichi_count = int((full["riichi"] == 2).sum())
        rest = table.wall[next_place(left, len(kans)) : TILES - len(kans)]
        table._engine = Engine.restore(full, hands, rest)
        table._ask_again()
        return table

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

    # --- the course of a round ----------------------------------------------------------------------------

    def _deal(self, wall: Sequence[int] | None = None) -> None:
        self.wall = list(round_wall(self.seed, self._rounds) if wall is None else wall)
        self._rounds += 1
        dealer = self.round_index % 4
        self._engine.deal(self.wall, self.round_index, self.honba, self.riichi_sticks, self.scores)
        self._left = LIVE_TILES
        self._kan_owners: tuple[int, ...] = ()
        self._shown = 1
        self._owes_indicator = False
        self._declared = False
        self._riichi_count = 0
        self._tile = UNSEEN
        self.events.append(
            StartRound(
                self.round_index,
                self.honba,
                self.riichi_sticks,
                dealer,
                self.scores,
                self.wall[indicator_place(0)],
                dealt_hands(self.wall, dealer),
            )
        )
        self._draw(dealer)

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
        self._asked = players
        self._claimed = claimed
        self._only_wins = only_wins
        self._robbing = False
        self._known: dict[int, Choices] = {}

    def _choices(self, player: int) -> Choices:
        known = self._known.get(player)
        if known is None:
            known = self._known[player] = self._engine.choices(player, self._only_wins)
        return known

    def _step_engine(self, chosen: Mapping[int, Choices], actions: Mapping[int, Action]) -> None:
        self._engine.step({player: chosen[player][action] for player, action in actions.items()})

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
            first, second, third, fourth = action.consumed
            self._kan(player, Ankan(player, (first, second, third, fourth)))
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
        only_wins = self._is_split_kans()
        claimants = self._engine.claimants(only_wins)
        if claimants:
            self._ask(claimants, claimed=True, only_wins=only_wins)
        else:
            self._let_pass()

    def _let_pass(self) -> None:
        """Nobody claimed the discard: riichi stands, the round ends, or the next player draws."""
        self._accept_riichi()
        reason = self._abort_reason()
        if reason is not None:
            self._abort(reason, range(4) if reason == "four_riichi" else ())
        elif self._left == 0:
            self._exhaust()
        else:
            self._draw((self._discarder + 1) % 4)

    def _accept_riichi(self) -> None:
        if self._declared:
            self._declared = False
            self.events.append(RiichiAccepted(self._discarder))
            self._pay(_one(self._discarder, -RIICHI_STICK))
            self.riichi_sticks += 1
            self._riichi_count += 1

    def _kakan(self, player: int, action: Action) -> None:
        first, second, third = action.consumed
        self._kan(player, Kakan(player, action.tile, (first, second, third)))
        self._owes_indicator = True
        self._tile = action.tile
        self._discarder = player
        self._offer_added()

    def _offer_added(self) -> None:
        robbers = self._engine.claimants(only_wins=True)
        if robbers:
            self._ask(robbers, claimed=True, only_wins=True)
            self._robbing = True
        else:
            self._draw_replacement(self._discarder)

    def _kan(self, player: int, event: Ankan | Daiminkan | Kakan) -> None:
        """Lay a kan; an indicator that an earlier open kan still owes is shown now."""
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

    def _exhaust(self) -> None:
        drawn, dealer_repeats = exhausted(self.state)
        self._draw_round(drawn, dealer_repeats=dealer_repeats)

    def _abort(self, reason: DrawReason, shown: Sequence[int]) -> None:
        self._draw_round(drawn_round(self.state, reason, shown), dealer_repeats=True)

    def _draw_round(self, drawn: DrawnRound, *, dealer_repeats: bool) -> None:
        self.events.append(drawn)
        self._pay(drawn.deltas)
        self._end_round(dealer_repeats=dealer_repeats, won=False)

    def _abort_reason(self) -> DrawReason | None:
        if self._is_split_kans():
            return "four_kans"
        if self._riichi_count == 4:
            return "four_riichi"
        if self._left == LIVE_TILES - 4 and self.state["unbroken"]:
            kinds = set(self.state["river"][:, 0] >> 2)
            if len(kinds) == 1 and EAST <= kinds.pop() < WHITE:
                return "four_winds"
        return None

    def _is_split_kans(self) -> bool:
        return len(self._kan_owners) == 4 and len(set(self._kan_owners)) > 1

    def _pay(self, paid: Four) -> None:
        first, second, third, fourth = (had + gets for had, gets in zip(self.scores, paid, strict=True))
        self.scores = (first, second, third, fourth)

    def _end_round(self, *, dealer_repeats: bool, won: bool, aborted: bool = False) -> None:
        self.events.append(EndRound())
        first, second, third, fourth = self._engine.scores
        self.engine_scores.append((first, second, third, fourth))
        if game_over(self.round_index, dealer_repeats, self.scores, self.length, aborted=aborted):
            self.scores = final_scores(self.scores, self.riichi_sticks)
            self.riichi_sticks = 0
            self.events.append(EndGame(self.scores, final_results(self.scores)))
            self.done = True
            self._ask([], claimed=False)
            return
        self.round_index, self.honba = next_round(
            self.round_index, self.honba, dealer_repeats=dealer_repeats, won=won
        )
        self._deal()


def _one(player: int, points: int) -> Four:
    return (
        points * (player == 0),
        points * (player == 1),
        points * (player == 2),
        points * (player == 3),
    )
