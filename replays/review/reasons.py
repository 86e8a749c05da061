"""The sentences of an error: what the preferred option has more than the one played.

They state facts of the position that a player can check, not the policy's motives. The page and the terminal
have the texts; here each is a key with its parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.actions import CALLS, DISCARDS, PASS, WINS, Action, ActionKind
from game.events import Discard, RiichiAccepted
from game.scoring.dora import dora_of
from game.scoring.settlement import LAST_ROUND, RIICHI_STICK, placements
from game.scoring.value import context_of, evaluate
from game.shanten import shanten, ukeire
from game.state import apply, clone, declared, melds_of, unseen34
from game.tiles import KINDS, RED_FIVES, TERMINALS_AND_HONOURS, mjai_text
from policies.features.worth import missing_to_simples, missing_to_suit, missing_to_triplets
from policies.heuristic.danger import Danger
from replays.review.judging import After, Shape
from replays.review.moments import Moment, action_text
from replays.review.notes import furiten_waits, kinds_of, standing_of
from replays.review.schema import Note, NoteKey, NoteValue

MOST: Final = 3
"""Reasons given for one error, besides what they cost."""
THREAT: Final = 0.3
"""An opponent at least this likely to be tenpai is a threat."""

_SURE_THREAT: Final = 0.9
"""From here on, or in riichi, an opponent makes safety the first concern."""
_SAFER: Final = 0.01
"""Difference in the chance of dealing in that is worth mentioning."""
_MUCH_SAFER: Final = 0.02
"""The same that comes first against a sure threat."""
_ALIKE: Final = 0.9
"""Share of the other hand's ukeire from which a hand accepts about as many tiles."""
_LATER: Final = 0.03
"""The same if an opponent were tenpai, from which a tile is better discarded early."""
_FLUSH: Final = 9
"""Tiles of one suit and honours, of fourteen, from which a flush is in sight."""
_PAIRS: Final = 4
_NEARLY_SEQUENCES: Final = 7
"""Tiles of the nine of a pure straight, or of the same sequence in three suits, that may still become one."""
_OUTSIDE_LEFT: Final = 2
"""Terminals and honours left in a hand that may still become all simples."""
_RIICHI_LEFT: Final = 4
"""Tiles that the wall must have left for a riichi."""
_HONOURS: Final = 27
_DRAGONS: Final = 31
_KANS: Final = (ActionKind.ANKAN, ActionKind.KAKAN, ActionKind.DAIMINKAN)


class _Error(NamedTuple):
    """An error: the option preferred, the one played, and the hands after them."""

    moment: Moment
    better: Action
    worse: Action
    better_shape: Shape | None
    worse_shape: Shape | None
    danger: Danger

    @property
    def record(self) -> np.void:
        return self.moment.record

    @property
    def hand34(self) -> NDArray[np.int8]:
        hand34: NDArray[np.int8] = self.record["hand34"][self.moment.player]
        return hand34

    @property
    def player(self) -> int:
        """Who decided."""
        return self.moment.player

    @property
    def spared(self) -> NDArray[np.float64]:
        """``[3]``: how much less often the better discard deals in; zeros unless both options discard."""
        if self.discards is None:
            return np.zeros(3)
        better, worse = (self.danger.deal_in[:, kind] for kind in self.discards)
        return worse - better

    @property
    def safer(self) -> float:
        """Expected points that the better discard saves, against all opponents."""
        return float(self.spared @ self.danger.points)

    @property
    def risks_differ(self) -> bool:
        """Whether the chances of dealing in differ by enough to be worth mentioning."""
        return bool(max(np.abs(self.spared).max(), abs(self.spared.sum())) >= _SAFER)

    @property
    def steps_back(self) -> bool:
        """Whether the better option leaves the hand further from a win."""
        better, worse = self.better_shape, self.worse_shape
        return bool(better and worse and better.shanten > worse.shanten)

    @property
    def discards(self) -> tuple[int, int] | None:
        """The kinds discarded, the better first; None unless both options discard different ones."""
        both = self.better.kind in DISCARDS and self.worse.kind in DISCARDS
        kinds = self.better.tile >> 2, self.worse.tile >> 2
        return kinds if both and kinds[0] != kinds[1] else None

    def note(self, key: NoteKey, **params: NoteValue) -> Note:
        """A reason about both options; about one if nothing else was possible."""
        named: dict[str, NoteValue] = {}
        for side, action in (("better", self.better), ("worse", self.worse)):
            text = action_text(action, self.record)
            if side == "better" or self.worse != self.better:
                named |= {side: text.kind, f"{side}_tile": text.tile}
        return Note(key=key, params={**named, **params})


