"""The rules engine `riichienv` under our names: one round from a fixed wall, and each player's actions in it.

The only module that imports the engine; `game.table.table` builds a game on it. The engine's quirks stay in
here: its random seat order, its duplicate actions, its penalty for an illegal action.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from riichienv import Action as EngineAction
from riichienv import ActionType, Phase, RiichiEnv
from riichienv import Meld as EngineMeld
from riichienv import MeldType as EngineMeldType

from game.actions import NINE_TERMINALS, PASS, RIICHI, Action, ActionKind
from game.layout import PHASE_CALLED, PHASE_CLAIM, PHASE_ROB, RIVER_TSUMOGIRI
from game.melds import Meld, MeldKind
from game.state import melds_of, river_of
from game.tiles import RED_FIVES, TILES

_DISCARDS: Final = tuple(Action(ActionKind.DISCARD, tile) for tile in range(TILES))
_FACES: Final = tuple(2 * (tile >> 2) + (tile in RED_FIVES) for tile in range(TILES))
"""The visible face of a tile, in the order of the legal actions: by kind, the red five after the others."""

_SIMPLE: Final = {
    ActionType.PASS: PASS,
    ActionType.RIICHI: RIICHI,
    ActionType.KYUSHU_KYUHAI: NINE_TERMINALS,
}
_WITH_TILE: Final = {
    ActionType.DISCARD: ActionKind.DISCARD,
    ActionType.TSUMO: ActionKind.TSUMO,
    ActionType.RON: ActionKind.RON,
    ActionType.CHI: ActionKind.CHI,
    ActionType.PON: ActionKind.PON,
    ActionType.DAIMINKAN: ActionKind.DAIMINKAN,
    ActionType.KAKAN: ActionKind.KAKAN,
}
_PLACE: Final = {
    ActionKind.TSUMO: 0,
    ActionKind.RON: 0,
    ActionKind.ANKAN: 1,
    ActionKind.KAKAN: 2,
    ActionKind.RIICHI: 3,
    ActionKind.NINE_TERMINALS: 4,
    ActionKind.PON: 5,
    ActionKind.DAIMINKAN: 6,
    ActionKind.CHI: 7,
    ActionKind.PASS: 8,
}

Choices = dict[Action, Any]
"""Our actions in the order of the legal actions, each with the engine's action."""


