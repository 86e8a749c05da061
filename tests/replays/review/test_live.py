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
from replays.review.live import played_decision
from replays.review.moments import Moment, action_text, follow
from replays.review.notes import Notes
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


@pytest.mark.parametrize(
    ("riichi", "discard", "reason", "options"),
    [
        (0.9, "9p", "reason_riichi", ("riichi", "9p", "discard", "9p")),
        (0.3, "9p", "reason_silent", ("discard", "9p", "riichi", "9p")),
        (0.3, "E", "reason_wide", ("discard", "E", "riichi", "9p")),
    ],
)
def test_a_decision_of_ours_says_why_even_before_the_tile_of_a_riichi_is_chosen(
    riichi: float, discard: str, reason: str, options: tuple[str, str, str, str]
) -> None:
    scene = Scene("123m456p789s11z22z", dora="4z").draw("9p")
    legal = tuple(scene.legal())
    tile = next(each for each in legal if each.kind is ActionKind.DISCARD and mjai_text(each.tile) == discard)
    seen = Observation(scene.record, 0, legal, "hanchan")
    decision = decide(seen, Scripted({RIICHI: riichi, tile: 1.0}))
    made = logged(seen, decision)
    moment = Moment(scene.record, 0, legal, "hanchan", round=0, event=0, done=decision.action)
    notes = played_decision(moment, made, Notes()).notes
    params = notes[0].params
    found = tuple(params[key] for key in ("better", "better_tile", "worse", "worse_tile"))
    assert (notes[0].key, found) == (reason, options)
