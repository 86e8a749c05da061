"""Plays games, and plays out the decisions in which the players differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Final, NamedTuple

import msgspec

from game.actions import Action, ActionKind
from game.shanten import shanten
from game.table.walls import wall_seed
from game.tiles import face_of
from game.warmup import warm_up
from kit.errors import TrainingError
from kit.workers.pool import Work
from learning.runs.measurement import SelfPlayDecision
from learning.selfplay.arena.differences.plan import Difference, DifferencesGame, DifferencesPlan
from learning.selfplay.arena.plan import SEATS
from learning.selfplay.players import packed, seat_down
from policies.checkpoint import files_of, load_predictor
from policies.checkpoint.files import reader_of
from policies.deals.deal import true_deals
from policies.flow.draws import drawn_bits
from policies.play.critic import CRITIC_FOLDER, Critic
from policies.play.named import Files, predictor_files
from policies.play.playouts import Branching, CutWorth, EndWorth, Playouts, RewardWorth, points_worth
from policies.play.rollout import Choice, Chooser, Request, Rollout, Seating, Times
from policies.reward import Predictor, round_starts

TOGETHER: Final = 128
"""Games whose decisions are played out side by side."""
_SEATS: Final = SEATS["1v3"]
_PLACES: Final = (1.0, 2.0, 3.0, 4.0)


class DifferencesSetup(msgspec.Struct, frozen=True):
    """Setup of a worker.

    Attributes:
        plan: the plan.
        files: files of the players' checkpoints, by their texts.
        predictor: files of the reward predictor.
        critic: files of the critic; None if play-outs go to the end.
    """

    plan: DifferencesPlan
    files: dict[str, Files]
    predictor: Files
    critic: Files | None = None


class _Differing(SelfPlayDecision, frozen=True):
    """A decision in which the players differ, of one game."""

    number: int
    choices: tuple[Action, Action]
    model: str
    confidence: float | None


class _Compared:
    """The challenger at the table, and what the champion would have done in its place."""

    def __init__(self, challenger: Chooser, champion: Chooser) -> None:
        self._players = (challenger, champion)
        self.differing: list[_Differing] = []
        self.decisions: Counter[int] = Counter()
        self.faults: Counter[int] = Counter()

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide as the challenger; see `policies.play.rollout.Chooser`."""
        ours, theirs = (player.choose(requests, times) for player in self._players)
        for request, one, other in zip(requests, ours, theirs, strict=True):
            self.decisions[request.number] += 1
            self.faults[request.number] += bool(one.fault or other.fault)
            if not alike(one.action, other.action):
                self.differing.append(_differing(request, one.action, other))
        return list(ours)

    def close(self, times: Times) -> None:
        """See `policies.play.rollout.Chooser`."""
        for player in self._players:
            player.close(times)


def alike(one: Action, other: Action) -> bool:
    """Whether two actions differ at most in the copies of a face."""
    same = one.kind is other.kind and _faces(one) == _faces(other)
    return one == other or same


def _faces(action: Action) -> tuple[int, ...]:
    tiles = (action.tile, *action.consumed)
    return tuple(sorted(face_of(tile) for tile in tiles if tile >= 0))


def _differing(request: Request, ours: Action, theirs: Choice) -> _Differing:
    choices = (ours, theirs.action)
    model = model_of(choices)
    said = theirs.verdict.probabilities if theirs.verdict is not None else {}
    return _Differing.of(
        request,
        number=request.number,
        choices=choices,
        model=model,
        confidence=confidence_of(model, choices, said),
    )


_MODELS: Final[Mapping[str, frozenset[ActionKind]]] = {
    "rule": frozenset((ActionKind.TSUMO, ActionKind.RON, ActionKind.NINE_TERMINALS)),
    "kan": frozenset((ActionKind.ANKAN, ActionKind.KAKAN, ActionKind.DAIMINKAN)),
    "riichi": frozenset((ActionKind.RIICHI,)),
    "pon": frozenset((ActionKind.PON,)),
    "chi": frozenset((ActionKind.CHI,)),
}
_ON_A_DRAW: Final = (ActionKind.ANKAN, ActionKind.KAKAN, ActionKind.RIICHI)
"""Each is a question of yes or no, asked before discards."""


def model_of(choices: tuple[Action, Action]) -> str:
    """The model whose question the choices answer differently: the first in the order of the flow."""
    kinds = {choice.kind for choice in choices}
    return next((model for model, of_model in _MODELS.items() if kinds & of_model), "discard")


