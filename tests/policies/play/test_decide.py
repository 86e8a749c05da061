from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

import policies.flow.flow
from game.actions import NINE_TERMINALS, PASS, RIICHI, Action, ActionKind
from policies.flow.decisions import Decision
from policies.flow.slots import Policy, Slot
from policies.play.decide import decide
from tests.policies.fakes import Broken, Scripted
from tests.scene import Scene


@pytest.fixture(autouse=True)
def _logs() -> Iterator[None]:
    """A traceback drawn for a terminal takes seconds."""
    with capture_logs():
        yield


def choose(scene: Scene, policy: Policy, player: int = 0) -> Decision:
    return decide(scene.observe(player), policy)


def only(scene: Scene, kind: ActionKind, player: int = 0) -> Action:
    (action,) = (a for a in scene.legal(player) if a.kind is kind)
    return action


def discard(scene: Scene, text: str) -> Action:
    place = scene.faces(ActionKind.DISCARD).index(text)
    return [a for a in scene.legal() if a.kind is ActionKind.DISCARD][place]


# --- draw: win, kan, riichi, discard ----------------------------------------------------------------------


def ready() -> Scene:
    """Tenpai with a closed kan, riichi and a discard to choose from."""
    return Scene("1111m234567p67s5z").draw("8s")


@pytest.mark.parametrize(
    ("kan", "riichi", "step", "asked"),
    [
        (0.0, 0.0, "discard", [Slot.KAN, Slot.RIICHI, Slot.DISCARD]),
        (0.5, 0.5, "discard", [Slot.KAN, Slot.RIICHI, Slot.DISCARD]),
        (0.6, 0.9, "kan", [Slot.KAN]),
        (0.0, 0.51, "riichi", [Slot.KAN, Slot.RIICHI]),  # its discard is another decision
    ],
)
def test_a_draw_asks_kan_then_riichi_then_discard(
    kan: float, riichi: float, step: str, asked: list[Slot]
) -> None:
    scene = ready()
    yes = {only(scene, ActionKind.ANKAN): kan, RIICHI: riichi}
    policy = Scripted(yes)
    decision = choose(scene, policy)
    assert (decision.step, decision.source, policy.asked) == (step, "model", asked)
    assert step == "discard" or decision.probability == yes[decision.action]


def test_the_most_probable_discard_is_chosen() -> None:
    scene = ready()
    wanted = discard(scene, "5z")
    decision = choose(scene, Scripted({wanted: 1.0}))
    assert decision.action == wanted
    assert decision.options[0].action == wanted
    assert sum(o.probability for o in decision.options if o.action.kind is ActionKind.DISCARD) == (
        pytest.approx(1.0)
    )
    assert {o.action for o in decision.options} == set(scene.legal())


def test_a_win_asks_no_model() -> None:
    scene, policy = Scene("123456789m11p67s").draw("8s"), Scripted()
    decision = choose(scene, policy)
    assert decision.action.kind is ActionKind.TSUMO
    assert (decision.step, decision.source, decision.shanten) == ("win", "rule", -1)
    assert not policy.asked


def test_a_win_that_would_end_the_game_in_fourth_place_is_let_go() -> None:
    scene = Scene("234678m23488p56s", dora="9s", round_index=7, scores=(5000, 30000, 30000, 35000)).turn("4s")
    decision = choose(scene, Scripted())
    assert decision.action == PASS


def test_one_legal_action_is_forced() -> None:
    scene, policy = ready(), Scripted()
    action = discard(scene, "5z")
    decision = decide(replace(scene.observe(), legal=(action,)), policy)
    assert (decision.action, decision.step, decision.source) == (action, "forced", "rule")
    assert not policy.asked


@pytest.mark.parametrize(
    ("hand", "draw", "round_index", "behind", "aborts"),
    [
        ("129m159p147s1234z", "4p", 0, 0, True),
        ("1239m19p1238s123z", "9s", 0, 0, False),  # three tiles from tenpai
        ("158m159p147s1234z", "9s", 7, 16_000, True),  # nine kinds
        ("159m159p147s1234z", "5z", 7, 16_000, False),  # ten, and far behind at the end
        ("159m159p147s1234z", "5z", 7, 15_900, True),
        ("159m159p147s1234z", "5z", 6, 16_000, False),
        ("159m159p147s1234z", "5z", 5, 16_000, True),
        ("159m19p147s11234z", "5z", 0, 0, True),  # ten and a pair
        ("159m159p149s1234z", "5z", 0, 0, False),  # eleven
    ],
)
def test_nine_terminals_are_a_rule(hand: str, draw: str, round_index: int, behind: int, aborts: bool) -> None:
    scene = Scene(hand, round_index=round_index, scores=(25_000 - behind, 25_000, 25_000, 25_000))
    for _ in range(-round_index % 4):
        scene.turn("2s")
    decision = choose(scene.draw(draw), Scripted())
    assert (decision.action == NINE_TERMINALS) == aborts
    assert (decision.step, decision.source) == (
        ("nine_terminals", "rule") if aborts else ("discard", "model")
    )