class TableEngine:
    """One round at the engine's table.

    Attributes:
        env: the engine's own state; outside this module only to compare with.
    """

    __slots__ = ("_barred", "_observations", "env")

    def __init__(self) -> None:
        self.env: Any = RiichiEnv(game_mode="4p-red-single", skip_mjai_logging=True)
        self._observations: dict[int, Any] = {}
        # players barred from ron for the rest of a restored round: the engine's own flag cannot be set
        self._barred: frozenset[int] = frozenset()

    def deal(
        self, wall: Sequence[int], round_index: int, honba: int, riichi_sticks: int, scores: Sequence[int]
    ) -> None:
        """Start a round from a wall in deal order (`game.table.walls`)."""
        self._barred = frozenset()
        self._observations = self.env.reset(
            oya=round_index % 4,
            wall=list(wall),
            round_wind=round_index // 4,
            scores=list(scores),
            honba=honba,
            kyotaku=riichi_sticks,
        )

    def step(self, actions: dict[int, Any]) -> None:
        """Continue with the engine's own actions, as `choices` returned them; they must be legal."""
        self._observations = self.env.step(actions)

    def claimants(self, only_wins: bool) -> list[int]:
        """The players who may claim the last tile, ascending; if there are none, all have passed."""
        env = self.env
        if env.phase is not Phase.WaitResponse or env.is_done:
            return []
        active = sorted(env.active_players)
        if not only_wins and not self._barred:
            return active
        claimants = [player for player in active if len(self.choices(player, only_wins)) > 1]
        if not claimants:
            self.step(dict.fromkeys(active, EngineAction(ActionType.PASS)))
        return claimants

    def choices(self, player: int, only_wins: bool) -> Choices:
        """A player's options, one per visible face: the drawn tile stands for its face, else the lowest copy.

        Args:
            player: one of those whose move it is.
            only_wins: the last tile can be won on but not called. The engine still offers calls on an added
                kan and on the discard that ends the round after four kans.
        """
        offered = self._observations[player].legal_actions()
        discards: dict[int, Any] = {}
        others: list[tuple[tuple[int, ...], Action, Any]] = []
        drawn = self.env.drawn_tile
        for action in offered:
            if action.action_type is ActionType.DISCARD:
                tile = action.tile
                face = _FACES[tile]
                kept = discards.get(face)
                if kept is None or tile == drawn or (kept.tile != drawn and tile < kept.tile):
                    discards[face] = action
            else:
                ours = _from_engine(action)
                if self._may(player, ours.kind, only_wins):
                    # added kans stay in the order of their pons, as the engine offers them
                    place = (len(others),) if ours.kind is ActionKind.KAKAN else _faces(ours.consumed)
                    others.append(((_PLACE[ours.kind], *place), ours, action))
        choices: Choices = {}
        if others:
            _add_others(choices, others)
        for face in sorted(discards):
            action = discards[face]
            choices[_DISCARDS[action.tile]] = action
        return choices

    def find(self, player: int, action: Action, only_wins: bool) -> Any:
        """The engine's action for one naming other copies of the same faces; None if it is not legal."""
        if player not in self._observations or not self._may(player, action.kind, only_wins):
            return None
        # a closed kan may name any of its copies first
        wanted = Action(action.kind, action.tile, tuple(sorted(action.consumed)))
        offered = self._observations[player].legal_actions()
        return next((theirs for theirs in offered if _from_engine(theirs) == wanted), None)

    def _may(self, player: int, kind: ActionKind, only_wins: bool) -> bool:
        if kind is ActionKind.RON:
            return player not in self._barred
        return not only_wins or kind is ActionKind.PASS

    def clone(self) -> TableEngine:
        """An independent copy."""
        twin = TableEngine.__new__(TableEngine)
        twin.env = self.env.clone()
        twin._observations = self._observations
        twin._barred = self._barred
        return twin

    @classmethod
    def restore(cls, record: np.void, hands: Sequence[Sequence[int]], rest: Sequence[int]) -> TableEngine:
        """Set up a round in progress.

        The last discard, call or added kan is taken back and replayed, so that the engine itself finds the
        claims on it.

        Args:
            record: in a phase in which players are asked, with all hands known.
            hands: each player's concealed tiles, the drawn tile last.
            rest: the wall from the next tile to draw on, in deal order, without used replacement tiles.
        """
        engine = cls()
        position = _Position(record, hands)
        # the engine counts the tiles left from the length of the wall it deals; the deal is overwritten
        engine.deal([*range(53), *rest], int(record["round_index"]), 0, 0, record["scores"].tolist())
        engine._barred = frozenset(np.flatnonzero(record["missed_riichi"]).tolist())
        env = engine.env
        position.lay(env)
        engine._observations = env.get_observations([position.turn])
        for player, action in position.replay:
            engine.step({player: action})
        if record["phase"] == PHASE_CALLED and record["riichi"][position.turn] == 1:
            env.riichi_stage = [player == position.turn for player in range(4)]
            engine._observations = env.get_observations([position.turn])
        else:
            env.riichi_declared = (record["riichi"] != 0).tolist()
        return engine


def _from_engine(action: Any) -> Action:
    kind = action.action_type
    simple = _SIMPLE.get(kind)
    if simple is not None:
        return simple
    consumed = tuple(sorted(action.consume_tiles))
    if kind is ActionType.ANKAN:
        return Action(ActionKind.ANKAN, -1, consumed)
    return Action(_WITH_TILE[kind], action.tile, consumed)


def _faces(tiles: Sequence[int]) -> tuple[int, ...]:
    """Sort key for tiles of the hand: by kind, red fives last; equal for equal faces."""
    return (*(tile >> 2 for tile in tiles), *(tile in RED_FIVES for tile in tiles))


