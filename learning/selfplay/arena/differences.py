"""The gain of one policy over another, decision by decision: `suzaku arena --differences`.

By the performance-difference lemma, the gain of A over B is the sum, over A's own decisions, of the advantage
of A's choice over B's if B plays on. So A plays in one seat against three of B. Wherever B would have
chosen otherwise, both choices are played out to the end of the round by B in every seat, with the true hands,
over the same redrawn walls. The game then goes on with A's choice. Both sides of a difference share
their luck, so it needs far fewer games than a match for the same interval.

Two things bias it: effects on later rounds count only through points or the predictor, and a horizon adds
the critic's errors.

Source: Kakade and Langford, "Approximately optimal approximate reinforcement learning", ICML 2002, lemma 6.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from game.actions import Action, ActionKind
from game.ranking import Uma
from game.scoring.settlement import GameLength
from game.shanten import shanten
from game.table.walls import wall_seed
from game.tiles import face_of
from game.warmup import warm_up
from kit.errors import ConfigError, TrainingError
from kit.options import INTERNAL, Count, Seed
from kit.workers.pool import Work
from learning.runs.measurement import SelfPlayDecision
from learning.runs.store import ResumablePlan
from learning.selfplay.arena.plan import SEATS
from learning.selfplay.engines import engine_of
from learning.selfplay.players import Contender, contender, packed, seat_down, thinking_player
from policies.checkpoint.files import reader_of
from policies.checkpoint.store import files_of, load, load_predictor
from policies.deals.deal import true_deals
from policies.flow.decisions import KINDS_OF_MODEL, model_of
from policies.flow.draws import drawn_bits
from policies.nets.compute import IN_PLAY, Compute
from policies.play.critic import CRITIC_FOLDER, Critic
from policies.play.named import Files, predictor_files
from policies.play.playouts import Branching, CutValue, EndValue, Playouts, RewardValue, points_value
from policies.play.rollout import Choice, Chooser, Request, Rollout, Seating, Times
from policies.reward.encoding import round_starts
from policies.reward.predictor import Predictor

FORMAT: Final = "suzaku-differences/3"
MODELS: Final = "discard", "riichi", "chi", "pon", "kan", "rule"
"""Models that decide; "rule" for a win or nine terminals."""


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
        uma: what final rewards are in, None for that of the predictor.
        compute: how networks compute.
        format: format of the results.
    """

    challenger: Annotated[Contender, INTERNAL]
    champions: Annotated[Contender, INTERNAL]
    predictor: Annotated[str, INTERNAL]
    critic: Annotated[str, INTERNAL] = ""
    games: Annotated[Count, INTERNAL]
    walls: Annotated[int, Meta(ge=1)] = 4
    horizon: Annotated[int, Meta(ge=0, le=70)] = 0
    seed: Seed = 0
    length: Annotated[GameLength, INTERNAL] = "hanchan"
    uma: Annotated[Uma | None, INTERNAL] = None
    compute: Compute = IN_PLAY
    format: Annotated[str, INTERNAL] = FORMAT

    @property
    def flags(self) -> dict[str, str]:
        """The options that give this plan, as text."""
        players = {"--challenger": self.challenger.flag, "--champion": self.champions.flag}
        tonpuu = "given" if self.length == "tonpuu" else "left out"
        own = {"--games": str(self.games), "--tonpuu": tonpuu, "--uma": str(self.uma or "left out")}
        return players | own | super().flags


class Difference(msgspec.Struct, frozen=True, array_like=True):
    """One decision in which the players differ.

    Attributes:
        model: the model that decides it, of `MODELS`.
        go_around: earlier discards of the player in the round.
        tenpai: whether the player is tenpai, or would be after a discard.
        riichi: whether an opponent has declared riichi.
        round_index: 0 East 1 … 8 West 1.
        confidence: probability of the champion's choice minus that of the challenger's, both by the champion;
            None if it gives none.
        points: the advantage of the challenger's choice in points, the mean over the walls.
        reward: the same in the expected final reward.
        place: the same in the expected place; None without a predictor of places.
    """

    model: str
    go_around: int
    tenpai: bool
    riichi: bool
    round_index: int
    confidence: float | None
    points: float
    reward: float
    place: float | None


class DifferencesGame(msgspec.Struct, frozen=True):
    """One game.

    Attributes:
        number: its number.
        decisions: of the challenger.
        faults: decisions at which one of the players had no usable answer, and the rules chose for it.
        differences: decisions in which the players differ.
        seconds: CPU time, its share of the games played together.
    """

    number: int
    decisions: int
    faults: int
    differences: tuple[Difference, ...]
    seconds: float


