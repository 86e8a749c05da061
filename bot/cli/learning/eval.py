"""`suzaku eval`: how good networks, adaptation and strategies are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from cyclopts import Parameter

from bot.cli.command import Given, command
from bot.cli.shared import (
    AsJson,
    Checkpoints,
    Device,
    ExistingFolder,
    ExistingPath,
    OfficialAi,
    OutputFolder,
    PlayPrecision,
    Precision,
    ResumedFolder,
    Workers,
)
from kit.reports import write_report

if TYPE_CHECKING:
    import learning.cfr.exploitability
    import learning.measure.accuracy
    import learning.measure.adaptation
    import learning.measure.hands
    import learning.measure.prices
    import policies.adaptation.settings

Data: TypeAlias = Annotated[
    list[ExistingPath],
    Parameter(help="Folder of a corpus, or records as for `suzaku corpus build`; may be repeated."),
]
SoFar: TypeAlias = Annotated[
    bool, Parameter(help="Only report on the results in --out, even while a run is still writing there.")
]


@command()
def accuracy(
    given: Given[learning.measure.accuracy.AccuracyPlan],
    *,
    data: Data,
    checkpoints: list[Checkpoints] | None = None,
    ai: OfficialAi = None,
    precision: Precision = "fp32",
    as_json: AsJson = False,
) -> int:
    """Compare the networks' choices with those of players in real games.

    Reports how often each model agrees, beside the figures of Suphx.

    Args:
        given: the measurement.
        data: games.
        checkpoints: folder of checkpoints, network, phoenix or players@NAME; default: network; may be
            repeated, and the others are then compared with the first.
        ai: kind of players.
        precision: of the networks.
        as_json: whether to print JSON.
    """
    from learning.measure.accuracy import AccuracyPlan, evaluate
    from learning.runs.store import compute_for
    from policies.play.included import SHIPPED

    plan = AccuracyPlan(ai=ai, compute=compute_for(None, "auto", precision), **given)
    return write_report(evaluate(data, checkpoints or [SHIPPED], plan, quiet=as_json), as_json=as_json)


@command()
def hands(
    plan: learning.measure.hands.HandsEvaluation,
    *,
    data: Data,
    checkpoints: ExistingFolder | None = None,
    plots: OutputFolder | None = None,
    as_json: AsJson = False,
) -> int:
    """Compare the predictions of the models of hands with real games (docs/hands.md).

    Reports the errors of shanten, the calibration of waits, and the cost of generated hands.

    Args:
        plan: the measurement.
        data: games.
        checkpoints: folder with models of hands; default: the included ones.
        plots: folder for plots of shanten and waits.
        as_json: whether to print JSON.
    """
    from kit.distribution import require
    from learning.measure.hands import evaluate_hands, save_plots
    from policies.hands.direct import HAND_MODELS_FOLDER
    from policies.nets.device import use_one_torch_thread

    if plots is not None:
        require("matplotlib", "--plots")
    use_one_torch_thread()
    report = evaluate_hands(data, checkpoints or HAND_MODELS_FOLDER, plan, quiet=as_json)
    code = write_report(report, as_json=as_json)
    if plots is not None:
        save_plots(report, plots)
    return code


@command()
def adaptation(
    given: Given[learning.measure.adaptation.AdaptationPlan],
    settings: policies.adaptation.settings.AdaptationSettings,
    *,
    out: ResumedFolder,
    so_far: SoFar = False,
    workers: Workers = None,
    device: Device = "cpu",
    precision: PlayPrecision = "auto",
    as_json: AsJson = False,
) -> int:
    """Measure what adapting the policy to a dealt hand gains.

    Takes hands from self-play, lets a copy of the policy learn from rounds played out over sampled deals, and
    compares it with the policy over other deals, with the same tiles for both.
    """
    from learning.measure.adaptation import ADAPTATION, make_plan, text_of
    from learning.runs.store import compute_for

    if so_far:
        return write_report(ADAPTATION.so_far(out), text_of, as_json=as_json)
    plan = make_plan(settings=settings, compute=compute_for(out, device, precision), **given)
    report = ADAPTATION.run(plan, out, workers=workers, quiet=as_json)
    return write_report(report, text_of, as_json=as_json)


@command()
def prices(
    given: Given[learning.measure.prices.PricesPlan],
    *,
    data: Annotated[
        list[ExistingPath], Parameter(help="Records as for `suzaku corpus build`; may be repeated.")
    ],
    out: ResumedFolder,
    so_far: SoFar = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> int:
    """Measure what people's disagreements with the policy cost.

    Takes disagreements of people in real games and plays both choices out to the end of the round, with the
    true hands over redrawn walls. Reviews read the prices from replays/review/prices.json, which is the
    report's ``figures.prices``.
    """
    from learning.measure.prices import make_plan, text_of
    from learning.measure.prices import prices as measurement
    from learning.runs.store import compute_for

    if so_far:
        return write_report(measurement().so_far(out), text_of, as_json=as_json)
    plan, records = make_plan(data, compute=compute_for(out, "cpu", "auto"), **given)
    report = measurement(records).run(plan, out, workers=workers, quiet=as_json)
    return write_report(report, text_of, as_json=as_json)


@command()
def exploitability(
    table: str,
    /,
    given: Given[learning.cfr.exploitability.ExploitPlan],
    *,
    workers: Workers = None,
    as_json: AsJson = False,
) -> int:
    """Measure how exploitable a strategy of two-player mahjong is.

    Reports the best score of the abstract policies on fixed deals, as the CFR-p paper does.

    Args:
        table: node table to measure: a folder of `suzaku train cfr`; or normal, triplets, pairs or uniform.
            current:FOLDER is the table's current strategy instead of the average.
        given: the deals.
        workers: processes.
        as_json: whether to print JSON.
    """
    from learning.cfr.exploitability import ExploitPlan, measure_exploitability

    return write_report(measure_exploitability(ExploitPlan(table, **given), workers), as_json=as_json)


EVAL: Final = (accuracy, hands, adaptation, prices, exploitability)