# --- another's discard: win, then the most confident of chi, pon and kan -----------------------------------


def claim() -> Scene:
    """Kamicha discards a 3m that we can chi, pon and kan."""
    hand = "33345m678p2256s1z"
    return Scene(hand, round_index=3).turn("3m")


def test_a_claim_takes_the_most_confident_yes() -> None:
    scene = claim()
    pon, kan = only(scene, ActionKind.PON), only(scene, ActionKind.DAIMINKAN)
    chi = next(a for a in scene.legal() if a.kind is ActionKind.CHI)
    policy = Scripted({pon: 0.7, kan: 0.6, chi: 0.8})
    decision = choose(scene, policy)
    assert decision.action == chi
    assert decision.step == "call"
    assert sorted(policy.asked) == sorted([Slot.CHI, Slot.PON, Slot.KAN])
    assert choose(scene, Scripted({pon: 0.7, kan: 0.6})).action == pon


def test_a_claim_without_a_yes_passes() -> None:
    scene = claim()
    decision = choose(scene, Scripted({only(scene, ActionKind.PON): 0.4}))
    assert decision.action == PASS
    assert decision.probability == pytest.approx(0.6)


# --- faults 11 and 12 (docs/faults.md) ---------------------------------------------------------------------


def _raise(_: int) -> Sequence[Sequence[float]]:
    raise RuntimeError("out of\nmemory")


FAULTS: dict[str, tuple[Callable[[int], Sequence[Sequence[float]]], str]] = {
    "raises": (_raise, "RuntimeError: out of memory"),
    "nan": (lambda n: [[math.nan] * n], "not finite"),
    "infinite": (lambda n: [[math.inf] * n], "not finite"),
    "negative": (lambda n: [[-0.5] * n], "outside 0-1"),
    "above one": (lambda n: [[3.0] * n], "outside 0-1"),
    "no sum": (lambda n: [[0.0] * n], "add up to 0.000"),
    "chooses outside": (lambda n: [[1.0 / (n + 1)] * (n + 1)], "numbers for"),
    "empty row": (lambda _: [[]], "0 numbers for"),
    "no row": (lambda _: [], "0 answers"),
    "text": (lambda n: [["a"] * n], "expected a row of numbers"),  # type: ignore[list-item]
    "nothing": (lambda _: None, "TypeError"),  # type: ignore[dict-item, return-value]
}


@pytest.mark.parametrize("name", FAULTS)
def test_on_a_claim_and_the_heuristic_broken_too_we_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, reason = FAULTS[name]
    monkeypatch.setattr(policies.play.decide, "HeuristicPolicy", lambda: Broken(_raise))
    decision = choose(claim(), Broken(broken))
    if name == "no sum":  # the answers to a claim need not add up to 1
        assert (decision.action, decision.source) == (PASS, "model")
        return
    assert decision.action == PASS
    assert (decision.source, decision.step) == ("fallback", "forced")
    assert reason in decision.fallback_reason


def test_with_all_broken_the_drawn_tile_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies.play.decide, "HeuristicPolicy", lambda: Broken(lambda n: [[math.nan] * n]))
    scene = Scene("123456789m139p5z").draw("9s")
    decision = choose(scene, Broken(_raise))
    assert decision.action == discard(scene, "9s")
    assert decision.fallback_reason == (
        "RuntimeError: out of memory; then heuristic: discard slot: a probability is not finite"
    )


def test_a_broken_win_rule_still_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> bool:
        raise ValueError("no such score")

    monkeypatch.setattr(policies.flow.flow, "should_win", broken)
    scene = Scene("123456789m11p67s").draw("8s")
    decision = choose(scene, Scripted())
    assert decision.action.kind is ActionKind.TSUMO
    assert decision.source == "fallback"


def test_no_legal_action_is_answered_all_the_same() -> None:
    own = Scene("123456789m139p5z").draw("9s")
    drawn = int(own.record["drawn"])
    for scene, expected in ((own, Action(ActionKind.DISCARD, drawn)), (claim(), PASS)):
        decision = decide(replace(scene.observe(), legal=()), Scripted())
        assert decision.action == expected
        assert decision.fallback_reason.startswith("no legal action")