def reasons(moment: Moment, better: Action, ratio: float, danger: Danger, after: After) -> tuple[Note, ...]:
    """Why the preferred option is better, the weightiest reason first; at least one.

    Args:
        moment: the decision, with the other option as what was done.
        better: the preferred option; the same as what was done if it needs no comparison.
        ratio: of the probabilities.
        danger: from the opponents.
        after: the hands after the actions.
    """
    worse = moment.done
    error = _Error(moment, better, worse, after.of(better), after.of(worse), danger)
    found = tuple(islice(_found(error), MOST)) or tuple(_links(error))
    cost = tuple(_cost(error))
    if not found:
        found = (error.note("reason_policy", times=round(1.0 / max(ratio, 0.001)), alike=not cost),)
    return (*found, *cost)


def _found(error: _Error) -> Iterator[Note]:
    if error.better.kind in WINS:
        yield from _win(error)
        return
    if ActionKind.NINE_TERMINALS in (error.better.kind, error.worse.kind):
        yield _abort(error)
        return
    in_danger = bool(error.danger.tenpai.max() >= _SURE_THREAT)
    least = _SAFER if in_danger and error.steps_back else _MUCH_SAFER
    much_safer = error.safer > 0.0 and max(error.spared.max(), error.spared.sum()) >= least
    folds = much_safer and (in_danger or error.steps_back)
    lead = tuple(_lead(error))
    if folds:
        yield from _safety(error)
    yield from lead
    if folds and error.steps_back:
        return
    yield from _riichi(error)
    yield from _shanten(error)
    if not folds:
        yield from () if lead or in_danger else _wide(error)
        yield from _safety(error)
    yield from _calls(error, in_danger=in_danger)
    yield from _ukeire(error)
    yield from _dora_kept(error)
    if error.better.kind is not ActionKind.RIICHI:  # after it the hand stays as it is
        yield from _kept(error)
        yield from _improvement(error)
        yield from _later(error)


def _win(error: _Error) -> Iterator[Note]:
    record, player = error.record, error.player
    payer = player if error.better.kind is ActionKind.TSUMO else int(record["last_player"])
    value = evaluate(context_of(record, player, error.better.tile, payer))
    if value is not None:
        yield error.note("reason_win", points=value.points)


def _abort(error: _Error) -> Note:
    kinds = sum(error.hand34[kind] > 0 for kind in TERMINALS_AND_HONOURS)
    distance = int(shanten(error.hand34, 0))
    key: NoteKey = "reason_abort" if error.better.kind is ActionKind.NINE_TERMINALS else "reason_play_on"
    return error.note(key, kinds=int(kinds), shanten=distance)


def _riichi(error: _Error) -> Iterator[Note]:
    """Payments of a win with riichi and without, where a ron is possible."""
    declares, tile = error.better.kind is ActionKind.RIICHI, error.better.tile
    if declares == (error.worse.kind is ActionKind.RIICHI) or error.better.kind not in DISCARDS:
        return
    ready, thrown = furiten_waits(error.moment, tile >> 2)
    unseen = unseen34(error.record, error.player)
    live = [kind for kind in range(KINDS) if ready >> kind & 1 and unseen[kind] > 0]
    if not live or thrown:
        return
    silent = {mjai_text(4 * kind + 3): _ron_points(error.moment, tile, kind, riichi=False) for kind in live}
    yield error.note(
        "reason_riichi" if declares else "reason_silent",
        waits=[*silent],
        tiles=sum(int(unseen[kind]) for kind in live),
        points=min(_ron_points(error.moment, tile, kind, riichi=True) for kind in live),
        silent=min(silent.values()),
        no_yaku=[text for text, points in silent.items() if not points],
    )


