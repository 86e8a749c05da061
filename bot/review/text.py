"""Reviews as text tables; the reasons of errors as sentences, worded as on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, Final

from bot.logs.redaction import clean_text
from bot.tenhou.game_types import describe
from bot.terminal.table import WINDS
from game.ranking import rank_name
from game.tiles import text_of_mjai
from replays.review.moments import round_text
from replays.review.schema import (
    Caveat,
    Judged,
    Note,
    NoteKey,
    Rates,
    Review,
    ReviewAction,
    ReviewDecision,
    ReviewGame,
    ReviewIndex,
)

_WORST: Final = 5
_STEP_WIDTH: Final = 14


def review_text(review: Review, paths: Sequence[Path]) -> str:
    """One game: its figures, the worst decisions, and the paths of the files."""
    summary, name = review.summary, _name(review.game, review.player)
    lines = [_game_text(review.game), *(f"  note: {caveat_text(each)}" for each in review.game.caveats)]
    lines.append(f"  {name} by {review.policy.name}: {_figures_text(summary)}")
    lines += [f"  {_name(review.game, each.player)}: {_figures_text(each.summary)}" for each in review.seats]
    lines.append(f"  {'step':<{_STEP_WIDTH}} decisions  agreement  bad moves  rating")
    lines += [
        f"  {each.step:<{_STEP_WIDTH}} {each.decisions:>9}  {percent(each.agreement):>9}"
        f"  {each.bad_moves:>9}  {_number(each.rating):>6}"
        for each in summary.steps
    ]
    lines.append(f"  {'round':<{_STEP_WIDTH}} decisions  bad moves  rating   price")
    for figures in summary.rounds:
        place = review.rounds[figures.round]
        lines.append(
            f"  {round_text(place.round_index, place.honba):<{_STEP_WIDTH}} {figures.decisions:>9}"
            f"  {figures.bad_moves:>9}  {_number(figures.rating):>6}  {_points(figures.price):>6}"
        )
    lines.append(f"  {_rates_text(summary.rates)}")
    other = summary.comparison
    if other is not None and other.player is None:
        alike = percent(other.of_policies)
        lines.append(
            f"  {other.name}: agreement {percent(other.agreement)}, rating {_number(other.rating)}; "
            f"both policies agree {alike}"
        )
    elif other is not None and other.figures is not None:
        beside = clean_text(other.name) or f"seat {other.player}"
        lines.append(f"  {beside}: {_figures_text(other.figures)}")
    if summary.worst:
        lines.append(f"  worst decisions{f' of {name}' if review.seats else ''}:")
    for number in summary.worst[:_WORST]:
        decision = review.decisions[number]
        lines.append(f"    {_decision_text(review, decision)}")
        lines.append(f"      {reasons_text(decision.notes, review.rounds[decision.round].dealer)}")
        if decision.price is not None:
            points, error = _points(decision.price.points), _points(decision.price.error)
            lines.append(f"      errors like this cost {points} points on average, ± {error}")
        if review.other is not None:
            lines.append(f"      {review.other.name}: {_other_text(review.decisions[number])}")
    lines += [f"  {path}" for path in paths]
    return "\n".join(lines) + "\n"


def index_text(index: ReviewIndex, paths: Sequence[Path]) -> str:
    """Many games: one line each, and overall figures."""
    lines = []
    for entry in index.games:
        when = entry.game.date or ""
        for each in (entry, *entry.seats):
            place = "-" if entry.game.places is None else str(entry.game.places[each.player])
            lines.append(f"{when:<20}  {place}  {_figures_text(each)}  {_name(entry.game, each.player)}")
            when = ""
        lines += [f"  note: {caveat_text(each)}" for each in entry.game.caveats]
    total = index.total
    average = "" if total.average_place is None else f", average place {fixed(total.average_place, 2)}"
    lines.append(f"{_counted(total.games, 'game')}{average}: {_figures_text(total)}")
    if total.players > 1:
        lines.append(
            f"  by {total.players} different players, combined; use --player NAME to review one of them"
        )
    lines.append(f"  {_rates_text(total.rates)}")
    lines += [
        f"  {rank_name(each.rank)}, {_counted(each.games, 'game')}: {_figures_text(each)}"
        for each in index.ranks
    ]
    lines += [f"  {path}" for path in paths]
    return "\n".join(lines) + "\n"


def caveat_text(caveat: Caveat) -> str:
    """A caveat as a sentence."""
    p = caveat.params
    match caveat.key:
        case "cut":
            return "the record stops before the end of the game"
        case "part":
            return (
                f"the record begins with {round_text(p.round_index, p.honba)}, not at the start of the game"
            )
        case "rules_unsaid":
            return "the record does not state its rules; the review uses Tenhou's standard rules"
        case "lobby":
            where = f"the private lobby {p.lobby}" if p.lobby else "a private lobby"
            return f"played in {where}, whose rules may differ; the review uses Tenhou's standard rules"
        case "start_scores":
            scores = " ".join(map(str, p.scores or ()))
            return f"the game began with {scores} points; apart from that it is reviewed like any other"
        case "values":
            return (
                "some wins were paid by other rules than Tenhou's, such as kiriage mangan or double yakuman; "
                "the review uses Tenhou's rules"
            )
        case "results":
            return "the results use a different uma or oka from Tenhou's today; the review ignores this"
        case "forbidden":
            return (
                f"something that the rules forbid happened in {round_text(p.round_index, p.honba)}: {p.rule}"
            )


def _name(game: ReviewGame, player: int) -> str:
    return clean_text(game.names[player]) or f"seat {player}"


def _game_text(game: ReviewGame) -> str:
    names = ", ".join(_name(game, player) for player in range(4))
    places = "" if game.places is None else f", places {' '.join(map(str, game.places))}"
    return f"{' '.join(filter(None, (describe(game.type), game.date, clean_text(game.id))))}: {names}{places}"


def _figures_text(figures: Judged) -> str:
    return (
        f"{_counted(figures.decisions, 'decision')}, agreement {percent(figures.agreement)}, bad moves "
        f"{percent(figures.bad_move_rate)}, rating {_number(figures.rating)}"
        + ("" if figures.price is None else f", price {_points(figures.price)}")
    )


def _rates_text(rates: Rates) -> str:
    return (
        f"{_counted(rates.rounds, 'round')}: win {percent(rates.win)}, deal-in {percent(rates.deal_in)}, "
        f"riichi {percent(rates.riichi)}, call {percent(rates.call)}"
    )


def _decision_text(review: Review, decision: ReviewDecision) -> str:
    place = review.rounds[decision.round]
    where = round_text(place.round_index, place.honba)
    return (
        f"{where} turn {decision.turn}: {option_text(decision, decision.done)} rather than "
        f"{option_text(decision, decision.preferred)}: {decision.category}, ratio {decision.ratio:.3f}"
    )


def _other_text(decision: ReviewDecision) -> str:
    """The second policy's probabilities of its own choice, the player's and the policy's."""
    chosen = (("prefers", decision.other), ("policy", decision.preferred), ("played", decision.done))
    chances = {each.action: each.other for each in decision.options}
    told: dict[ReviewAction, str] = {}
    for name, action in chosen:
        if action is not None:
            told.setdefault(action, f"{name} {option_text(decision, action)} {percent(chances[action])}")
    return ", ".join(told.values())


