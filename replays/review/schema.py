"""What a review is, as JSON: one game seen from one seat, and the index of many.

These structs are the format. `docs/review-schema.json` is made from them, `docs/review.md` says it in words.
A field that is taken away or changes its meaning makes a new version; further fields do not.

Players are absolute (0 dealt first); a triple goes by seat from the reviewed player on: shimocha on his
right, toimen across, kamicha on his left. Tiles are mjai's texts (``"5mr"``, ``"E"``, ``"?"``). Expected
rewards are in the rank points of a 7-dan in the Phoenix room: 90, 45, 0 and -135 for the places of a hanchan.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from game.events import DrawReason, Four
from policies.decision import Step
from replays.record import Names

FORMAT: Final = "suzaku-review/1"
INDEX_FORMAT: Final = "suzaku-review-index/1"

Category: TypeAlias = Literal["fine", "inaccuracy", "mistake", "blunder"]
ActionName: TypeAlias = Literal[
    "discard",
    "riichi",
    "chi",
    "pon",
    "daiminkan",
    "ankan",
    "kakan",
    "tsumo",
    "ron",
    "nine_terminals",
    "pass",
]
NoteKey: TypeAlias = Literal[
    "furiten_waits",
    "furiten_turn",
    "furiten_riichi",
    "furiten_after",
    "riichi_choice",
    "win_declined",
    "red_five",
    "last_round",
    "last_round_needs",
]
"""What `replays.review.notes` says; the page has the words."""

CaveatKey: TypeAlias = Literal["cut", "part", "rules_unsaid", "lobby", "start_scores", "results"]
"""What `replays.review.caveats` says; the page has the words."""

Probability: TypeAlias = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Seat: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=3)]
Three: TypeAlias = tuple[float, float, float]
Rewards: TypeAlias = tuple[float, float, float, float]
Message: TypeAlias = dict[str, Any]
ShownHand: TypeAlias = tuple[str, ...] | None
ShownHands: TypeAlias = tuple[ShownHand, ShownHand, ShownHand, ShownHand]


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the document."""


