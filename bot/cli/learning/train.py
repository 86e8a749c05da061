"""`suzaku train`: networks from real games, and policies from self-play."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypeVar

import msgspec
from cyclopts import Parameter

from bot.cli.command import Command, Given, command
from bot.cli.shared import (
    AsJson,
    Checkpoints,
    CorpusFolder,
    Device,
    ExistingFolder,
    OfficialAi,
    OutputFolder,
    Precision,
    Ray,
    Tonpuu,
    TrainingPrecision,
    Workers,
    length_of,
)
from kit.options import Count
from kit.reports import write_report

if TYPE_CHECKING:
    from pathlib import Path

    import learning.cfr.run
    import learning.data.choice
    import learning.selfplay.rl.plan
    import learning.train.plan
    import learning.train.reward
    import policies.checkpoint.card
    from learning.train.samples_run import SamplesRun
    from policies.checkpoint.card import Card

PlanT = TypeVar("PlanT", bound="learning.train.plan.SamplesPlan")

CheckpointFolder: TypeAlias = Annotated[
    OutputFolder, Parameter(help="Folder for the checkpoint; a stopped run in it resumes.")
]
ContinueFrom: TypeAlias = Annotated[
    Checkpoints | None,
    Parameter(
        help="Folder of a checkpoint of this model to start from; for the five decision models also network "
        "or phoenix. --depth may be larger, except in generators of hands, and for discards "
        "--width; what they add has no effect at first."
    ),
]
TowerFrom: TypeAlias = Annotated[
    Checkpoints | None,
    Parameter(
        help="Folder of a discard model whose tower to start from, or network or phoenix; its feature "
        "set may differ. Generators of hands take the tower of a direct model, with the same features."
    ),
]


class Places(msgspec.Struct):
    """Where games come from and the checkpoint goes.

    Attributes:
        corpus: the games.
        out: where the checkpoint is written.
    """

    corpus: CorpusFolder
    out: CheckpointFolder


class Learning(msgspec.Struct):
    """What every model that learns from decisions of games takes beside its plan.

    Attributes:
        ai: kind of players.
        precision: of learning.
        continue_from: a checkpoint to continue from.
        tower_from: a checkpoint to take the tower from.
        as_json: whether to print JSON.
    """

    ai: OfficialAi = None
    precision: TrainingPrecision = "auto"
    continue_from: ContinueFrom = None
    tower_from: TowerFrom = None
    as_json: AsJson = False

    def plan(self, make: Callable[..., PlanT], given: dict[str, Any], selection: dict[str, Any]) -> PlanT:
        """The plan of these and other options."""
        return make(**given, precision=self.precision, selection={**selection, "ai": self.ai})

    def train(
        self,
        begin: Callable[..., SamplesRun[Any, Any]],
        plan: learning.train.plan.SamplesPlan,
        places: Places,
    ) -> int:
        """Train by a plan, print the card, and return the exit code."""
        from learning.data.corpus import Corpus
        from learning.train.first_weights import parent_of
        from learning.train.samples_run import train

        parent, corpus = parent_of(plan, self.continue_from, self.tower_from), Corpus(places.corpus)
        card = train(begin, plan, corpus, places.out, parent=parent, quiet=self.as_json)
        return _report(places.out, card, as_json=self.as_json)


def _imitation(model: str) -> Command:
    """The command `suzaku train MODEL`; the five commands take the same options."""

    def imitate(
        *,
        places: Places,
        preset: learning.train.plan.PresetName = "small",
        given: Given[learning.train.plan.TrainingPlan],
        selection: Given[learning.data.choice.Selection],
        how: Learning,
    ) -> int:
        """Train this model on the decisions of real games.

        To resume a stopped run, give the same command again.

        Args:
            places: of games and checkpoint.
            preset: network size.
            given: what to train.
            selection: the decisions to learn from.
            how: to begin, and to learn.
        """
        from learning.train.plan import make_plan
        from learning.train.supervised import SupervisedRun

        plan = how.plan(functools.partial(make_plan, model, preset=preset), given, selection)
        return how.train(SupervisedRun, plan, places)

    imitate.__name__ = model
    imitate.__doc__ = (imitate.__doc__ or "").replace("this model", f"the {model} model")
    return command()(imitate)


@command()
def hands(
    model: policies.checkpoint.card.HandModel,
    /,
    *,
    places: Places,
    preset: learning.train.plan.PresetName = "small",
    given: Given[learning.train.plan.HandsPlan],
    selection: Given[learning.data.choice.Selection],
    how: Learning,
) -> int:
    """Train a model of the opponents' hands on real games (docs/hands.md).

    `direct` predicts shanten, waits, deal-ins and copies; `diffusion` and `autoregressive` generate hands,
    with the tower of the direct model in --tower-from. To resume a stopped run, give the same command again.

    Args:
        model: model of hands.
        places: of games and checkpoint.
        preset: network size.
        given: what to train.
        selection: the decisions to learn from.
        how: to begin, and to learn.
    """
    from learning.train.hands import run_of
    from learning.train.plan import make_hands_plan

    plan = how.plan(functools.partial(make_hands_plan, model, preset=preset), given, selection)
    return how.train(run_of(plan), plan, places)


@command()
def critic(
    *,
    places: Places,
    reward_from: Annotated[
        ExistingFolder | None,
        Parameter(
            help="Folder of the reward predictor that measures final rewards; default: the included one."
        ),
    ] = None,
    preset: learning.train.plan.PresetName = "small",
    given: Given[learning.train.plan.CriticPlan],
    selection: Given[learning.data.choice.Selection],
    how: Learning,
) -> int:
    """Train the critic, which values the rest of a round for each player, with all hands open.

    It learns from games whose hands are all known, preferably self-play: `suzaku selfplay`, then `suzaku
    corpus build` on the records. To resume a stopped run, give the same command again.

    Args:
        places: of games and checkpoint.
        reward_from: a folder with a reward predictor.
        preset: network size.
        given: what to train.
        selection: the games to learn from.
        how: to begin, and to learn.
    """
    from learning.train.critic import CriticRun
    from learning.train.plan import make_critic_plan
    from policies.checkpoint.store import load, load_predictor
    from policies.play.included import SHIPPED

    folder = reward_from or SHIPPED
    predictor = load(folder, "reward").card.tensors.sha256
    plan = how.plan(functools.partial(make_critic_plan, preset=preset, predictor=predictor), given, selection)
    return how.train(functools.partial(CriticRun, predictor=load_predictor(folder)), plan, places)


@command()
def reward(
    *,
    corpus: CorpusFolder,
    out: CheckpointFolder,
    plan: learning.train.reward.RewardPlan,
    as_json: AsJson = False,
) -> int:
    """Train the global reward predictor on the results of real games.

    To resume a stopped run, give the same command again. At the end the predictor's error on the games of the
    test split is reported.

    Args:
        corpus: the games.
        out: where the checkpoint is written.
        plan: what to train.
        as_json: whether to print JSON.
    """
    from learning.data.corpus import Corpus
    from learning.train.reward import train_reward
    from policies.checkpoint.card import describe

    card, report = train_reward(plan, Corpus(corpus), out, quiet=as_json)
    print(f"{out}: {describe(card)}", file=sys.stderr if as_json else sys.stdout)
    return write_report(report, as_json=as_json)


@command()
def rl(
    *,
    out: CheckpointFolder,
    start: str = "phoenix",
    preset: learning.selfplay.rl.plan.ReinforcementPresetName = "small",
    given: Given[learning.selfplay.rl.plan.ReinforcementPlan],
    tonpuu: Tonpuu = False,
    workers: Workers = None,
    ray: Ray = None,
    device: Device = "cpu",
    precision: Precision = "auto",
    learner_precision: TrainingPrecision = "fp32",
    as_json: AsJson = False,
) -> int:
    """Make a policy stronger by self-play.

    Processes play games, sampling discards from the policy's probabilities, and the discard model learns from
    the results of the rounds. At regular intervals the policy is compared with the initial one, and the best
    is kept. To resume a stopped run, give the same command again. See docs/reinforcement.md.

    Args:
        out: where the checkpoints are written.
        start: policy to start from: network, phoenix or a folder of checkpoints.
        preset: size of the run.
        given: how to learn.
        tonpuu: whether to play tonpuusen.
        workers: number of processes.
        ray: address of a cluster.
        device: of the networks.
        precision: of the networks in play.
        learner_precision: of learning.
        as_json: whether to print JSON.
    """
    from learning.runs.store import compute_for
    from learning.selfplay.rl.plan import make_reinforcement_plan
    from learning.selfplay.rl.run import learn_from_play
    from learning.train.plan import training_precision
    from policies.play.named import folder_of_named

    plan = make_reinforcement_plan(
        preset,
        **given,
        length=length_of(tonpuu=tonpuu),
        precision=training_precision(learner_precision),
        compute=compute_for(None, device, precision),
    )
    folder = folder_of_named(start)
    card = learn_from_play(plan, folder, out, workers=workers, ray=ray, quiet=as_json)
    return _report(out, card, as_json=as_json)


@command()
def cfr(
    plan: learning.cfr.run.CfrPlan,
    *,
    out: Annotated[
        OutputFolder,
        Parameter(
            help="Folder of the node table. A stopped run resumes there; a finished run continues if "
            "--iterations is larger."
        ),
    ],
    iterations: Count = 10_000,
    as_json: AsJson = False,
) -> int:
    """Learn which policy to follow when, in two-player mahjong.

    Monte-Carlo counterfactual regret minimisation over abstract policies, after the CFR-p paper. The node
    table is a SQLite file in --out (docs/two-player.md).

    Args:
        plan: the run.
        out: folder of the node table.
        iterations: total number of iterations, earlier ones included.
        as_json: whether to print JSON.
    """
    from learning.cfr.run import learn, print_run

    return print_run(plan, learn(plan, iterations, out, quiet=as_json), out, as_json=as_json)


def _report(out: Path, card: Card, *, as_json: bool) -> int:
    from policies.checkpoint.card import describe, encode_card

    print(encode_card(card).decode() if as_json else f"{out}: {describe(card)}")
    return 0


TRAIN: Final = (
    *map(_imitation, ("discard", "riichi", "chi", "pon", "kan")),
    hands,
    reward,
    critic,
    rl,
    cfr,
)
