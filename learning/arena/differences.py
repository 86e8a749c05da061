"""What one policy gains over another, decision by decision: `suzaku arena --differences`.

By the performance-difference lemma, the gain of A over B is the sum, over A's own decisions, of what A's
choice is worth more than B's if B plays on. So A plays in one seat against three of B. Wherever B would have
chosen otherwise, both choices are played out to the end of the round by B in every seat, with the true hands,
over the same redrawn walls. The game then goes on with A's choice. Luck is common to both sides of a
difference, so few games say as much as a match of many.

Two things bias it: what a round does to later ones counts only as far as points, or the reward predictor, say
it; and a horizon adds the critic's errors.

Source: Kakade and Langford, "Approximately optimal approximate reinforcement learning", ICML 2002, lemma 6.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Final, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta
from msgspec.structs import replace

from game.actions import Action, ActionKind
from game.scoring.settlement import GameLength
from game.shanten import shanten
from game.tiles import face_of
from game.warmup import warm_up
from kit.errors import ConfigError, TrainingError
from kit.options import INTERNAL, Count, Seed
from kit.reports import write_report
from kit.workers.pool import Work
from learning.matches.engines import engine_of
from learning.matches.players import Contender, contender, packed, seat_down
from learning.matches.series import wall_seed
from learning.matches.statistics import Estimate, Floats, estimate, ratio, resample
from learning.matches.store import ResumablePlan
from learning.measure import Measurement, Moment
from policies.checkpoint import files_of, load, load_predictor
from policies.checkpoint.files import reader_of
from policies.deals.deal import true_deals
from policies.flow.draws import drawn_bits
from policies.nets.compute import IN_PLAY, Compute
from policies.play.critic import CRITIC_FOLDER, Critic
from policies.play.named import Files, predictor_files
from policies.play.playouts import Branching, CutWorth, EndWorth, Playouts, RewardWorth, points_worth
from policies.play.rollout import Choice, Chooser, Request, Rollout, Seating, Times
from policies.reward import FinishNetwork, Predictor, round_starts

FORMAT: Final = "suzaku-differences/1"
TOGETHER: Final = 32
"""Games whose decisions are played out side by side."""
_SEATS: Final = ((0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0))
_PLACES: Final = (1.0, 2.0, 3.0, 4.0)


class DifferencesPlan(ResumablePlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines the differences.

    Attributes:
        challenger: the player under test.
        champions: the player it is compared with.
        predictor: hash of the reward predictor.
        critic: hash of the critic; "" if play-outs go to the end.
        games: number of games.
        walls: walls over which a difference is played out.
        horizon: discards after which play-outs are cut, and valued by the critic; 0: at the end of the round.
        seed: seed of all walls.
        length: length of the games.
        compute: how networks compute.
        format: format of the results.
    """

    challenger: Annotated[Contender, INTERNAL]
    champions: Annotated[Contender, INTERNAL]
    predictor: Annotated[str, INTERNAL]
    critic: Annotated[str, INTERNAL] = ""
    games: Annotated[Count, INTERNAL]
    walls: Annotated[int, Meta(ge=1)] = 8
    horizon: Annotated[int, Meta(ge=0, le=70)] = 0
    seed: Seed = 0
    length: Annotated[GameLength, INTERNAL] = "hanchan"
    compute: Compute = IN_PLAY
    format: Annotated[str, INTERNAL] = FORMAT


class Difference(msgspec.Struct, frozen=True, array_like=True):
    """One decision in which the players differ.

    Attributes:
        model: that decides it: discard, riichi, chi, pon or kan.
        go_around: earlier discards of the player in the round.
        tenpai: whether the player is tenpai, or would be after a discard.
        riichi: whether an opponent has declared riichi.
        round_index: 0 East 1 … 8 West 1.
        sure: how much likelier the champion's choice is to the champion than the challenger's; -1 if unknown.
        points: what the challenger's choice is worth more, in points: the mean over the walls.
        reward: the same in the expected final reward.
        place: the same in the expected place; 0 if the predictor does not say places.
    """

    model: str
    go_around: int
    tenpai: bool
    riichi: bool
    round_index: int
    sure: float
    points: float
    reward: float
    place: float


class DifferencesGame(msgspec.Struct, frozen=True):
    """One game.

    Attributes:
        number: its number.
        decisions: of the challenger.
        differences: those in which the players differ.
        seconds: CPU time, its share of the games played together.
    """

    number: int
    decisions: int
    differences: tuple[Difference, ...]
    seconds: float


class Gain(msgspec.Struct, frozen=True):
    """What is gained a game.

    Attributes:
        of: decisions that it counts.
        differences: number of them a game.
        points: gain in points.
        reward: gain in the expected final reward.
        place: change of the expected place; below 0 is better.
    """

    of: str
    differences: float
    points: Estimate
    reward: Estimate
    place: Estimate