def confidence_of(model: str, choices: tuple[Action, Action], said: Mapping[Action, float]) -> float | None:
    """How much likelier the champion's choice is to the champion; None if it does not say.

    Args:
        model: from `model_of`.
        choices: the challenger's and the champion's.
        said: probabilities of options by the champion.
    """
    ours, theirs = (said.get(choice) for choice in choices)
    asked = [choice for choice in choices if choice.kind in _ON_A_DRAW and choice.kind in _MODELS[model]]
    if len(asked) == 1:  # against all that "no" leads to
        yes = said.get(asked[0])
        return None if yes is None else round(abs(2.0 * yes - 1.0), 4)
    return None if theirs is None or ours is None else round(theirs - ours, 4)


class _Worths(NamedTuple):
    """Predictors of final rewards, and of places if there is one; the critic of cut rounds."""

    reward: Predictor
    place: Predictor | None
    critic: Critic | None

    def at(self, moment: SelfPlayDecision) -> list[EndWorth]:
        starts = round_starts(moment.events)
        if self.critic is not None:  # it knows no places
            reward = RewardWorth(self.reward, starts)
            return [CutWorth(points_worth, "points", self.critic), CutWorth(reward, "reward", self.critic)]
        known = [each for each in (self.reward, self.place) if each is not None]
        return [points_worth, *(RewardWorth(each, starts) for each in known)]


def differences_of_games(setup: DifferencesSetup) -> Work[Sequence[int], DifferencesGame]:
    """Load the players; return the function that plays some games and compares their decisions."""
    warm_up()
    plan = setup.plan
    ours, champion = (
        seat_down(who, setup.files.get(who.text), plan.compute) for who in (plan.challenger, plan.champions)
    )
    reward = load_predictor(Path(), reader_of(setup.predictor))
    critic = None if setup.critic is None else Critic.load(Path(), read=reader_of(setup.critic))
    worths = _Worths(reward, reward.with_rewards(_PLACES), critic)
    playouts = Playouts(champion, plan.length, horizon=plan.horizon)

    def compare(numbers: Sequence[int]) -> Iterator[DifferencesGame]:
        begun = process_time()
        compared = _Compared(ours, champion)
        rollout = Rollout([compared, champion], length=plan.length)
        seatings = [
            Seating(number, wall_seed("differences", plan.seed, number), _SEATS[number % 4])
            for number in numbers
        ]
        for game in rollout.play(seatings):
            if game.crash:
                raise TrainingError(f"game {game.seating.number}: {game.crash}")
        found = sorted(compared.differing, key=lambda each: (each.number, len(each.events)))
        differences = _played_out(plan, playouts, worths, found)
        share = round((process_time() - begun) / len(numbers), 3)
        for number in numbers:
            here = tuple(row for each, row in zip(found, differences, strict=True) if each.number == number)
            yield DifferencesGame(number, compared.decisions[number], compared.faults[number], here, share)

    return compare


def _played_out(
    plan: DifferencesPlan,
    playouts: Playouts,
    worths: _Worths,
    found: Sequence[_Differing],
) -> list[Difference]:
    branchings = []
    for each in found:
        seed = drawn_bits(plan.seed, each.number, len(each.events))
        deals = true_deals(each.view, each.record, plan.walls, seed)
        branchings.append(Branching(deals, each.choices, range(plan.walls)))
    differences = []
    for each, branching, ends in zip(found, branchings, playouts.ends(branchings), strict=True):
        valued = (branching.values(ends, worth) for worth in worths.at(each))
        gained = [float((values[:, 0] - values[:, 1]).mean()) for values in valued]
        differences.append(_difference(each, gained))
    return differences


def _difference(moment: _Differing, gained: Sequence[float]) -> Difference:
    points, reward, *place = gained
    record, player = moment.record, moment.view.player
    riichi = record["riichi"].copy()
    riichi[player] = 0
    return Difference(
        model=moment.model,
        go_around=int(record["river_size"][player]),
        tenpai=bool(shanten(record["hand34"][player].copy(), int(record["meld_count"][player])) <= 0),
        riichi=bool(riichi.any()),
        round_index=int(record["round_index"]),
        confidence=moment.confidence,
        points=round(points, 1),
        reward=round(reward, 4),
        place=round(place[0], 5) if place else None,
    )


def setup_of(plan: DifferencesPlan) -> DifferencesSetup:
    """The setup of a worker."""
    files = packed(*dict.fromkeys((plan.challenger, plan.champions)))
    critic = files_of(CRITIC_FOLDER, ("critic",)) if plan.horizon else None
    return DifferencesSetup(plan, files, predictor_files(plan.champions.text, plan.challenger.text), critic)
