"""`docs/features.md` from the table: ``python -m policies.features.document`` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from policies.features.efficiency import TYPICAL
from policies.features.table import SETS, Axis, FeatureSet, Group

PAGE: Final = Path(__file__).parents[2] / "docs" / "features.md"

_HEAD: Final = """\
# What the networks see

Written by `python -m policies.features.document` from `policies/features/table.py`; change that, not this.

A position is a stack of planes, each with one value for every tile kind: 1m–9m, 1p–9p, 1s–9s, E S W N, white,
green, red. Planes are uint8, 255 for 1; the network divides by 255. That is a quarter of the memory of
float32 and converts faster than it loads; a real between 0 and 1 is exact to 1/510. Seats are relative: 0 me,
1 next, 2 across, 3 before me. A turn is the number of discards of all players so far over 4, from 1. "At
least 1–4" is one plane for each number.

Only what the seat may know is read, whatever the record holds; the oracle set alone looks further.

## The look-ahead's positions

Every plane of LA1–LA3 has 34 positions. With 3n+2 tiles, position t is the hand after discarding t, a red
five last of its kind. With 3n+1 tiles (somebody else's discard, or a kan's replacement to come), it is the
hand after drawing t, if a copy is unseen, and discarding best: where t lowers the shanten, the discard that
accepts the most copies, then the most kinds; where it does not, t itself. Of equally good discards the
dearest counts.

LA3's chances are those of a chain of levels, one for each tile still missing. The seat sees U tiles unseen;
its draw number i, from 0, goes a level down with probability accepted/(U − i). The first level's copies are
the position's own. One away from ready and at the least shanten, each kind accepted leads to its own best
wait, seen with one copy of it gone. All other levels below take typical numbers, {typical} copies from ready
upwards, as observed in real games. Shape changes at one level, calls, furiten and opponents are left out. The
value in √(P·value/32,000) is that of a self-drawn win of 30 fu with what the hand and melds show at the
position: riichi (if still possible) and tsumo of a closed hand, value triplets, all simples, one suit, dora,
red fives; 0 as long as that holds no yaku. The root spreads small values over the 255 steps.

## Where this differs from the reconstruction of Suphx's planes

- C is three groups, LA3 eight: each has one rule for renamed tiles.
- F rounds each term, so that sums are the same on every machine.
- G: what was passed "since his riichi" starts when the riichi is accepted and holds his own discards; suji
  counts both.
- I2 of the lite set is shifted by ½, for planes hold no negative numbers.
- LA2 is stored as 1 + log10(p)/6; LA3's values under a root; both for the sake of 255 steps.
- LA3 with 3n+1 tiles takes draws that do not help as thrown again: the position is the hand as it stands.
- LA3's one-draw look counts only where the shanten is least, and ¼ ½ ¾ 1 are shares of the accepted copies.
- N: "waits" are those before the drawn tile; shanten of a complete hand counts as 0.
- Q needs to know the length of the game (`last_round`); temporary furiten is in N like any other.
- `lite-287/1` is added, so that small networks can weigh calls: the lite set, the candidate, LA3 after the
  call.
- Nothing in the lite set's sums was wrong; they come to 239.

## Renaming tiles

The column "tiles" says how a group's planes move when suits are exchanged or 1 and 9 mirrored: *kinds* along
their 34 values, *suits* plane by plane, *indicators* along theirs so that they still show the mirrored dora.
Encoding a state with exchanged suits gives the exchanged planes in every group. Encoding a mirrored state
gives the mirrored planes where "mirrors" says yes; elsewhere the mirrored indicator shows another dora.
`permute_planes` is right for all.
"""

_AXES: Final = {Axis.TILES: "kinds", Axis.SUITS: "suits", Axis.INDICATORS: "indicators"}


def page() -> str:
    """The whole document."""
    typical = ", ".join(f"{copies:.0f}" for copies in TYPICAL)
    return "\n".join([_HEAD.format(typical=typical), *(_section(each) for each in SETS.values())])


def _section(chosen: FeatureSet) -> str:
    lines = [
        f"## `{chosen.name}`",
        "",
        f"For {chosen.purpose}: {chosen.planes} planes.",
        "",
        "| group | planes | index | values | tiles | mirrors | content |",
        "| --- | ---: | --- | --- | --- | --- | --- |",
        *(_row(group, chosen.at(group.id)) for group in chosen.groups),
        "",
    ]
    return "\n".join(lines)


def _row(group: Group, at: int) -> str:
    index = f"{at}" if group.planes == 1 else f"{at}–{at + group.planes - 1}"
    values = "real" if group.real else "0, 1"
    mirrors = "yes" if group.mirrors else "no"
    cells = (group.id, group.planes, index, values, _AXES[group.axis], mirrors, group.content)
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
