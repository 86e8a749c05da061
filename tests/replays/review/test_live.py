"""Decisions in play: beside those of a review, and shown alone."""

from __future__ import annotations

import msgspec
import pytest

from game.actions import RIICHI, ActionKind
from game.observation import Observation
from game.tiles import mjai_text
from policies.flow.decisions import Decision, Improvement, Option, OptionValue
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide
from replays.record import DecisionRecord
from replays.review.judging import look_further
from replays.review.live import played_decision
from replays.review.moments import Moment, action_text, follow
from replays.review.notes import Notes
from replays.review.schema import ReviewDecision
from tests.policies.fakes import Scripted
from tests.replays.review.made import first_round, of_whole, reviewed, whole
from tests.scene import Scene


def logged(seen: Observation, decision: Decision, *, late: bool = False) -> DecisionRecord:
    """A decision as written beside a record."""
    return DecisionRecord(
        time=0.0,
        round_index=int(seen.record["round_index"]),
        honba=int(seen.record["honba"]),
        turn=int(seen.record["discard_count"]),
        player=seen.player,
        decision=decision,
        late=late,
    )


def played(seen: Observation) -> Decision:
    """The decision of the policy that played."""
    return msgspec.structs.replace(decide(seen, HeuristicPolicy()), budget_ms=3000.0)


def test_what_happened_in_play_stands_beside_the_decisions() -> None:
    moments = follow(whole().events, 0, "tonpuu").moments
    log, late = [], moments[5]
    for moment in moments:
        log.append(logged(moment, played(moment), late=moment is late))
        after = moment.declared
        if after is not None and log[-1].decision.action == RIICHI and len(after.legal) > 1:
            log.append(logged(after, played(after)))
    made = reviewed(msgspec.structs.replace(whole(), decisions=tuple(log)), 0)
    assert all(each.live is not None and each.live.played == each.done for each in made.decisions)
    assert [each.live.late for each in made.decisions if each.live] == [each is late for each in moments]
    live = made.decisions[0].live
    assert live.budget_ms == 3000.0
    assert len(live.probabilities) == len(made.decisions[0].options)
    later = [
        (option, then)
        for each in made.decisions
        if each.live and each.live.probabilities
        for option, then in zip(each.options, each.live.probabilities, strict=True)
    ]
    assert {option.action.kind for option, then in later if then is None} >= {"discard"}
    assert all(then is None or then == pytest.approx(option.probability, abs=1e-5) for option, then in later)
    assert all(each.live is None for each in of_whole(0).decisions)


def test_what_adaptation_and_search_had_to_say_stands_beside_the_options() -> None:
    moments = follow(first_round().events, 0, "tonpuu").moments
    moment = next(each for each in moments if sum(a.kind is ActionKind.DISCARD for a in each.legal) > 3)
    decision = decide(moment, HeuristicPolicy())
    discards = [option for option in decision.options if option.action.kind is ActionKind.DISCARD]
    first, base = discards[0], discards[1]
    thought = Improvement(
        "both",
        base.action,
        tuple(Option(option.action, 1.0 / len(discards)) for option in discards),
        playouts=164,
        divergence=0.01,
        values=(
            OptionValue(first.action, first.probability, 400.0, 250.0, 216.4, 192.1, 32),
            OptionValue(base.action, base.probability, 0.0, 0.0, 0.0, 0.0, 32),
        ),
    )
    made = logged(moment, msgspec.structs.replace(decision, improvement=thought))
    found = reviewed(msgspec.structs.replace(first_round(), decisions=(made,)), 0)
    (shown,) = (each for each in found.decisions if each.live is not None)
    live = shown.live
    assert (live.thought.way, live.thought.playouts, live.thought.worth) == ("both", 164, "points")
    assert live.thought.base == action_text(base.action, moment.record)
    texts = [option.action for option in shown.options]
    searched = dict(zip(texts, live.thought.searched, strict=True))
    ahead = searched[action_text(first.action, moment.record)]
    assert (ahead.ahead, ahead.doubt, ahead.deals) == (216.4, 192.1, 32)
    assert sum(each is not None for each in live.thought.searched) == 2
    for text, before, after in zip(texts, live.base, live.adapted, strict=True):
        assert (before is None) == (after is None) == (text.kind != "discard")


