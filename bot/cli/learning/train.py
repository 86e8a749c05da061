"""`suzaku train`: networks from real games, and policies from self-play."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from cyclopts import Parameter

from bot.cli.command import Command, Given, command
from bot.cli.shared import (
    AsJson,
    CorpusFolder,
    Device,
    ExistingFolder,
    OfficialAi,
    OutputFolder,
    PlayPrecision,
    Ray,
    Tonpuu,
    TrainingPrecision,
    Workers,
    length_of,
)
from kit.options import Count

if TYPE_CHECKING:
    from pathlib import Path

    import learning.cfr.run
    import learning.hands.plan
    import learning.reinforcement.plan
    import learning.reward.training
    import learning.supervised.plan
    import policies.checkpoint
    from policies.checkpoint import Card

CheckpointFolder: TypeAlias = Annotated[
    OutputFolder, Parameter(help="Folder for the checkpoint; a stopped run resumes.")
]
ContinueFrom: TypeAlias = Annotated[
    ExistingFolder | None,
    Parameter(
        help="Folder of a checkpoint of this model whose weights to start from; what a larger --depth or, of "
        "discards, --width adds changes nothing at first."
    ),
]
TowerFrom: TypeAlias = Annotated[
    ExistingFolder | None,
    Parameter(
        help="Folder of a discard model whose tower to start from, whatever planes it sees; that model has "
        "seen the most hands."
    ),
]


def _imitation(model: str) -> Command:
    """The command `suzaku train MODEL`; the five commands take the same options."""

    def imitate(
        *,
        corpus: CorpusFolder,
        out: CheckpointFolder,
        preset: learning.supervised.plan.PresetName = "small",
        given: Given[learning.supervised.plan.TrainingPlan],
        selection: Given[learning.supervised.plan.Selection],
        ai: OfficialAi = None,
        precision: TrainingPrecision = "auto",
        continue_from: ContinueFrom = None,
        tower_from: TowerFrom = None,
        as_json: AsJson = False,
    ) -> int:
        """Train this model on the decisions of real games.

        To resume a stopped run, give the same command again.

        Args:
            corpus: the games.
            out: where the checkpoint is written.
            preset: network size.
            given: what to train.
            selection: the decisions to learn from.
            ai: kind of players.
            precision: of learning.
            continue_from: a checkpoint to continue from.
            tower_from: a checkpoint to take the tower from.
            as_json: whether to print JSON.
        """
        from learning.corpus.reader import Corpus
        from learning.runs.commit import current_commit
        from learning.supervised import run
        from learning.supervised.plan import make_plan

        selected = {**selection, "ai": ai}
        plan = make_plan(model, preset=preset, precision=precision, selection=selected, **given)
        parent = run.parent_of(plan, continue_from, tower_from)
        card = run.train(plan, Corpus(corpus), out, parent=parent, commit=current_commit(), quiet=as_json)
        return _report(out, card, as_json=as_json)

    imitate.__name__ = model
    return command()(imitate)


@command()
def hands(
    model: policies.checkpoint.HandModel,
    /,
    *,
    corpus: CorpusFolder,
    out: CheckpointFolder,
    preset: learning.supervised.plan.PresetName = "small",
    given: Given[learning.hands.plan.HandsPlan],
    selection: Given[learning.supervised.plan.Selection],
    ai: OfficialAi = None,
    precision: TrainingPrecision = "auto",
    continue_from: ContinueFrom = None,
    tower_from: TowerFrom = None,
    as_json: AsJson = False,
) -> int:
    """Train a model of the opponents' hands on real games (docs/hands.md).

    `direct` predicts shanten, waits, deal-ins and copies; `diffusion` and `autoregressive` generate hands,
    from what the direct model in --tower-from sees. To resume a stopped run, give the same command again.

    Args:
        model: model of hands.
        corpus: the games.
        out: where the checkpoint is written.
        preset: network size.
        given: what to train.
        selection: the decisions to learn from.
        ai: kind of players.
        precision: of learning.
        continue_from: a checkpoint to continue from.
        tower_from: a checkpoint to take the tower from.
        as_json: whether to print JSON.
    """
    from learning.corpus.reader import Corpus
    from learning.hands.plan import make_hands_plan
    from learning.hands.training import parent_of, train_hands
    from learning.runs.commit import current_commit

    selected = {**selection, "ai": ai}
    plan = make_hands_plan(model, preset=preset, precision=precision, selection=selected, **given)
    parent = parent_of(plan, continue_from, tower_from)
    card = train_hands(plan, Corpus(corpus), out, parent=parent, commit=current_commit(), quiet=as_json)
    return _report(out, card, as_json=as_json)


@command()
def reward(
    *,
    corpus: CorpusFolder,
    out: CheckpointFolder,
    plan: learning.reward.training.RewardPlan,
    as_json: AsJson = False,
) -> int:
    """Train the global reward predictor on the results of real games.

    To resume a stopped run, give the same command again. At the end the predictor is compared with lookup
    tables on the games of the test split.

    Args:
        corpus: the games.
        out: where the checkpoint is written.
        plan: what to train.
        as_json: whether to print JSON.
    """
    from kit.reports import write_report
    from learning.corpus.reader import Corpus
    from learning.reward.training import train_reward
    from learning.runs.commit import current_commit
    from policies.checkpoint import describe

    card, report = train_reward(plan, Corpus(corpus), out, commit=current_commit(), quiet=as_json)
    print(f"{out}: {describe(card)}", file=sys.stderr if as_json else sys.stdout)
    return write_report(report, as_json=as_json)


@command()
def rl(
    *,
    out: CheckpointFolder,
    start: str = "phoenix",
    preset: learning.reinforcement.plan.ReinforcementPresetName = "small",
    given: Given[learning.reinforcement.plan.ReinforcementPlan],
    tonpuu: Tonpuu = False,
    workers: Workers = None,
    ray: Ray = None,
    device: Device = "cpu",
    precision: PlayPrecision = "auto",
    learner_precision: TrainingPrecision = "fp32",
    as_json: AsJson = False,
) -> int:
    """Make a policy stronger by playing against itself.

    Processes play games, sampling discards from the policy's probabilities, and the discard model learns from
    how the rounds ended. Every so many games the policy is compared with the start, and the best is kept. To
    resume a stopped run, give the same command again. See docs/reinforcement.md.

    Args:
        out: where the checkpoints are written.
        start: policy to start from: network, phoenix, large or a folder of checkpoints.
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
    from learning.matches.store import compute_for
    from learning.reinforcement.plan import make_reinforcement_plan
    from learning.reinforcement.run import learn_from_play
    from learning.runs.commit import current_commit
    from learning.supervised.plan import training_precision
    from policies.play.named import folder_of_named

    plan = make_reinforcement_plan(
        preset,
        **given,
        length=length_of(tonpuu=tonpuu),
        precision=training_precision(learner_precision),
        compute=compute_for(None, device, precision),
    )
    folder = folder_of_named(start)
    card = learn_from_play(
        plan, folder, out, workers=workers, ray=ray, commit=current_commit(), quiet=as_json
    )
    return _report(out, card, as_json=as_json)


@command()
def cfr(
    plan: learning.cfr.run.CfrPlan,
    *,
    out: Annotated[
        OutputFolder,
        Parameter(help="Folder of the node table; a stopped run resumes, a finished one goes on."),
    ],
    iterations: Count = 10_000,
    as_json: AsJson = False,
) -> int:
    """Learn when to play which policy in two-player mahjong.

    Monte-Carlo counterfactual regret minimisation over abstract policies, after the CFR-p paper. The node
    table is a SQLite file in --out (docs/two-player.md).

    Args:
        plan: the run.
        out: folder of the node table.
        iterations: iterations in all, earlier ones included.
        as_json: whether to print JSON.
    """
    from learning.cfr.run import learn, print_run

    return print_run(plan, learn(plan, iterations, out, quiet=as_json), out, as_json=as_json)


def _report(out: Path, card: Card, *, as_json: bool) -> int:
    from policies.checkpoint import describe
    from policies.checkpoint.card import encode_card

    print(encode_card(card).decode() if as_json else f"{out}: {describe(card)}")
    return 0


TRAIN: Final = (
    *map(_imitation, ("discard", "riichi", "chi", "pon", "kan")),
    hands,
    reward,
    rl,
    cfr,
)
