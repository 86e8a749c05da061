"""The table as text for a terminal: rivers, melds, scores, our hand and the latest decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from rich.cells import set_cell_size
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from bot.adaptation.status import AdaptationStatus
from bot.logs.redaction import clean_text, redact
from game.layout import PHASE_IDLE, PHASE_TURN, RIVER_CALLED, RIVER_RIICHI, RIVER_TSUMOGIRI
from game.melds import Meld, MeldKind
from game.state import hand_tiles, is_furiten, melds_of
from game.tiles import RED_FIVES, tile_text
from policies.flow.decisions import Decision, Way

WINDS: Final = ("East", "South", "West", "North")
TOP_OPTIONS: Final = 3

_RIVER_ROW: Final = 6
_COLUMN_WIDTH: Final = 19
_SUIT_STYLES: Final = ("yellow", "cyan", "green", "white")
_LEGEND: Final = "dim tsumogiri   ! riichi   ~ called   * dealer   > to move"


def round_name(round_index: int) -> str:
    """``East 1`` … ``North 4``."""
    return f"{WINDS[round_index // 4 % 4]} {round_index % 4 + 1}"


def render(
    record: np.void,
    player: int,
    names: Sequence[str],
    decision: Decision | None,
    adaptation: AdaptationStatus | None = None,
) -> RenderableType:
    """The table as one seat sees it.

    Args:
        record: the round.
        player: absolute number of the player at the seat; below 0 shows the first dealer's view, with all
            hands hidden.
        names: names of the players, by absolute number; untrusted text.
        decision: the latest one, if any.
        adaptation: progress of adapting to the round; None if it is not adapted to.
    """
    us = max(player, 0)
    columns = Table.grid(padding=(0, 1))
    order = [(us + seat) % 4 for seat in range(4)]
    for _ in order:
        columns.add_column(width=_COLUMN_WIDTH, no_wrap=True)
    columns.add_row(*(_head(record, p, names) for p in order))
    columns.add_row(*(_river(record, p) for p in order))
    columns.add_row(*(_melds(record, p) for p in order))
    parts: list[RenderableType] = [columns]
    if player >= 0:
        parts += [Text(), _hand(record, player), _decision(decision)]
        if adaptation is not None:
            parts.append(_adaptation(adaptation))
    parts.append(Text(_LEGEND, style="dim"))
    return Panel(Group(*parts), title=_title(record), title_align="left", expand=False)


def _title(record: np.void) -> Text:
    title = Text(f" {round_name(int(record['round_index']))}", style="bold")
    title.append(f"  honba {record['honba']}  sticks {record['riichi_sticks']}  dora indicator ")
    for tile in record["indicators"][: record["indicator_count"]]:
        title.append_text(_tile(int(tile))).append(" ")
    title.append(f" {record['wall_left']} left ")
    return title


def _head(record: np.void, player: int, names: Sequence[str]) -> Text:
    moving = record["phase"] != PHASE_IDLE and record["turn"] == player
    wind = WINDS[(player - int(record["dealer"])) % 4][0]
    name = set_cell_size(redact(clean_text(names[player])) or f"player {player}", _COLUMN_WIDTH - 4).rstrip()
    head = Text(f"{'>' if moving else ' '}{wind}{'*' if player == record['dealer'] else ' '}")
    head.append(f" {name}\n", style="bold")
    head.append(f"    {record['scores'][player]}")
    if record["riichi"][player]:
        head.append(" riichi", style="bold red")
    return head.append("\n")


def _river(record: np.void, player: int) -> Text:
    text = Text()
    for place in range(int(record["river_size"][player])):
        if place and place % _RIVER_ROW == 0:
            text.append("\n")
        marks = int(record["river_marks"][player, place])
        tile = _tile(int(record["river"][player, place]))
        if marks & RIVER_TSUMOGIRI:
            tile.stylize("dim")
        if marks & RIVER_RIICHI:
            tile.stylize("underline")
        sign = "!" if marks & RIVER_RIICHI else "~" if marks & RIVER_CALLED else " "
        text.append_text(tile).append(sign, style="bold red" if sign == "!" else "dim")
    return text


def _melds(record: np.void, player: int) -> Text:
    return Text("\n").join(_meld(meld) for meld in melds_of(record, player))


def _meld(meld: Meld) -> Text:
    text = Text().append(f"{meld.kind.name.lower()} ", style="dim")
    for tile in meld.tiles:
        shown = _tile(tile)
        if tile == meld.called:
            shown.stylize("underline")
        text.append_text(shown)
    arrow = {1: " >", 2: " ^", 3: " <"}.get(meld.from_seat, "")
    return text.append(arrow if meld.kind is not MeldKind.ANKAN else "", style="dim")


def _hand(record: np.void, player: int) -> Text:
    drawn = int(record["drawn"]) if record["phase"] == PHASE_TURN and record["turn"] == player else -1
    text = Text().append("hand  ", style="dim")
    for tile in hand_tiles(record, player):
        if tile != drawn:
            text.append_text(_tile(tile)).append(" ")
    if drawn >= 0:
        text.append("  ").append_text(_tile(drawn))
    waits = int(record["waits"][player])
    if waits:
        text.append("   waits ", style="dim")
        for kind in range(34):
            if waits >> kind & 1:
                text.append_text(_tile(4 * kind + 1)).append(" ")
        if is_furiten(record, player):
            text.append("furiten", style="red")
    return text


_WAYS: Final[dict[Way, str]] = {"adapted": "adapted", "search": "search", "both": "adapted, search"}


def _decision(decision: Decision | None) -> Text:
    if decision is None:
        return Text("no decision yet", style="dim")
    text = Text().append("did   ", style="dim")
    text.append(str(decision.action), style="bold")
    text.append(f"  ({decision.step}, {decision.source}, {decision.latency_ms:.1f} ms)", style="dim")
    if decision.fallback_reason:
        text.append(f"  {clean_text(redact(decision.fallback_reason))}", style="red")
    if (found := decision.improvement) is not None:
        text.append(f"\n  {_WAYS[found.way]}, {found.playouts:,} rounds played out; alone ", style="dim")
        text.append(str(found.base))
    text.append("\n  top ", style="dim")
    top = decision.options[:TOP_OPTIONS]
    text.append("   ".join(f"{option.action} {option.probability:.0%}" for option in top))
    return text


_UNITS: Final = {"points": ("points", 0), "global": ("rank points", 1), "uma": ("uma", 1)}


def _adaptation(status: AdaptationStatus) -> Text:
    text = Text(f"adapt {status.playouts:,} of {status.of:,} rounds played out", style="dim")
    if not status.playouts:
        return text
    unit, digits = _UNITS[status.worth]
    worth = f"{status.gain:+.{digits}f} ± {status.gain_error:.{digits}f} {unit} over other deals"
    if status.used:
        return text.append(f"\n  in use: {worth}", style="not dim")
    return text.append(
        f"\n  found and given up: {worth}" if status.gain_error else "\n  nothing found to learn"
    )


def _tile(tile136: int) -> Text:
    if tile136 < 0:
        return Text("?", style="dim")
    style = "bold red" if tile136 in RED_FIVES else _SUIT_STYLES[min(tile136 // 36, 3)]
    return Text(tile_text(tile136), style=style)