def _ron_points(moment: Moment, discarded: int, kind: int, *, riichi: bool) -> int:
    """Payment of a ron on a kind after a discard, without ippatsu and ura dora; 0 without a yaku."""
    player = moment.player
    record = declared(moment.record, player) if riichi else clone(moment.record)
    apply(record, Discard(player, discarded, discarded == int(record["drawn"])))
    if riichi:
        apply(record, RiichiAccepted(player))
        record["ippatsu"][player] = False
    value = evaluate(context_of(record, player, 4 * kind + 3, (player + 1) % 4))
    return value.points if value is not None else 0


def _shanten(error: _Error) -> Iterator[Note]:
    better, worse = error.better_shape, error.worse_shape
    if better and worse and better.shanten < worse.shanten:
        yield error.note("reason_shanten", better_shanten=better.shanten, worse_shanten=worse.shanten)


def _wide(error: _Error) -> Iterator[Note]:
    """A hand that is further away, by seven pairs for example, but accepts far more."""
    better, worse = error.better_shape, error.worse_shape
    if error.discards and error.steps_back and better and worse and better.copies >= 2 * worse.copies:
        yield error.note("reason_wide", better_tiles=better.copies, worse_tiles=worse.copies)


def _ukeire(error: _Error) -> Iterator[Note]:
    better, worse = error.better_shape, error.worse_shape
    if better and worse and better.shanten == worse.shanten and better.copies > worse.copies:
        yield error.note(
            "reason_ukeire",
            shanten=better.shanten,
            better_tiles=better.copies,
            worse_tiles=worse.copies,
            which=kinds_of(better.mask & ~worse.mask),
        )


def _safety(error: _Error) -> Iterator[Note]:
    """What the better discard saves in deal-ins over all opponents, by the one against whom it saves most."""
    if error.safer <= 0.0:
        return
    place = int(np.argmax(error.spared * error.danger.points))
    for note in _danger(error, "reason_safety", place):
        yield note
        yield from _place(error, (error.player + place + 1) % 4, int(error.danger.points[place]))


def _danger(error: _Error, key: NoteKey, place: int) -> Iterator[Note]:
    """How often each discard deals in to one opponent, if the difference is worth mentioning."""
    if error.discards is None or not error.risks_differ:
        return
    player = (error.player + place + 1) % 4
    better, worse = (round(float(error.danger.deal_in[place, kind]), 4) for kind in error.discards)
    riichi = bool(error.record["riichi"][player])
    yield error.note(key, player=player, riichi=riichi, better_danger=better, worse_danger=worse)


def _place(error: _Error, winner: int, points: int) -> Iterator[Note]:
    """In the last round, the place that dealing in would cost."""
    standing = standing_of(error.moment)
    if standing.round_index < LAST_ROUND[error.moment.length]:
        return
    player = error.player
    scores = list(standing.scores)
    scores[player] -= points
    scores[winner] += points
    now, then = placements(standing.scores)[player], placements(scores)[player]
    if then > now:
        yield error.note("reason_place", player=winner, points=round(points, -2), place=now, then=then)


def _lead(error: _Error) -> Iterator[Note]:
    """A first place in the last round that no usual hand can take, where the better option is the slower."""
    standing, player = standing_of(error.moment), error.player
    better, worse = error.better_shape, error.worse_shape
    lead = standing.scores[player] - max(np.delete(standing.scores, player).tolist())
    slower = error.steps_back or bool(better and worse and better.copies < _ALIKE * worse.copies)
    last = standing.round_index >= LAST_ROUND[error.moment.length]
    if last and lead > 2 * error.danger.points.max() and slower and error.safer >= 0.0:
        yield error.note("reason_lead", lead=lead)


def _calls(error: _Error, *, in_danger: bool) -> Iterator[Note]:
    better, worse = error.better, error.worse
    if worse == PASS and better.kind is ActionKind.PON and _is_yakuhai(error, better.tile >> 2):
        yield error.note("reason_yakuhai_call")
    if better.kind in _KANS and worse.kind not in _KANS:
        yield error.note("reason_kan")
    if worse.kind in _KANS and better.kind not in _KANS:
        yield error.note("reason_no_kan")
    if better == PASS and worse.kind in CALLS:
        yield from _passing(error, in_danger=in_danger)