class Action(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """One choice.

    Attributes:
        kind: what is done; riichi is declared first, its discard is a decision of its own.
        tile: thrown, called, added or won on; none for pass, riichi, ankan and nine terminals.
        consumed: tiles of the hand that go into the meld.
        tsumogiri: of a discard, whether it is the tile just drawn.
    """

    kind: ActionName
    tile: str = ""
    consumed: tuple[str, ...] = ()
    tsumogiri: bool = False


class Ukeire(_Part, frozen=True, kw_only=True):
    """What brings the hand closer and can still come: how many kinds, how many unseen tiles, and which."""

    kinds: int
    tiles: int
    which: tuple[str, ...]


class Option(_Part, frozen=True, kw_only=True):
    """One legal action.

    Attributes:
        action: as it stands in ``done`` and ``preferred`` too, word for word.
        probability: what its own step gives it: discards add up to 1; a kan, riichi or call has its own
            "yes"; a pass what the best call leaves; a win and nine terminals 1 or 0, for they go by rule.
        step: the step that says so.
        reached: whether the flow of decision came to that step; where it did not, the step was asked all
            the same.
        shanten: of the hand it leaves, -1 to 8; after a chi, pon or riichi with its best discard; null for a
            win and nine terminals.
        ukeire: of the same hand.
        discard: that best discard: the one nearest to tenpai, then with most ukeire; null where none follows.
        danger: of this discard, by seat: the chance that it deals in, by rule.
        loss: estimate of the reward it costs against the preferred action, see `docs/review.md`; negative
            where the estimate puts it above that; null where there is none.
        loss_error: standard error of ``loss``; 0 for the preferred action; null where that is.
        other: probability by the policy compared with.
    """

    action: Action
    probability: Probability
    step: Step
    reached: bool
    shanten: int | None = None
    ukeire: Ukeire | None = None
    discard: str | None = None
    danger: Three | None = None
    loss: float | None = None
    loss_error: float | None = None
    other: Probability | None = None


class Hand(_Part, frozen=True, kw_only=True):
    """The player's hand as he decides.

    Attributes:
        shanten: -1 for a win, 0 tenpai; after a draw, of the best discard.
        waits: of a hand of 3n+1 tiles that is tenpai, those of which a copy is unseen.
        waits_gone: its waits of which all copies are seen; they still count for furiten.
        furiten: whether he may not win by ron now.
        riichi: whether he has declared.
        is_open: whether he has an open meld.
    """

    shanten: int
    waits: tuple[str, ...]
    waits_gone: tuple[str, ...] = ()
    furiten: bool
    riichi: bool
    is_open: bool


class Opponent(_Part, frozen=True, kw_only=True):
    """Another player, by rule: the chance that he is tenpai, and what his hand then costs, in points."""

    player: Seat
    tenpai: Probability
    points: int


class Note(_Part, frozen=True, kw_only=True):
    """A line of explanation: a key the page has words for, and what goes into them."""

    key: NoteKey
    params: dict[str, str | bool | int | float | list[str]] = {}


class Live(_Part, frozen=True, kw_only=True):
    """What happened when the decision was made in play.

    Attributes:
        time_ms: spent on it.
        budget_ms: allowed, 0 for no limit.
        source: a model, a rule, or a fallback after a fault.
        fallback: what went wrong, "" if nothing did.
        late: whether it came after its budget.
        played: what was decided then, null where it cannot be matched.
        probabilities: by option, as they were then; null where that option was not among them, or its step
            not come to.
        base: by option, from the policy before it adapted to the round; null while there is no adaptation.
        adapted: by option, after it.
    """

    time_ms: float
    budget_ms: float
    source: Literal["model", "rule", "fallback"]
    fallback: str = ""
    late: bool = False
    played: Action | None = None
    probabilities: tuple[float | None, ...] | None = None
    base: tuple[float, ...] | None = None
    adapted: tuple[float, ...] | None = None


class Decision(_Part, frozen=True, kw_only=True):
    """One decision of the reviewed player.

    Attributes:
        round: index into ``rounds``.
        event: index into that round's events: it is made when these up to and with it have happened.
        turn: own discards before it and one.
        step: the step of the flow that settled what the policy prefers.
        judged: the step at which what was done and what is preferred part; ``step`` where they agree.
        source: whether a model or a rule prefers it.
        hand: the player's own.
        opponents: by seat.
        done: what the player did.
        preferred: what the policy would do.
        options: everything legal, the preferred one first, then by falling probability within each step.
        agrees: whether both are the same; discards of one kind of tile are, red or not.
        ratio: probability of what was done over that of what is preferred, at the step where they part; 1 at
            most.
        loss: that of the option done.
        loss_error: its standard error.
        category: by ``thresholds``.
        notes: explanations.
        other: what the policy compared with would do.
        other_agrees: whether the player did that.
        other_ratio: the ratio by the policy compared with.
        live: what happened in play, in games of our own.
    """

    round: int
    event: int
    turn: int
    step: Step
    judged: Step
    source: Literal["model", "rule"]
    hand: Hand
    opponents: tuple[Opponent, Opponent, Opponent]
    done: Action
    preferred: Action
    options: tuple[Option, ...]
    agrees: bool
    ratio: Probability
    loss: float | None
    category: Category
    loss_error: float | None = None
    notes: tuple[Note, ...] = ()
    other: Action | None = None
    other_agrees: bool | None = None
    other_ratio: Probability | None = None
    live: Live | None = None


class Yaku(_Part, frozen=True, kw_only=True):
    """A yaku by Tenhou's id and its Japanese name; ``han`` 0 for a yakuman.

    What adds nothing, such as ura dora where there are none, is left out.
    """

    id: int
    name: str
    han: int


class Winner(_Part, frozen=True, kw_only=True):
    """A win; ``limit`` 0 none, 1 mangan to 5 yakuman; ``points`` without honba and sticks."""

    player: Seat
    from_player: Seat
    tile: str
    hand: tuple[str, ...]
    ura: tuple[str, ...]
    han: int
    fu: int
    limit: int
    points: int
    yaku: tuple[Yaku, ...]


class Result(_Part, frozen=True, kw_only=True):
    """How a round ended.

    Attributes:
        kind: by wins, drawn, or cut off with the record.
        wins: one, or two on the same tile.
        reason: why it was drawn.
        tenpai: who showed a tenpai hand, where the wall ran out.
        hands: where the round was drawn, the concealed tiles each player showed; null for who showed none.
        deltas: change of every score, sticks paid for riichi not counted.
        scores: after it.
    """

    kind: Literal["win", "draw", "cut"]
    wins: tuple[Winner, ...] = ()
    reason: DrawReason | None = None
    tenpai: tuple[bool, bool, bool, bool] | None = None
    hands: ShownHands | None = None
    deltas: Four
    scores: Four


class Expected(_Part, frozen=True, kw_only=True):
    """What each player can expect: the final reward by the predictor, the final place by rule."""

    reward: Rewards | None
    placement: Rewards | None


class Round(_Part, frozen=True, kw_only=True):
    """One round.

    Attributes:
        index: its place in the list.
        round_index: 0 East 1, 4 South 1, 8 West 1.
        honba: repeats.
        sticks: riichi sticks on the table at its start.
        dealer: who deals.
        scores: at its start.
        events: mjai messages from ``start_kyoku`` to ``end_kyoku``.
        result: how it ended.
        expected: at its start.
        after: at the start of the next, or at the end of the game, where it is what the game brought.
        decisions: numbers of the first decision in it, and the one after the last.
    """

    index: int
    round_index: int
    honba: int
    sticks: int
    dealer: Seat
    scores: Four
    events: tuple[Message, ...]
    result: Result
    expected: Expected
    after: Expected | None
    decisions: tuple[int, int]


class CaveatParams(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """What a caveat is about: the round the record begins with, the lobby, the scores the game began with."""

    round_index: int = 0
    honba: int = 0
    lobby: int = 0
    scores: Four | None = None


class Caveat(_Part, frozen=True, kw_only=True):
    """What a reader should know of the record: a key the page has words for, and what goes into them."""

    key: CaveatKey
    params: CaveatParams = CaveatParams()


class Game(_Part, frozen=True, kw_only=True):
    """The game.

    Attributes:
        id: in Tenhou's form, "" where the record has none.
        date: Japan's date and hour of its start, where the id says: ``2026-01-02 03:00 JST``.
        type: Tenhou's type bits.
        length: of the game.
        names: by player; "" where hidden.
        ranks: dan index 0-20 by player.
        rates: by player.
        scores: final points.
        results: final results, uma and oka included.
        places: final places.
        source: the format of the record.
        known: whose hands the record shows.
        caveats: where the record is no whole game, or may be by other rules than it is reviewed by.
    """

    id: str
    date: str | None
    type: int
    length: Literal["hanchan", "tonpuu"]
    names: Names
    ranks: Four | None
    rates: Rewards | None
    scores: Four | None
    results: Rewards | None
    places: Four | None
    source: Literal["mjlog", "tenhou6", "link", "mjai"]
    known: tuple[bool, bool, bool, bool]
    caveats: tuple[Caveat, ...] = ()


class PolicyName(_Part, frozen=True, kw_only=True):
    """A policy: what it is called, and what changes when it does."""

    name: str
    identity: str


class Thresholds(_Part, frozen=True, kw_only=True):
    """When a decision is of which category.

    Attributes:
        inaccuracy: a ratio below it is one.
        mistake: a ratio below it is one.
        blunder: a ratio below it is one.
        softened: a clear loss of no more than this makes it one step better than its ratio says.
        hardened: a clear loss of this or more makes an inaccuracy a mistake.
        clear: a loss is clear from so many of its standard errors on; below that it is noise.
    """

    inaccuracy: float
    mistake: float
    blunder: float
    softened: float
    hardened: float
    clear: float = 0.0


class Categories(_Part, frozen=True, kw_only=True):
    """How many decisions are of which."""

    fine: int = 0
    inaccuracy: int = 0
    mistake: int = 0
    blunder: int = 0


class Judged(_Part, frozen=True, kw_only=True):
    """Figures of a set of decisions.

    Attributes:
        decisions: how many.
        agreed: of them the policy would have decided alike.
        agreement: share of these; null without decisions.
        bad_moves: mistakes and blunders.
        bad_move_rate: share of these.
        rating: 100 times the mean ratio.
        loss: sum over the decisions that have one.
        loss_error: standard error of the sum, from those of the decisions.
        valued: decisions that have a loss at all.
        categories: how many are of which.
    """

    decisions: int
    agreed: int
    agreement: Probability | None
    bad_moves: int
    bad_move_rate: Probability | None
    rating: float | None
    loss: float
    valued: int
    loss_error: float = 0.0
    categories: Categories


class StepFigures(Judged, frozen=True, kw_only=True):
    """Figures of the decisions of one step, the one they are judged at."""

    step: Step


class RoundFigures(Judged, frozen=True, kw_only=True):
    """Figures of one round, and what it was worth to the player: change of the expected reward and place."""

    round: int
    delta: int
    reward: float | None
    placement: float | None


class Rates(_Part, frozen=True, kw_only=True):
    """The player's table; shares are of the rounds, null where there is nothing to divide by.

    Attributes:
        rounds: played.
        win: won.
        tsumo: share of the wins by self-draw.
        deal_in: dealt into somebody's win.
        riichi: declared.
        call: with a chi, pon or open kan.
        draw: that ran out of tiles.
        tenpai_at_draw: share of these with the player tenpai.
        average_win: points of a win, honba and sticks included.
        average_deal_in: points paid for one.
    """

    rounds: int
    win: float | None
    tsumo: float | None
    deal_in: float | None
    riichi: float | None
    call: float | None
    draw: float | None
    tenpai_at_draw: float | None
    average_win: float | None
    average_deal_in: float | None


class Comparison(_Part, frozen=True, kw_only=True):
    """The player beside another policy, or beside another seat of the same game.

    Attributes:
        name: of the policy, or the name at that seat.
        seat: which, null for a policy.
        agreement: of the player with the other policy; for a seat, of that player with the policy.
        of_policies: how often both policies prefer the same; null for a seat.
        rating: 100 times the mean ratio by the other policy; null for a seat.
        figures: of the other seat by the same policy; null for a policy.
        rates: of the other seat.
    """

    name: str
    seat: Seat | None
    agreement: Probability | None
    of_policies: Probability | None = None
    rating: float | None = None
    figures: Judged | None = None
    rates: Rates | None = None


class Summary(Judged, frozen=True, kw_only=True):
    """The game in figures.

    Attributes:
        rating_definition: what the rating is, in a line.
        worst: numbers of the decisions that are not fine, the gravest first.
        steps: figures by step.
        rounds: figures by round.
        rates: the player's table.
        hidden: own turns and claims that are left out because the record does not tell what the player chose.
        comparison: with another policy or seat.
    """

    rating_definition: str
    worst: tuple[int, ...]
    steps: tuple[StepFigures, ...]
    rounds: tuple[RoundFigures, ...]
    rates: Rates
    hidden: int
    comparison: Comparison | None = None


class Review(_Part, frozen=True, kw_only=True):
    """One game from one seat.

    Attributes:
        format: the version of all this.
        program: that made it.
        game: who played, and how it ended.
        seat: the reviewed player.
        policy: that is asked.
        other: that it is compared with.
        thresholds: of the categories.
        rounds: what happened.
        decisions: of the player, in order.
        summary: figures.
    """

    format: Literal["suzaku-review/1"] = FORMAT
    program: str
    game: Game
    seat: Seat
    policy: PolicyName
    other: PolicyName | None = None
    thresholds: Thresholds
    rounds: tuple[Round, ...]
    decisions: tuple[Decision, ...]
    summary: Summary


class IndexEntry(Judged, frozen=True, kw_only=True):
    """A game of the index; ``page`` and ``data`` are the names of its files beside it."""

    page: str
    data: str
    game: Game
    seat: Seat
    rates: Rates


class Skipped(_Part, frozen=True, kw_only=True):
    """A record that could not be reviewed, and why."""

    file: str
    reason: str


class Total(Judged, frozen=True, kw_only=True):
    """All games of the index together.

    Attributes:
        games: how many.
        rates: over all rounds.
        players: how many different names the reviewed players have.
        places: games that ended in each place.
        average_place: of the games that ended.
    """

    games: int
    players: int = 1
    rates: Rates
    places: Four
    average_place: float | None


class RankFigures(Judged, frozen=True, kw_only=True):
    """Figures of all games in which the reviewed player had one rank: dan index 0-20, 16 for 7-dan."""

    rank: int
    games: int


class Index(_Part, frozen=True, kw_only=True):
    """Reviews of many games.

    Attributes:
        format: the version of all this.
        program: that made it.
        policy: that was asked.
        thresholds: of the categories.
        rating_definition: what the rating is, in a line.
        games: in the order of their dates.
        skipped: what could not be reviewed.
        ranks: by the rank of the reviewed player, lowest first; games that tell none are left out.
        total: all of them together.
    """

    format: Literal["suzaku-review-index/1"] = INDEX_FORMAT
    program: str
    policy: PolicyName
    thresholds: Thresholds
    rating_definition: str
    games: tuple[IndexEntry, ...]
    skipped: tuple[Skipped, ...]
    ranks: tuple[RankFigures, ...] = ()
    total: Total


def json_schema() -> str:
    """Both documents as JSON Schema: the file `docs/review-schema.json`."""
    kinds = (Review, Index)
    references, definitions = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Suzaku's reviews",
        "anyOf": list(references),
        "$defs": definitions,
    }
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"