def _add_others(choices: Choices, others: list[tuple[tuple[int, ...], Action, Any]]) -> None:
    others.sort(key=lambda entry: (entry[0], entry[1].consumed))
    before: tuple[int, ...] | None = None
    for order, ours, action in others:
        if order != before:
            choices[ours] = action
        before = order


class _Position:
    """A round before the last move that others may answer, and the moves since."""

    def __init__(self, record: np.void, hands: Sequence[Sequence[int]]) -> None:
        self._record = record
        self.hands = [list(hand) for hand in hands]
        self.rivers = [river_of(record, player) for player in range(4)]
        self.melds = [melds_of(record, player) for player in range(4)]
        self.turn = int(record["turn"])
        self.drawn: int | None = self.hands[self.turn][-1]
        self.replay: list[tuple[int, Any]] = []
        phase = record["phase"]
        if phase == PHASE_ROB:
            self._take_back_kakan()
        elif phase == PHASE_CLAIM:
            self._take_back_discard()
        elif phase == PHASE_CALLED and record["riichi"][self.turn] == 0:
            self._take_back_call()

    def lay(self, env: Any) -> None:
        """Write the position into the engine's environment."""
        record = self._record
        count = int(record["discard_count"])
        env.hands = self.hands
        env.discards = self.rivers
        env.melds = [[_engine_meld(meld, player) for meld in self.melds[player]] for player in range(4)]
        # a player who replays a discard may discard any tile of the hand
        free = [player for player, _ in self.replay]
        env.riichi_declared = [record["riichi"][player] == 2 and player not in free for player in range(4)]
        env.missed_agari_doujun = [bool(missed) for missed in record["missed_turn"]]
        env.rinshan_draw_count = int(record["kan_count"])
        env.is_rinshan_flag = bool(record["rinshan"])
        env.is_first_turn = bool(record["unbroken"])
        env.turn_count = count
        env.current_player = self.turn
        env.active_players = [self.turn]
        env.drawn_tile = self.drawn

    def _take_back_kakan(self) -> None:
        player, tile = self.turn, int(self._record["last_tile"])
        slot = next(i for i, meld in enumerate(self.melds[player]) if meld.added == tile)
        meld = self.melds[player][slot]
        pon = tuple(t for t in meld.tiles if t != tile)
        self.melds[player][slot] = Meld(MeldKind.PON, pon, meld.called, meld.from_seat)
        self.hands[player].append(tile)
        self.drawn = tile
        self.replay.append((player, EngineAction(ActionType.KAKAN, tile, list(pon))))

    def _take_back_discard(self) -> None:
        record = self._record
        player, tile = int(record["last_player"]), int(record["last_tile"])
        mark = record["river_marks"][player, record["river_size"][player] - 1]
        self.turn = player
        self.rivers[player].pop()
        self.hands[player].append(tile)
        self.drawn = tile if mark & RIVER_TSUMOGIRI else None
        self.replay.append((player, EngineAction(ActionType.DISCARD, tile, [])))

    def _take_back_call(self) -> None:
        caller = self.turn
        meld = self.melds[caller].pop()
        consumed = list(meld.consumed)
        self.hands[caller] += consumed
        kind = ActionType.CHI if meld.kind is MeldKind.CHI else ActionType.PON
        self._take_back_discard()
        self.replay.append((caller, EngineAction(kind, meld.called, consumed)))


_ENGINE_MELDS: Final = {
    MeldKind.CHI: EngineMeldType.Chi,
    MeldKind.PON: EngineMeldType.Pon,
    MeldKind.DAIMINKAN: EngineMeldType.Daiminkan,
    MeldKind.ANKAN: EngineMeldType.Ankan,
    MeldKind.KAKAN: EngineMeldType.Kakan,
}


def _engine_meld(meld: Meld, player: int) -> Any:
    source = (player + meld.from_seat) % 4 if meld.is_open else -1
    called = meld.called if meld.is_open else None
    return EngineMeld(_ENGINE_MELDS[meld.kind], list(meld.tiles), meld.is_open, source, called)
