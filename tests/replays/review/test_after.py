"""The hand after an action, where the result is known."""

from __future__ import annotations

from game.observation import Observation
from game.tiles import mjai_text
from replays.review.judging import After
from replays.review.notes import kinds_of
from tests.scene import Scene


def shapes(scene: Scene) -> dict[str, tuple[int, list[str], int, str] | None]:
    """By the kind of action and its tile: shanten, ukeire, copies and the best discard."""
    legal = tuple(scene.legal())
    after = After(Observation(scene.record, 0, legal, "hanchan"))
    found = {}
    for action in legal:
        tile = mjai_text(action.tile) if action.tile >= 0 else ""
        shape = after.of(action)
        told = (shape.shanten, kinds_of(shape.mask), shape.copies, shape.discard) if shape else None
        found[f"{action.kind.name.lower()} {tile}".strip()] = told
    return found


def test_a_chi_counts_with_the_best_discard_after_it() -> None:
    found = shapes(Scene("12m456p78p11z555z9s", round_index=3).turn("3m"))
    assert found == {
        "chi 3m": (0, ["3p", "6p", "9p"], 11, "9s"),
        "pass": (1, ["3m", "3p", "6p", "9p"], 14, ""),
    }


def test_the_discard_after_a_chi_is_one_that_kuikae_allows() -> None:
    # without the 4m, which kuikae forbids, the hand would still be tenpai
    found = shapes(Scene("234m456p78p11z555z", round_index=3).turn("4m"))
    assert found["pass"] == (0, ["3p", "6p", "9p"], 11, "")
    called = found["chi 4m"]
    assert called[0] == 1
    assert called[3] != "4m"


def test_pon_and_open_kan() -> None:
    found = shapes(Scene("123m456p79s11z555z", round_index=3).turn("5z"))
    assert found["pass"] == (0, ["8s"], 4, "")
    assert found["pon P"] == (1, ["5s", "6s", "7s", "8s", "9s", "E"], 19, "9s")
    assert found["daiminkan P"] == (0, ["8s"], 4, "")


def test_a_win_leaves_no_hand() -> None:
    found = shapes(Scene("123m456p78s11222z", round_index=3).turn("9s"))
    assert found["ron 9s"] is None
    assert found["pass"] == (0, ["6s", "9s"], 6, "")


def test_tiles_of_which_no_copy_is_left_are_not_accepted() -> None:
    scene = Scene("123m456p78s11122z", dora="9s").own("9p", "9p").turn("9s").turn("9s").turn("9s").draw("8p")
    assert shapes(scene)["discard 8p"] == (0, ["6s"], 4, "")
    assert shapes(scene)["riichi"] == (0, ["6s"], 4, "8p")