def make_differences_plan(challenger: str, champions: str, **given: Any) -> DifferencesPlan:
    """The plan of a comparison, both players loaded.

    Args:
        challenger: as for `learning.selfplay.players.contender`.
        champions: the player in the other seats.
        given: other fields of the plan.

    Raises:
        ConfigError: a player is not valid or cannot be compared in this way.
        CheckpointError: a player's checkpoints cannot be used.
    """
    one, other = contender(challenger), contender(champions)
    for who in (one, other):
        if engine_of(who.text):
            raise ConfigError(
                f"--differences: {who.text!r} follows games from their start and cannot be asked about a "
                "position; compare it in a match, without --differences"
            )
    if thinking_player(other.text):
        raise ConfigError(
            f"--differences: the champion plays every play-out, and {other.text!r} would search in each of "
            "them; make it the --challenger, against its networks alone as --champion"
        )
    predictor = load(Path(), "reward", read=reader_of(predictor_files(other.text, one.text)))
    digest = predictor.card.tensors.sha256
    plan = DifferencesPlan(challenger=one, champions=other, predictor=digest, **given)
    return replace(plan, critic=load(CRITIC_FOLDER, "critic").card.tensors.sha256) if plan.horizon else plan


TOGETHER: Final = 128
"""Games whose decisions are played out side by side."""
_SEATS: Final = SEATS["1v3"]
_PLACES: Final = Uma((1.0, 2.0, 3.0, 4.0))


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
    """The challenger at the table, with the champion's choice at each of its decisions."""

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
    chances = theirs.verdict.probabilities if theirs.verdict is not None else {}
    return _Differing.of(
        request,
        number=request.number,
        choices=choices,
        model=model,
        confidence=confidence_of(model, choices, chances),
    )


_ON_A_DRAW: Final = (ActionKind.ANKAN, ActionKind.KAKAN, ActionKind.RIICHI)
"""Each is a question of yes or no, asked before discards."""


def confidence_of(
    model: str, choices: tuple[Action, Action], chances: Mapping[Action, float]
) -> float | None:
    """By the champion, its choice's probability minus that of the challenger's; None if it gives none.

    Args:
        model: from `model_of`.
        choices: the challenger's and the champion's.
        chances: chances of options by the champion.
    """
    ours, theirs = (chances.get(choice) for choice in choices)
    asked = [
        choice for choice in choices if choice.kind in _ON_A_DRAW and choice.kind in KINDS_OF_MODEL[model]
    ]
    if len(asked) == 1:  # against "no"
        yes = chances.get(asked[0])
        return None if yes is None else round(abs(2.0 * yes - 1.0), 4)
    return None if theirs is None or ours is None else round(theirs - ours, 4)


class _EndValues(NamedTuple):
    """Predictors of final rewards, and of places if there is one; the critic of cut rounds."""

    reward: Predictor
    place: Predictor | None
    critic: Critic | None

    def at(self, moment: SelfPlayDecision) -> list[EndValue]:
        starts = round_starts(moment.events)
        if self.critic is not None:  # it knows no places
            reward = RewardValue(self.reward, starts)
            return [CutValue(points_value, "points", self.critic), CutValue(reward, "reward", self.critic)]
        known = [each for each in (self.reward, self.place) if each is not None]
        return [points_value, *(RewardValue(each, starts) for each in known)]


def differences_of_games(setup: DifferencesSetup) -> Work[Sequence[int], DifferencesGame]:
    """Load the players; return the function that plays some games and compares their decisions."""
    warm_up()
    plan = setup.plan
    ours, champion = (
        seat_down(who, setup.files.get(who.text), plan.compute) for who in (plan.challenger, plan.champions)
    )
    reward = load_predictor(Path(), reader_of(setup.predictor))
    critic = None if setup.critic is None else Critic.load(Path(), read=reader_of(setup.critic))
    end_values = _EndValues(reward.with_uma(plan.uma), reward.with_uma(_PLACES), critic)
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
        differences = _played_out(plan, playouts, end_values, found)
        share = round((process_time() - begun) / len(numbers), 3)
        for number in numbers:
            here = tuple(row for each, row in zip(found, differences, strict=True) if each.number == number)
            yield DifferencesGame(number, compared.decisions[number], compared.faults[number], here, share)

    return compare


def _played_out(
    plan: DifferencesPlan,
    playouts: Playouts,
    end_values: _EndValues,
    found: Sequence[_Differing],
) -> list[Difference]:
    branchings = []
    for each in found:
        seed = drawn_bits(plan.seed, each.number, len(each.events))
        deals = true_deals(each.view, each.record, plan.walls, seed)
        branchings.append(Branching(deals, each.choices, range(plan.walls)))
    differences = []
    for each, branching, ends in zip(found, branchings, playouts.ends(branchings), strict=True):
        valued = (branching.values(ends, value) for value in end_values.at(each))
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