class DifferencesFigures(msgspec.Struct, frozen=True):
    """The figures.

    Attributes:
        games: number of games.
        decisions: of the challenger, a game.
        gain: over all decisions.
        by: where it comes from.
        seconds: CPU time in all.
        seconds_for_500: CPU time after which the interval of the points would be ± 500.
    """

    games: int
    decisions: float
    gain: Gain
    by: tuple[Gain, ...]
    seconds: float
    seconds_for_500: float | None


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


class _Differing(Moment, frozen=True):
    """A decision in which the players differ, of one game."""

    number: int
    choices: tuple[Action, Action]
    model: str
    sure: float


class _Compared:
    """The challenger at the table, and what the champion would have done in its place."""

    def __init__(self, challenger: Chooser, champion: Chooser) -> None:
        self._players = (challenger, champion)
        self.differing: list[_Differing] = []
        self.decisions: dict[int, int] = {}

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide as the challenger; see `policies.play.rollout.Chooser`."""
        ours, theirs = (player.choose(requests, times) for player in self._players)
        for request, one, other in zip(requests, ours, theirs, strict=True):
            self.decisions[request.number] = self.decisions.get(request.number, 0) + 1
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
    said = theirs.verdict.probabilities if theirs.verdict is not None else {}
    sure = said[theirs.action] - said.get(ours, 0.0) if theirs.action in said else -1.0
    choices = (ours, theirs.action)
    return _Differing.of(
        request, number=request.number, choices=choices, model=_model_of(choices), sure=round(sure, 4)
    )


def _model_of(choices: tuple[Action, Action]) -> str:
    """The model whose question the choices answer differently: the first in the order of the flow."""
    kinds = {choice.kind for choice in choices}
    for model, of_model in _MODELS.items():
        if kinds & of_model:
            return model
    return "discard"


_MODELS: Final[Mapping[str, frozenset[ActionKind]]] = {
    "rule": frozenset((ActionKind.TSUMO, ActionKind.RON, ActionKind.NINE_TERMINALS)),
    "kan": frozenset((ActionKind.ANKAN, ActionKind.KAKAN, ActionKind.DAIMINKAN)),
    "riichi": frozenset((ActionKind.RIICHI,)),
    "pon": frozenset((ActionKind.PON,)),
    "chi": frozenset((ActionKind.CHI,)),
}


class _Worths(NamedTuple):
    """Predictors of final rewards, and of places if there is one; the critic of cut rounds."""

    reward: Predictor
    place: Predictor | None
    critic: Critic | None

    def at(self, moment: Moment) -> list[EndWorth]:
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
    worths = _Worths(reward, _places(reward), critic)
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
            yield DifferencesGame(number, compared.decisions.get(number, 0), here, share)

    return compare


def _places(network: Predictor) -> Predictor | None:
    """The predictor as one of places; None if it knows only rewards."""
    if not isinstance(network, FinishNetwork):
        return None
    twin = FinishNetwork(replace(network.architecture, rewards=_PLACES))
    twin.load_state_dict(network.state_dict())
    return twin.eval()


def _played_out(
    plan: DifferencesPlan, playouts: Playouts, worths: _Worths, found: Sequence[_Differing]
) -> list[Difference]:
    branchings = []
    for each in found:
        seed = drawn_bits(plan.seed, each.number, len(each.events))
        deals = true_deals(each.view, each.record, plan.walls, seed)
        branchings.append(Branching(deals, each.choices, range(plan.walls)))
    return [
        _difference(each, [float(branching.ahead(ends, worth).mean()) for worth in worths.at(each)])
        for each, branching, ends in zip(found, branchings, playouts.ends(branchings), strict=True)
    ]


def _difference(moment: _Differing, gained: Sequence[float]) -> Difference:
    points, reward, place = (*gained, 0.0)[:3]
    record, player = moment.record, moment.view.player
    riichi = record["riichi"].copy()
    riichi[player] = 0
    return Difference(
        moment.model,
        int(record["river_size"][player]),
        bool(shanten(record["hand34"][player].copy(), int(record["meld_count"][player])) <= 0),
        bool(riichi.any()),
        int(record["round_index"]),
        moment.sure,
        round(points, 1),
        round(reward, 4),
        round(place, 5),
    )


_SURE: Final = (0.2, 0.5, 0.8)


def _sureness(sure: float) -> str:
    if sure < 0.0:
        return "sureness unknown"
    return next(
        (f"sure by less than {limit}" for limit in _SURE if sure < limit), f"sure by {_SURE[-1]} or more"
    )


def _turn(go_around: int) -> str:
    return "go-around 1 to 6" if go_around < 6 else "7 to 12" if go_around < 12 else "13 and later"


def _round(index: int) -> str:
    return ("East", "South", "West")[min(index // 4, 2)]


_PARTS: Final = (
    lambda each: each.model,
    lambda each: _turn(each.go_around),
    lambda each: "tenpai" if each.tenpai else "not tenpai",
    lambda each: "against riichi" if each.riichi else "no riichi against",
    lambda each: _round(each.round_index),
    lambda each: _sureness(each.sure),
)
"""The ways to divide differences."""


def figures_of(plan: DifferencesPlan, rows: Sequence[DifferencesGame]) -> DifferencesFigures:
    """The figures of some games.

    Raises:
        ConfigError: there are none.
    """
    if not rows:
        raise ConfigError("no game is complete yet")
    parts: dict[str, None] = {}
    for part_of in _PARTS:
        parts |= dict.fromkeys(sorted({part_of(each) for row in rows for each in row.differences}))
    gain = _gain("all", rows, lambda _: True)
    seconds = sum(row.seconds for row in rows)
    points = gain.points
    wide = None
    if points.high is not None and points.low is not None and points.high > points.low:
        wide = seconds * ((points.high - points.low) / 1000.0) ** 2
    return DifferencesFigures(
        games=len(rows),
        decisions=sum(row.decisions for row in rows) / len(rows),
        gain=gain,
        by=tuple(_gain(part, rows, lambda each, part=part: part in _parts_of(each)) for part in parts),
        seconds=round(seconds, 1),
        seconds_for_500=wide,
    )


def _parts_of(each: Difference) -> set[str]:
    return {part_of(each) for part_of in _PARTS}


def _gain(of: str, rows: Sequence[DifferencesGame], counted: Any) -> Gain:
    sums: Floats = np.zeros((len(rows), 5))
    sums[:, 4] = 1.0
    for number, row in enumerate(rows):
        for each in filter(counted, row.differences):
            sums[number, :4] += (1.0, each.points, each.reward, each.place)
    drawn = resample(sums)
    points, reward, place = (estimate(sums, drawn, ratio(column, 4)) for column in (1, 2, 3))
    return Gain(of, float(sums[:, 0].mean()), points, reward, place)


def make_differences_plan(challenger: str, champions: str, **given: Any) -> DifferencesPlan:
    """The plan of a comparison, both players loaded.

    Args:
        challenger: as for `learning.matches.players.contender`.
        champions: the player in the other seats.
        given: other fields of the plan.

    Raises:
        ConfigError: a player is not valid, or is an external engine.
        CheckpointError: a player's checkpoints cannot be used.
    """
    one, other = contender(challenger), contender(champions)
    for who in (one, other):
        if engine_of(who.text):
            raise ConfigError(
                f"--differences: {who.text!r} follows games from their start and cannot be asked about a "
                "position; compare it in a match, without --differences"
            )
    predictor = load(Path(), "reward", read=reader_of(predictor_files(other.text, one.text)))
    digest = predictor.card.tensors.sha256
    plan = DifferencesPlan(challenger=one, champions=other, predictor=digest, **given)
    return replace(plan, critic=load(CRITIC_FOLDER, "critic").card.tensors.sha256) if plan.horizon else plan


def setup_of(plan: DifferencesPlan) -> DifferencesSetup:
    """What a process needs to know of a plan."""
    files = packed(*dict.fromkeys((plan.challenger, plan.champions)))
    critic = files_of(CRITIC_FOLDER, ("critic",)) if plan.horizon else None
    return DifferencesSetup(plan, files, predictor_files(plan.champions.text, plan.challenger.text), critic)


DIFFERENCES: Final = Measurement(
    "differences", DifferencesPlan, DifferencesGame, figures_of, setup_of, differences_of_games, TOGETHER
)
"""The plan of `suzaku arena --differences`, and the row of a game."""


def compare_decisions(
    challenger: str,
    champions: str,
    folder: Path | None,
    *,
    report_only: bool,
    workers: int | None,
    ray: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Play, print the report, and return the exit code.

    Args:
        challenger: the player under test.
        champions: the player in the other seats.
        folder: folder of the results; an earlier run in it is resumed. None to keep none.
        report_only: play nothing; report on the games in the folder, also of an unfinished run.
        workers: processes; one per core if None.
        ray: address of a cluster; see `learning.workers.spread.spread`.
        as_json: print one JSON object, without progress.
        given: fields of the plan.

    Raises:
        BotError: as in `make_differences_plan` and `learning.measure.Measurement.run`.
    """
    if report_only:
        if folder is None:
            raise ConfigError("--report needs --out: the folder whose games to report on")
        return write_report(DIFFERENCES.so_far(folder), as_json=as_json)
    plan = make_differences_plan(challenger, champions, **given)
    report = DIFFERENCES.run(plan, folder, workers=workers, quiet=as_json, ray=ray)
    return write_report(report, as_json=as_json)