def _passing(error: _Error, *, in_danger: bool) -> Iterator[Note]:
    better, worse, record = error.better_shape, error.worse_shape, error.record
    is_open = bool(record["is_open"][error.player])
    discards = error.worse.kind is not ActionKind.DAIMINKAN  # which draws first
    left = int(error.hand34.sum()) - len(error.worse.consumed) - discards
    if in_danger:
        yield error.note("reason_defence", tiles=left)
    if better and worse and worse.shanten == better.shanten:
        yield error.note("reason_no_closer", shanten=better.shanten)
    if worse and _far_from_yaku(error, worse.shanten):
        yield error.note("reason_no_yaku")
    if is_open and not in_danger:
        yield error.note("reason_defence", tiles=left)
    may_riichi = record["scores"][error.player] >= RIICHI_STICK and record["wall_left"] >= _RIICHI_LEFT
    if not is_open and may_riichi:
        yield error.note("reason_closed")


def _far_from_yaku(error: _Error, distance: int) -> bool:
    """Whether every usual yaku of the open hand is at least two tiles further away than a win."""
    taken = [tile >> 2 for tile in (error.worse.tile, *error.worse.consumed)]
    melds = [*([t >> 2 for t in meld.tiles] for meld in melds_of(error.record, error.player)), taken]
    inside = {kind for meld in melds for kind in meld}
    hand34, room34 = error.hand34.copy(), np.empty(KINDS, dtype=np.int8)
    np.subtract.at(hand34, [tile >> 2 for tile in error.worse.consumed], 1)
    held = hand34 + np.bincount([kind for meld in melds for kind in meld], minlength=KINDS)
    unseen = unseen34(error.record, error.player)
    values = (kind for kind in range(_HONOURS, KINDS) if _is_yakuhai(error, kind))
    if any(held[kind] >= 2 and held[kind] + unseen[kind] >= 3 for kind in values):
        return False
    suited = held[:_HONOURS].reshape(3, 9) > 0
    alike = [int(suited[:, first : first + 3].sum()) for first in range(7)]
    if max(*alike, *suited.sum(axis=1).tolist()) >= _NEARLY_SEQUENCES:
        return False
    missing = [missing_to_suit(hand34, len(melds), s, room34) for s in range(3) if inside <= _flush_kinds(s)]
    if inside.isdisjoint(TERMINALS_AND_HONOURS):
        missing.append(missing_to_simples(hand34, len(melds), room34))
    if all(len(set(meld)) == 1 for meld in melds):
        missing.append(missing_to_triplets(hand34, len(melds)))
    return min(missing, default=KINDS) > distance + 2


def _flush_kinds(suit: int) -> set[int]:
    return {*range(9 * suit, 9 * suit + 9), *range(_HONOURS, KINDS)}


def _dora_kept(error: _Error) -> Iterator[Note]:
    gone, kept = (_dora(error, action.tile) for action in (error.better, error.worse))
    if error.discards is not None and kept > gone:
        yield error.note("reason_dora", dora=kept - gone)


def _kept(error: _Error) -> Iterator[Note]:
    """Yaku that the tile played would have served."""
    if error.discards is None:
        return
    _, worse = error.discards
    held, unseen = error.hand34, unseen34(error.record, error.player)
    if _is_yakuhai(error, worse) and held[worse] + unseen[worse] >= 3:
        yield error.note("reason_yakuhai", count=int(held[worse]), left=int(unseen[worse]))
    yield from _patterns(error, *error.discards)


def _patterns(error: _Error, better: int, worse: int) -> Iterator[Note]:
    """All simples, a flush or seven pairs."""
    record, player, held = error.record, error.player, error.hand34
    melds = [tile >> 2 for meld in melds_of(record, player) for tile in meld.tiles]
    counts = held + np.bincount(melds, minlength=KINDS)
    outside = sum(int(held[kind]) for kind in TERMINALS_AND_HONOURS) - 1
    opens = better in TERMINALS_AND_HONOURS and worse not in TERMINALS_AND_HONOURS
    if opens and outside <= _OUTSIDE_LEFT and set(TERMINALS_AND_HONOURS).isdisjoint(melds):
        yield error.note("reason_tanyao", left=outside)
    suit = max(range(3), key=lambda each: counts[[*_flush_kinds(each)]].sum())
    mine = _flush_kinds(suit)
    if counts[[*mine]].sum() >= _FLUSH and better not in mine and worse in mine and mine.issuperset(melds):
        yield error.note("reason_flush", suit="mps"[suit])
    pairs = int((held >= 2).sum())
    if not melds and pairs >= _PAIRS and held[worse] == 2 and held[better] == 1:
        yield error.note("reason_pairs", pairs=pairs)


