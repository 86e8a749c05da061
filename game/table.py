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
    Win,
)
from game.layout import RIVER_CALLED
from game.packing import pack_all
from game.scoring import context_of, evaluate
from game.settlement import (
    RIICHI_STICK,
    START_SCORE,
    GameLength,
    deltas,
    draw_deltas,
    final_results,
    final_scores,
    game_over,
    liable_player,
    nagashi_deltas,
    next_round,
)
from game.state import clone, fold_packed, hand_tiles, new_round
from game.tiles import TERMINALS_AND_HONOURS, TILES, UNSEEN

Names: TypeAlias = tuple[str, str, str, str]
Hands: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]

LIVE_TILES: Final = 70
"""Tiles that are drawn in a round after the deal, replacement tiles included."""

_UNSEEN_HAND: Final = (UNSEEN,) * 13
_CALLS: Final = {ActionKind.CHI: 1, ActionKind.PON: 2, ActionKind.DAIMINKAN: 2}
_ORPHANS: Final = frozenset(TERMINALS_AND_HONOURS)


def random_wall(rng: np.random.Generator) -> list[int]:
    """A shuffled wall of 136 tiles in deal order.

    Tiles 0–51 are dealt 4-4-4-1 from the dealer on, then they are drawn. The last 14 are the dead wall, from
    the end: four replacement tiles (135, 134, 133, 132), then the indicators 131, 129, 127, 125, 123, each
    with its ura one before it (130, 128 …).
    """
    return [int(tile) for tile in rng.permutation(TILES)]


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
        self.seed = secrets.randbits(63) if seed is None else seed
        self.length: GameLength = length
        self.events: list[GameEvent] = [StartGame(names)]
        self.done = False
        self.round_index = round_index
        self.honba = honba
        self.riichi_sticks = riichi_sticks
        self.scores: Four = scores
        self.engine_scores: list[Four] = []
        self.wall: list[int] = []
        self._engine = Engine()
        self._rounds = 0
        self._record = new_round()
        self._folded = 0
        self._deal(wall)

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

    # --- the course of a round ----------------------------------------------------------------------------

    def _deal(self, wall: Sequence[int] | None = None) -> None:
        if wall is None:
            sequence = np.random.SeedSequence([self.seed, self._rounds])
            wall = random_wall(np.random.Generator(np.random.PCG64(sequence)))
        self.wall = list(wall)
        self._rounds += 1
        dealer = self.round_index % 4
        self._engine.deal(self.wall, self.round_index, self.honba, self.riichi_sticks, self.scores)
        self._left = LIVE_TILES
        self._kan_owners: tuple[int, ...] = ()
        self._shown = 1
        self._owes_indicator = False
        self._declared = False
        self._tile = UNSEEN
        self.events.append(
            StartRound(
                self.round_index,
                self.honba,
                self.riichi_sticks,
                dealer,
                self.scores,
                self.wall[131],
                _dealt(self.wall, dealer),
            )
        )
        self._draw(dealer)

    def _draw(self, player: int) -> None:
        self._left -= 1
        self._turn(player, self.wall[121 - self._left - len(self._kan_owners)])

    def _draw_replacement(self, player: int) -> None:
        self._left -= 1
        self._turn(player, self.wall[136 - len(self._kan_owners)])

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
        only_wins = self._is_split_kans()
        claimants = self._engine.claimants
        if only_wins:
            claimants = [p for p in claimants if len(self._engine.choices(p, only_wins=True)) > 1]
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

    def _kakan(self, player: int, action: Action) -> None:
        first, second, third = action.consumed
        self._kan(player, Kakan(player, action.tile, (first, second, third)))
        robbers = self._engine.claimants
        self._owes_indicator = True
        if robbers:
            self._tile = action.tile
            self._discarder = player
            self._ask(robbers, claimed=True, only_wins=True)
            self._robbing = True
        else:
            self._draw_replacement(player)

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
        self.events.append(DoraRevealed(self.wall[131 - 2 * self._shown]))
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
        record = self.state
        under = tuple(self.wall[130 - 2 * i] for i in range(self._shown))
        wins = []
        for place, player in enumerate(winners):
            ura = under if record["riichi"][player] == 2 else ()
            context = context_of(record, player, tile, source, ura)
            value = evaluate(context)
            assert value is not None, f"the engine let player {player} win without a yaku: {context}"
            # the nearer of two winners takes the honba and the sticks
            honba, sticks = (self.honba, self.riichi_sticks) if place == 0 else (0, 0)
            liable = liable_player(record, player, value)
            dealer = self.round_index % 4
            paid = deltas(value, player, source, dealer, honba=honba, riichi_sticks=sticks, liable=liable)
            wins.append(
                Win(
                    player=player,
                    from_player=source,
                    tile=tile,
                    hand=context.hand,
                    fu=value.fu,
                    points=value.points,
                    limit=value.limit,
                    yaku=value.yaku,
                    yakuman=value.yakuman,
                    ura_indicators=ura,
                    liable=liable,
                    deltas=paid,
                    honba=honba,
                    riichi_sticks=sticks,
                )
            )
        for win in wins:
            self.events.append(win)
            self._pay(win.deltas)
        self.riichi_sticks = 0
        self._end_round(dealer_repeats=self.round_index % 4 in winners, won=True)

    def _exhaust(self) -> None:
        record = self.state
        tenpai = [bool(record["waits"][player]) for player in range(4)]
        dealer = self.round_index % 4
        nagashi = [player for player in range(4) if _is_nagashi(record, player)]
        paid = nagashi_deltas(nagashi, dealer) if nagashi else draw_deltas(tenpai)
        shown = [player for player in range(4) if tenpai[player]]
        self._draw_round("nagashi_mangan" if nagashi else "exhaustive", paid, shown, tenpai[dealer])

    def _abort(self, reason: DrawReason, shown: Sequence[int]) -> None:
        self._draw_round(reason, (0, 0, 0, 0), shown, dealer_repeats=True)

    def _draw_round(self, reason: DrawReason, paid: Four, shown: Sequence[int], dealer_repeats: bool) -> None:
        record = self.state
        first, second, third, fourth = (
            tuple(hand_tiles(record, player)) if player in shown else None for player in range(4)
        )
        self.events.append(DrawnRound(reason, paid, (first, second, third, fourth)))
        self._pay(paid)
        aborted = reason not in ("exhaustive", "nagashi_mangan")
        self._end_round(dealer_repeats=dealer_repeats, won=False, aborted=aborted)

    def _abort_reason(self) -> DrawReason | None:
        if self._is_split_kans():
            return "four_kans"
        record = self.state
        if self._left == LIVE_TILES - 4 and record["unbroken"]:
            kinds = {int(record["river"][player, 0]) >> 2 for player in range(4)}
            if len(kinds) == 1 and 27 <= kinds.pop() <= 30:
                return "four_winds"
        if (record["riichi"] == 2).all():
            return "four_riichi"
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


def _dealt(wall: Sequence[int], dealer: int) -> Hands:
    """The four hands as they come from a wall in deal order, each ascending."""

    def hand(player: int) -> tuple[int, ...]:
        seat = (player - dealer) % 4
        fours = (wall[16 * turn + 4 * seat + i] for turn in range(3) for i in range(4))
        return tuple(sorted((*fours, wall[48 + seat])))

    return hand(0), hand(1), hand(2), hand(3)


def _is_nagashi(record: np.void, player: int) -> bool:
    """Whether a player threw terminals and honours only, and none of them was called."""
    size = int(record["river_size"][player])
    if (record["river_marks"][player, :size] & RIVER_CALLED).any():
        return False
    return all(int(tile) >> 2 in _ORPHANS for tile in record["river"][player, :size])


def _one(player: int, points: int) -> Four:
    return (
        points * (player == 0),
        points * (player == 1),
        points * (player == 2),
        points * (player == 3),
    )
