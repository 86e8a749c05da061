"""What the planes of each group hold, shown on one position; digests compare all others."""

from __future__ import annotations

import re
from itertools import groupby

import numpy as np
import pytest
from numpy.typing import NDArray

from game.actions import ActionKind
from game.tiles import KINDS, kind_text
from policies.features.encode import encode
from policies.features.table import CRITIC, HOSEI, LITE, ONE, ORACLE, SETS, SUPHX, SUPHX_CALL
from tests.scene import Scene

COLUMNS = {LITE: ("1z", "5z"), SUPHX: ("1z", "5z"), SUPHX_CALL: ("1z", "9s")}
"""The discards for which the groups of look-ahead are shown."""
SHOWN = {
    LITE: {
        "A1": "0 234m456p789s125z, 1 12z",
        "A2": "1 all",
        "A3": "0 5z",
        "B": "12-16 9m",
        "C1": "0 3m1p",
        "C2": "0 4m2p",
        "E": "0 3p8s, 4 8s, 5 3p, 9 9m2p, 13 9m2p, 16 9m, 18 4s7z, 22 4s7z, 27 568p, 31 5p, 32 68p, 33 5p",
        "F": (
            "0 3p 8s=0.82, 1 8s=0.82, 3-4 2p 9m=0.82, 6-7 7z 4s=0.82, 9 8p 6p=0.82 5p=0.67, 10 5p=0.67, "
            "11 8p 6p=0.82 5p=0.67"
        ),
        "D": "0 3p, 1 8s, 4 2p, 5 9m, 8 7z, 9 4s, 12 8p, 13 6p, 14 5p",
        "G": (
            "0 9m2p, 2 9m8p7z, 4 6m5p, 6 4s7z, 8 8p, 9 17s, 12 568p, 13 9m23568p48s7z, 15 23589p17s, "
            "16 6m6p5s, 17 28p"
        ),
        "H": (
            "0-1 12345678m123456789p123456789s1234567z, 2 1245678m1234789p12345679s34567z, "
            "3 15678m79p12356s346z"
        ),
        "I1": "0 all=0.62, 1 all=0.50, 2 all=0.48, 3 all=0.34, 4-5 all, 6 all=0.96, 7 all=0.68",
        "I2": "0 all=0.62, 1 all=0.64, 2 all=0.78",
        "I3": "0 all",
        "J": "1 all, 6 all, 8 all, 14 all, 16 all, 24 all, 27-28 2z",
        "K": "0 all=0.86, 6 all",
        "L": "9 all, 11 all=0.05",
        "N": "0 all, 6 12z, 8 12z, 9 234m456p789s125z, 11 5z",
        "LA3a": "0 5z, 1 1z",
        "LA3b": "0-1 15z",
        "LA3c": "0-1 15z",
        "LA3d": "",
        "LA3e": "0 5z 1z=0.18, 1 5z 1z=0.34, 2 5z 1z=0.47, 3 5z 1z=0.66",
        "LA3f": "0 5z=0.11 1z=0.01, 1 5z=0.21 1z=0.04, 2 5z=0.30 1z=0.09, 3 5z=0.45 1z=0.22",
        "LA3g": "0 5z=0.16 1z=0.05, 1 5z=0.23 1z=0.10, 2 5z=0.27 1z=0.15, 3 5z=0.33 1z=0.23",
        "LA3h": "0 15z=0.14, 1 5z=0.50 1z=0.33, 2 15z=0.13, 3 5z=0.17 1z=0.14, 4 5z=0.50 1z=0.33",
    },
    SUPHX: {
        "B": "48-52 9m",
        "C3": "1 all",
        "D": "0-1 8s, 2 3p, 60-61 9m, 62-63 2p, 120-121 4s, 122-123 7z, 180-181 5p, 182 6p, 184 8p",
        "I1": "15 all, 36 all, 60 all, 80 all",
        "I2": "3 all, 19 all, 37 all",
        "K": "15 all",
        "L": "15-16 all",
        "M": "0-1 all, 3 all",
        "N": "0 all, 11 all, 14 12z, 16 12z, 17 234m456p789s125z, 19 5z",
        "O": "12 all",
        "P": "0-1 all",
        "Q": "0 all",
        "LA1": "0-6 5z, 12-18 15z, 24-32 15z",
        "LA2": (
            "0-4 5z=0.96, 5-6 5z=0.91, 12-16 5z 1z=0.90, 17 5z 1z=0.89, 18 5z=0.97 1z=0.89, 24-30 15z, "
            "31-32 5z=0.86 1z=0.82"
        ),
    },
    SUPHX_CALL: {
        "R1": "0 456p",
        "R2": "0 6p",
        "R3": "0 5p",
        "R4": "2 all",
        "R5": "0 all",
        "LA1'": "12-17 9s1z, 24-32 9s1z, 33 9s",
        "LA2'": (
            "12-16 9s=0.94 1z=0.84, 17 9s=0.91 1z=0.84, 24-28 9s 1z=0.86, 29 9s 1z=0.85, "
            "30-31 9s=0.87 1z=0.76, 32 9s=0.77 1z=0.76, 33 9s=0.65"
        ),
        "LA3a'": "1 9s1z",
        "LA3b'": "0-1 9s1z, 2-3 9s",
        "LA3c'": "0-1 9s1z, 2 9s",
        "LA3d'": "",
        "LA3e'": "0 9s=0.34 1z=0.17, 1 9s=0.56 1z=0.31, 2 9s=0.72 1z=0.44, 3 9s=0.90 1z=0.65",
        "LA3f'": "0 9s=0.02 1z=0.01, 1 9s=0.07 1z=0.04, 2 9s=0.14 1z=0.07, 3 9s=0.33 1z=0.21",
        "LA3g'": "0 9s=0.05, 1 9s=0.11, 2 9s=0.16, 3 9s=0.25",
        "LA3h'": "0 9s1z=0.10, 1 9s1z=0.33, 2 9s=0.17 1z=0.14",
    },
    ORACLE: {
        "hand1": "0 345m23456p234s6z, 1 6z",
        "red1": "0 all",
        "waits1": "0 147p",
        "shanten1": "0 all",
        "hand2": "0 1234567z, 1 123456z",
        "red2": "",
        "waits2": "0 7z",
        "shanten2": "0 all",
        "hand3": "0 147m258p369s1245z",
        "red3": "",
        "waits3": "",
        "shanten3": "3 all",
        "wall": "0-2 5p, 3-6 6p, 7-10 7p, 11-14 8p, 15-18 9p, 19 1s",
        "left": "0-1 56789p123456789s1234z, 2 56789p123456789s123z, 3 6789p123456789s123z",
        "ura": "0 7z",
    },
    CRITIC: {
        "rest": (
            "0 123456789m123456789p12345678s12457z, 1 123456789m123456789p12345678s, "
            "2 123568m134678p1245678s, 3 2m17p178s"
        ),
    },
    HOSEI: {
        "H0": "0 234m456p789s125z, 1 12z",
        "D0": "0 3p8s, 4 9m2p, 8 4s7z, 12 568p",
        "M0": "8-11 9m",
        "C0": "0 3m1p",
        "R0": "8-11 all",
        "W": "0-3 2z",
        "S": "0-3 2z",
        "H1": "0 234m3456p789s12z, 1 12z",
        "D1": "0 8s, 4 9m, 8 4s, 12 56p",
        "M1": "8-11 9m",
        "C1": "0 3m1p",
        "R1": "8-11 all",
        "H2": "0 234m456p789s12z, 1 8s12z",
    },
}
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
    planes: NDArray[np.uint8] = found[0, SETS[name].planes_of([group])]
    return planes


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
