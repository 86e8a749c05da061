"""What the planes of each group hold, shown on one position; digests compare all others."""

from __future__ import annotations

import re
import tomllib
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from game.actions import ActionKind
from game.tiles import KINDS, kind_text
from policies.features.encode import encode
from policies.features.table import CRITIC, LITE, ONE, ORACLE, SETS, SUPHX, SUPHX_CALL
from tests.scene import Scene

COLUMNS = {LITE: ("1z", "5z"), SUPHX: ("1z", "5z"), SUPHX_CALL: ("1z", "9s")}
"""The discards for which the groups of look-ahead are shown."""
SHOWN = tomllib.loads(Path(__file__).with_name("shown.toml").read_text("utf-8"))
"""The planes of each group that are not empty: numbers, tiles, and values other than 1."""


def south_four() -> Scene:
    """Our turn: the left player deals and is in riichi, the one opposite has added a tile to a pon."""
    scene = Scene(
        "234m406p788s1122z", dora="1p", round_index=7, honba=1, sticks=2, scores=(31000, 25000, 24000, 18000)
    )
    scene.draw().riichi("5p").own("9s", "8s").turn("9m").pon(2).discard("4s").turn("6p").own("3p", "3p")
    scene.turn("2p").draw().kakan("9m").draw().discard("7z").dora("3m").draw().discard("8p")
    return scene.draw("5z")


def a_chi() -> Scene:
    """The left player has discarded a tile that completes our run."""
    return Scene("40p78999s111233z").own("5z", "5z").turn("5z").turn("6z").turn("6p")


def all_known() -> Scene:
    """Our turn, with all hands on the table."""
    others = {1: "340m23456p234s66z", 2: "1122334455667z", 3: "147m258p369s1245z"}
    return Scene("678m99m99p99s3377z", others=others).draw("5s")


def planes_of(name: str, group: str) -> NDArray[np.uint8]:
    """The planes of a group on the position that shows it."""
    scene = south_four()
    calls = walls = None
    if name in (ORACLE, CRITIC):
        scene, walls = all_known(), np.arange(136, dtype=np.int16)[None]
    elif name == SUPHX_CALL:
        scene = a_chi()
        chi = next(a for a in scene.legal() if a.kind is ActionKind.CHI)
        calls = np.array([[chi.kind, chi.tile, *chi.consumed, -1, -1]], np.int16)
    found = encode(np.array([scene.record]), 0, name, calls=calls, walls=walls)
    return found[0, SETS[name].planes_of([group])]


def shown(planes: NDArray[np.uint8], *tiles: str) -> str:
    """The planes that are not empty by number, with their tiles, or some of them, and values other than 1."""
    parts = []
    for text, run in groupby(enumerate(planes), lambda numbered: plane_text(numbered[1], tiles)):
        numbers = [number for number, _ in run]
        if text:
            parts.append(f"{'-'.join(map(str, dict.fromkeys((numbers[0], numbers[-1]))))} {text}")
    return ", ".join(parts)


def plane_text(plane: NDArray[np.uint8], tiles: tuple[str, ...]) -> str:
    parts = []
    for value in sorted(set(plane.tolist()) - {0}, reverse=True):
        texts = [kind_text(kind) for kind in np.flatnonzero(plane == value).tolist()]
        kept = "".join(each for each in texts if not tiles or each in tiles)
        held = "all" if len(texts) == KINDS else re.sub(r"([mpsz])(?=\d\1)", "", kept)
        if held:
            parts.append(held if value == ONE else f"{held}={value / ONE:.2f}")
    return " ".join(parts)


@pytest.mark.parametrize("name", SHOWN)
def test_a_group_holds_what_the_table_says(name: str) -> None:
    found = {
        group: shown(planes_of(name, group), *(COLUMNS[name] if group.startswith("LA") else ()))
        for group in SHOWN[name]
    }
    assert found == SHOWN[name]