def _dora(error: _Error, tile: int) -> int:
    indicators = error.record["indicators"][: error.record["indicator_count"]].tolist()
    return sum(dora_of(each >> 2) == tile >> 2 for each in indicators) + (tile in RED_FIVES)


def _is_yakuhai(error: _Error, kind: int) -> bool:
    record, player = error.record, error.player
    winds = (int(record["round_index"]) // 4, (player - int(record["dealer"])) % 4)
    return kind >= _DRAGONS or kind - _HONOURS in winds


def _improvement(error: _Error) -> Iterator[Note]:
    """Draws that do not lower the shanten but let the hand accept more than it now does after either tile."""
    better, worse = error.better_shape, error.worse_shape
    if error.discards is None or not better or not worse or better.shanten != worse.shanten:
        return
    if not better.shanten or better.copies < _ALIKE * worse.copies:
        return
    most = max(better.copies, worse.copies)
    more, less = (
        _improving(error, kind, shape, most)
        for kind, shape in zip(error.discards, (better, worse), strict=True)
    )
    if more > less:
        yield error.note("reason_improve", better_tiles=more, worse_tiles=less)


def _improving(error: _Error, discarded: int, shape: Shape, most: int) -> int:
    """How many unseen tiles make the hand after a discard accept more than so many, at the same shanten."""
    record, player = error.record, error.player
    melds, unseen = int(record["meld_count"][player]), unseen34(record, player)
    hand34 = error.hand34.copy()
    hand34[discarded] -= 1
    found = 0
    for drawn in range(KINDS):
        if unseen[drawn] > 0 and not shape.mask >> drawn & 1:
            hand34[drawn] += 1
            unseen[drawn] -= 1
            found += (int(unseen[drawn]) + 1) * (_most_accepted(hand34, melds, unseen, shape.shanten) > most)
            unseen[drawn] += 1
            hand34[drawn] -= 1
    return found


def _most_accepted(hand34: NDArray[np.int8], melds: int, unseen: NDArray[np.int8], distance: int) -> int:
    most = 0
    for kind in np.flatnonzero(hand34).tolist():
        hand34[kind] -= 1
        found, _, copies = ukeire(hand34, melds, unseen)
        if found == distance:
            most = max(most, int(copies))
        hand34[kind] += 1
    return most


def _later(error: _Error) -> Iterator[Note]:
    """Before anybody threatens, the more dangerous tile goes first."""
    if error.discards is None or float(error.danger.tenpai.max()) >= THREAT or error.risks_differ:
        return
    better, worse = (float(error.danger.rates[:, kind].max()) for kind in error.discards)
    if better - worse >= _LATER:
        yield error.note("reason_later")


def _links(error: _Error) -> Iterator[Note]:
    """How many tiles of the hand are next to each of the two."""
    if error.discards is None:
        return
    better, worse = (_linked(error.hand34, kind) for kind in error.discards)
    if worse > better:
        yield error.note("reason_links", better_links=better, worse_links=worse)


def _linked(hand34: NDArray[np.int8], kind: int) -> int:
    own = int(hand34[kind]) - 1
    if kind >= _HONOURS:
        return own
    first, last = max(kind // 9 * 9, kind - 2), min(kind // 9 * 9 + 8, kind + 2)
    return own + sum(int(hand34[near]) for near in range(first, last + 1) if near != kind)


def _cost(error: _Error) -> Iterator[Note]:
    """Disadvantages of the preferred option."""
    better, worse = error.better_shape, error.worse_shape
    if error.safer < 0.0:
        yield from _danger(error, "cost_danger", int(np.argmin(error.spared * error.danger.points)))
    if not better or not worse or error.better == PASS:
        return
    if better.shanten > worse.shanten:
        yield error.note("cost_shanten", better_shanten=better.shanten, worse_shanten=worse.shanten)
    elif better.shanten == worse.shanten and better.copies < worse.copies:
        yield error.note("cost_ukeire", better_tiles=better.copies, worse_tiles=worse.copies)