def advised(scene: Scene, yes: dict[str, float], **said: float) -> ReviewDecision:
    """What is shown of a decision, by the probabilities of discards and of other kinds of action."""
    legal = tuple(scene.legal())
    discards = {mjai_text(each.tile): each for each in legal if each.kind is ActionKind.DISCARD}
    policy = Scripted({discards[tile]: chance for tile, chance in yes.items()})
    policy.yes |= {each: said[name] for each in legal if (name := each.kind.name.lower()) in said}
    decision = look_further(decide(scene.observe(), policy), scene.observe(), policy)
    moment = Moment(scene.record, 0, legal, "hanchan", round=0, event=0, done=decision.action)
    return played_decision(moment, logged(moment, decision), Notes())


@pytest.mark.parametrize(
    ("riichi", "discard", "reason", "options"),
    [
        (0.9, "9p", "reason_riichi", ("riichi", "9p", "discard", "9p")),
        (0.3, "9p", "reason_silent", ("discard", "9p", "riichi", "9p")),
        (0.3, "E", "reason_wide", ("discard", "E", "riichi", "9p")),
    ],
)
def test_a_decision_of_ours_says_why(
    riichi: float, discard: str, reason: str, options: tuple[str, str, str, str]
) -> None:
    scene = Scene("123m456p789s11z22z", dora="4z").draw("9p")
    shown = advised(scene, {discard: 1.0}, riichi=riichi)
    params = shown.notes[0].params
    found = tuple(params[key] for key in ("better", "better_tile", "worse", "worse_tile"))
    assert (shown.notes[0].key, found) == (reason, options)


def test_advice_names_the_discard_of_a_riichi_and_its_waits() -> None:
    scene = Scene("679m456678p345s9s").draw("9s")
    shown = advised(scene, {"9m": 0.95, "6m": 0.05}, riichi=0.9)
    reason = next(note.params for note in shown.notes if note.key == "reason_riichi")
    assert (shown.preferred.kind, shown.preferred.tile) == ("riichi", "9m")
    assert (reason["better_tile"], reason["waits"], reason["tiles"]) == ("9m", ["5m", "8m"], 8)
    bars = {each.action.tile: each.probability for each in shown.options if each.action.kind == "riichi"}
    assert bars == pytest.approx({"9m": 0.855, "6m": 0.045}, abs=1e-4)


def test_a_kan_is_compared_with_the_likeliest_other_option() -> None:
    scene = Scene("1111m24567p67s5z2z").draw("8s")
    shown = advised(scene, {"P": 0.3, "S": 0.7}, ankan=0.9)
    params = next(note.params for note in shown.notes if note.key == "reason_kan")
    assert (params["better"], params["worse"], params["worse_tile"]) == ("ankan", "discard", "S")


def test_a_win_is_compared_with_nothing() -> None:
    shown = advised(Scene("123456789m11p67s").draw("8s"), {})
    assert [*shown.notes[0].params] == ["better", "better_tile", "points"]


def test_a_riichi_of_an_older_record_is_given_no_tile_and_no_reasons() -> None:
    scene = Scene("679m456678p345s9s").draw("9s")
    decision = decide(scene.observe(), Scripted({RIICHI: 0.9}))
    moment = Moment(scene.record, 0, tuple(scene.legal()), "hanchan", round=0, event=0, done=RIICHI)
    shown = played_decision(moment, logged(moment, decision), Notes())
    assert (shown.preferred.kind, shown.preferred.tile) == ("riichi", "")
    assert not [note for note in shown.notes if note.key.startswith("reason_")]
