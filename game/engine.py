"""The rules engine `riichienv` under our names: one round from a fixed wall, and who may do what in it.

The only module that imports the engine; `game.table` makes a game of it. What is odd about the engine stays
in here: its random seat order, its doubled actions, its penalty for an illegal one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from riichienv import ActionType, Phase, RiichiEnv

from game.actions import NINE_TERMINALS, PASS, RIICHI, Action, ActionKind
from game.tiles import RED_FIVES, TILES

_DISCARDS: Final = tuple(Action(ActionKind.DISCARD, tile) for tile in range(TILES))
_FACES: Final = tuple(2 * (tile >> 2) + (tile in RED_FIVES) for tile in range(TILES))
"""What a player sees of a tile, in the order of the legal set: by kind, the red five after the plain ones."""

_SIMPLE: Final = {
    ActionType.PASS: PASS,
    ActionType.RIICHI: RIICHI,
    ActionType.KYUSHU_KYUHAI: NINE_TERMINALS,
}
_WITH_TILE: Final = {
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
"""Our actions in the order of the legal set, with the engine's for each."""


class Engine:
    """One round at the engine's table."""

    __slots__ = ("_env", "_observations")

    def __init__(self) -> None:
        self._env: Any = RiichiEnv(game_mode="4p-red-single", skip_mjai_logging=True)
        self._observations: dict[int, Any] = {}

    def deal(
        self, wall: Sequence[int], round_index: int, honba: int, riichi_sticks: int, scores: Sequence[int]
    ) -> None:
        """Start a round from a wall in deal order (`game.table.random_wall`)."""
        self._observations = self._env.reset(
            oya=round_index % 4,
            wall=list(wall),
            round_wind=round_index // 4,
            scores=list(scores),
            honba=honba,
            kyotaku=riichi_sticks,
        )

    def step(self, actions: dict[int, Any]) -> None:
        """Go on with the engine's own actions, as `choices` gave them; they must be legal."""
        self._observations = self._env.step(actions)

    @property
    def claimants(self) -> list[int]:
        """The players who may claim the last tile, ascending; empty when it is somebody's own turn."""
        env = self._env
        if env.phase is not Phase.WaitResponse or env.is_done:
            return []
        return sorted(env.active_players)

    @property
    def scores(self) -> list[int]:
        """The scores by the engine's own count."""
        return list(self._env.scores())

    def choices(self, player: int, only_wins: bool) -> Choices:
        """What a player may do, equal faces once: the drawn tile stands for its face, else the lowest copy.

        Args:
            player: one of those whose move it is.
            only_wins: the last tile may be won on and nothing else. The engine goes on offering calls on an
                added kan and on the discard that ends the round by its four kans.
        """
        offered = self._observations[player].legal_actions()
        discards: dict[int, Any] = {}
        others: list[tuple[tuple[int, ...], Action, Any]] = []
        drawn = self._env.drawn_tile
        for action in offered:
            if action.action_type is ActionType.DISCARD:
                tile = action.tile
                face = _FACES[tile]
                kept = discards.get(face)
                if kept is None or tile == drawn or (kept.tile != drawn and tile < kept.tile):
                    discards[face] = action
            else:
                ours = _from_engine(action)
                if not only_wins or ours.kind in (ActionKind.RON, ActionKind.PASS):
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

    def clone(self) -> Engine:
        """A copy that shares nothing that changes."""
        twin = Engine.__new__(Engine)
        twin._env = self._env.clone()
        twin._observations = self._observations
        return twin


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
    """Orders tiles from the hand by kinds, plain ones first; equal for the same faces."""
    return (*(tile >> 2 for tile in tiles), *(tile in RED_FIVES for tile in tiles))


def _add_others(choices: Choices, others: list[tuple[tuple[int, ...], Action, Any]]) -> None:
    others.sort(key=lambda entry: (entry[0], entry[1].consumed))
    before: tuple[int, ...] | None = None
    for order, ours, action in others:
        if order != before:
            choices[ours] = action
        before = order
