"""The reasons of an error as sentences, as the page words them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from game.tiles import text_of_mjai
from replays.review.schema import Note, NoteKey

_WINDS: Final = ("East", "South", "West", "North")
_PLACES: Final = ("1st", "2nd", "3rd", "4th")
_SUITS: Final = {"m": "man", "p": "pin", "s": "sou"}
_HELD: Final = ("", "", "the pair of ", "the triplet of ")
_SENTENCES: Final[Mapping[NoteKey, str]] = {
    "reason_win": "this win pays {points} points",
    "reason_abort": "with {kinds} kinds of terminals and honours the hand is {hand}: a new deal is "
    "worth more",
    "reason_play_on": "the hand is worth playing: {hand}, with {kinds} kinds towards thirteen orphans",
    "reason_riichi": "riichi on {waits}, {tiles} left: a ron pays at least {points}, without riichi {silent}",
    "reason_silent": "a ron pays at least {silent} without riichi and {points} with it; without it the hand "
    "can still fold or improve",
    "reason_shanten": "after {better} the hand is {better_hand}, after {worse} {worse_hand}",
    "reason_wide": "after {better} {better_tiles} tiles bring the hand closer, after {worse} only "
    "{worse_tiles}",
    "reason_ukeire": "after {better} the hand {accepts} {better_tiles} tiles, after {worse} {worse_tiles}",
    "reason_improve": "after {better} {better_tiles} tiles would improve the shape, after {worse} "
    "{worse_tiles}",
    "reason_safety": "safer against {who}: {better} deals in {better_danger:.1%} of the time, {worse} "
    "{worse_danger:.1%}",
    "reason_place": "the place is at stake: dealing in to {who} for about {points} would mean {then} "
    "instead of {place}",
    "reason_yakuhai_call": "the pon of {better_tile} is a yaku by itself",
    "reason_kan": "the kan gives another draw and a new dora indicator",
    "reason_no_kan": "the kan would turn up a new dora indicator for everybody",
    "reason_no_closer": "the call brings the hand no closer: it stays {hand}",
    "reason_closed": "passing keeps the hand closed, so riichi stays possible",
    "reason_defence": "after the call only {tiles} tiles would be left to fold with",
    "reason_dora": "keeps {worse_tile}, {dora} dora",
    "reason_yakuhai": "keeps {held}{worse_tile}, a yakuhai; {left} left",
    "reason_tanyao": "closer to tanyao: {left} terminals or honours still to discard",
    "reason_flush": "keeps the tiles of a flush in {suit}",
    "reason_pairs": "keeps all {pairs} pairs, for chiitoitsu",
    "reason_later": "nobody threatens yet, so {better_tile}, the more dangerous tile later, goes first",
    "reason_links": "{worse_tile} connects with {worse_links} tiles of the hand, {better_tile} with "
    "{better_links}",
    "reason_policy": "both are alike in these figures; the policy chooses {better} {times} times as often",
    "cost_shanten": "the price: the hand is {better_hand} instead of {worse_hand}",
    "cost_ukeire": "the price: it accepts {better_tiles} tiles instead of {worse_tiles}",
}


def reasons_text(notes: Sequence[Note], dealer: int) -> str:
    """The reasons among the notes of a decision, "" if there are none.

    Args:
        notes: of the decision.
        dealer: of the round, absolute.
    """
    return "; ".join(
        _SENTENCES[note.key].format(**_words(note.params, dealer)) for note in notes if note.key in _SENTENCES
    )


def _words(params: Mapping[str, Any], dealer: int) -> dict[str, Any]:
    """The parameters of a note as its sentence uses them."""
    said = dict(params)
    for side in ("better", "worse"):
        tile = said[f"{side}_tile"] = text_of_mjai(params[f"{side}_tile"]) if params[f"{side}_tile"] else ""
        said[side] = _option(params[side], tile)
        said[f"{side}_hand"] = _hand(params.get(f"{side}_shanten", 0))
    said["hand"] = _hand(params.get("shanten", 0))
    said["accepts"] = "accepts" if params.get("shanten") else "waits for"
    said["held"] = _HELD[min(params.get("count", 0), 3)]
    if "waits" in params:
        said["waits"] = " ".join(map(text_of_mjai, params["waits"]))
        said["silent"] = params["silent"] or "0, for want of a yaku on every wait"
    if "player" in params:
        said["who"] = _WINDS[(params["player"] - dealer) % 4] + (" (riichi)" if params.get("riichi") else "")
    if "then" in params:
        said |= {"then": _PLACES[params["then"] - 1], "place": _PLACES[params["place"] - 1]}
    if "suit" in params:
        said["suit"] = _SUITS[params["suit"]]
    return said


def _option(kind: str, tile: str) -> str:
    if kind in ("discard", "riichi"):
        return tile if kind == "discard" else f"riichi {tile}"
    return "passing" if kind == "pass" else f"the {'kan' if kind.endswith('kan') else kind}"


def _hand(shanten: int) -> str:
    return "tenpai" if shanten == 0 else f"{shanten}-shanten"