def action_text(action: ReviewAction) -> str:
    """An action in words, its tiles as players write them."""
    tiles = " ".join(map(text_of_mjai, (*([action.tile] if action.tile else []), *action.consumed)))
    return f"{action.kind.replace('_', ' ')} {tiles}".strip()


def option_text(decision: ReviewDecision, action: ReviewAction) -> str:
    """An option; a discard says where it could be made with riichi."""
    declared = {option.action.tile for option in decision.options if option.action.kind == "riichi"}
    silent = action.kind == "discard" and action.tile in declared
    return f"{action_text(action)} without riichi" if silent else action_text(action)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def percent(share: float | None) -> str:
    """A share in percent, "-" for none."""
    return "-" if share is None else f"{fixed(100 * share, 1)} %"


def _number(value: float | None) -> str:
    return "-" if value is None else fixed(value, 1)


def _points(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def fixed(value: float, digits: int) -> str:
    """A number as the page shows it: rounded from the digits in the JSON, halves away from zero."""
    return str(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


# --- reasons ----------------------------------------------------------------------------------------------

_PLACES: Final = ("1st", "2nd", "3rd", "4th")
_SUITS: Final = {"m": "man", "p": "pin", "s": "sou"}
_HELD: Final = ("", "", "the pair of ", "the triplet of ")
_SENTENCES: Final[Mapping[NoteKey, str]] = {
    "reason_win": "this win pays {points} points",
    "reason_abort": "with {kinds} kinds of terminals and honours the hand is {hand}: a new deal is "
    "worth more",
    "reason_play_on": "the hand is worth playing: {hand}, with {kinds} kinds towards thirteen orphans",
    "reason_riichi": "riichi on {waits}, {tiles} left: a ron pays at least {points}, without riichi {silent}",
    "reason_silent": "a ron pays {silent} without riichi and at least {points} with it; without it the hand "
    "can still fold or improve",
    "reason_shanten": "after {better} the hand is {better_hand}, after {worse} {worse_hand}",
    "reason_wide": "after {better} the hand comes closer with {counted}, after {worse} with only "
    "{worse_tiles}",
    "reason_ukeire": "after {better} the hand {accepts} {counted}, after {worse} {worse_tiles}",
    "reason_improve": "after {better} {counted} would improve the shape, after {worse} {worse_tiles}",
    "reason_safety": "safer against {who}: {better} deals in {better_danger:.1%} of the time, {worse} "
    "{worse_danger:.1%}",
    "reason_place": "the place is at stake: dealing in to {who} for about {points} would mean {then} "
    "instead of {place}",
    "reason_lead": "first by {lead} points in the last round: the place needs no win, only no large deal-in",
    "reason_yakuhai_call": "the pon of {better_tile} is a yaku by itself",
    "reason_kan": "the kan gives another draw and a new dora indicator",
    "reason_no_kan": "the kan would turn up a new dora indicator for everybody",
    "reason_no_closer": "the call brings the hand no closer: it stays {hand}",
    "reason_no_yaku": "after the call no yaku is near: no yakuhai, and tanyao, a flush and triplets are "
    "far off",
    "reason_closed": "passing keeps the hand closed, so riichi stays possible",
    "reason_defence": "after the call only {counted} would be left to fold with",
    "reason_dora": "keeps {worse_tile}, {dora} dora",
    "reason_yakuhai": "keeps {held}{worse_tile}, a yakuhai; {left} left",
    "reason_tanyao": "closer to tanyao: {simples}",
    "reason_flush": "keeps the tiles of a flush in {suit}",
    "reason_pairs": "keeps all {pairs} pairs, for chiitoitsu",
    "reason_later": "nobody threatens yet, so {better_tile}, the more dangerous tile later, goes first",
    "reason_links": "of the tiles in hand {worse_tile} connects with {worse_links}, {better_tile} with "
    "{better_links}",
    "reason_policy": "{figures}; the policy chooses {better} {times}",
    "cost_danger": "the drawback: more dangerous against {who}: {better} deals in {better_danger:.1%} of the "
    "time, {worse} {worse_danger:.1%}",
    "cost_shanten": "the drawback: the hand is {better_hand} instead of {worse_hand}",
    "cost_ukeire": "the drawback: it accepts {counted} instead of {worse_tiles}",
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
    said["counted"] = _counted(params.get("better_tiles", params.get("tiles", 0)), "tile")
    said["hand"] = _hand(params.get("shanten", 0))
    said["accepts"] = "accepts" if params.get("shanten") else "waits for"
    said["held"] = _HELD[min(params.get("count", 0), 3)]
    if "waits" in params:
        said["waits"] = " ".join(map(text_of_mjai, params["waits"]))
        missing = " ".join(map(text_of_mjai, params["no_yaku"]))
        said["silent"] = (
            f"at least {params['silent']}" if params["silent"] else f"nothing on {missing} (no yaku)"
        )
    left = params.get("left")
    said["simples"] = f"terminals and honours still to discard: {left}" if left else "only simples are left"
    if "player" in params:
        said["who"] = WINDS[(params["player"] - dealer) % 4] + (" (riichi)" if params.get("riichi") else "")
    if "then" in params:
        said |= {"then": _PLACES[params["then"] - 1], "place": _PLACES[params["place"] - 1]}
    if "times" in params:
        said["times"] = f"{params['times']} times as often" if params["times"] > 1 else "about as often"
        said["figures"] = "the figures are the same" if params["alike"] else "the figures do not explain it"
    if "suit" in params:
        said["suit"] = _SUITS[params["suit"]]
    return said


def _option(kind: str, tile: str) -> str:
    if kind in ("discard", "riichi"):
        return tile if kind == "discard" else f"riichi {tile}"
    return "passing" if kind == "pass" else f"the {'kan' if kind.endswith('kan') else kind}"


def _hand(shanten: int) -> str:
    return "tenpai" if shanten == 0 else f"{shanten}-shanten"
