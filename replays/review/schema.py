"""The JSON of a review: one game seen from one seat, and the index of many.

These structs define the format. `docs/review-schema.json` is generated from them
(`python -m tests.replays.review.test_schema`), and `docs/review.md` explains it. Removing a field or changing
its meaning makes a new version; adding fields does not.

Players are absolute (0 dealt first), also under the key ``seat``; a triple goes by relative seat from the
reviewed player on: shimocha on the right, toimen across, kamicha on the left. Tiles are mjai's texts
(``"5mr"``, ``"E"``, ``"?"``). Expected rewards are in the uma of the review, by default the rank points of a
7-dan in the Phoenix room: 90, 45, 0 and -135 for the places of a hanchan.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from game.events import DrawReason, Four, ValueSource
from game.position import WrittenPosition
from game.ranking import Rewards, Uma
from game.scoring.settlement import RewardKind
from policies.flow.decisions import Step
from replays.record import Names

FORMAT: Final = "suzaku-review/3"
INDEX_FORMAT: Final = "suzaku-review-index/2"

Category: TypeAlias = Literal["fine", "inaccuracy", "mistake", "blunder"]
ActionName: TypeAlias = Literal[
    "discard", "riichi", "chi", "pon", "daiminkan", "ankan", "kakan", "tsumo", "ron", "nine_terminals", "pass"
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
    "reason_win",
    "reason_abort",
    "reason_play_on",
    "reason_riichi",
    "reason_silent",
    "reason_shanten",
    "reason_wide",
    "reason_ukeire",
    "reason_safety",
    "reason_place",
    "reason_lead",
    "reason_yakuhai_call",
    "reason_kan",
    "reason_no_kan",
    "reason_no_closer",
    "reason_no_yaku",
    "reason_closed",
    "reason_defence",
    "reason_dora",
    "reason_yakuhai",
    "reason_tanyao",
    "reason_flush",
    "reason_pairs",
    "reason_improve",
    "reason_later",
    "reason_links",
    "reason_policy",
    "cost_danger",
    "cost_shanten",
    "cost_ukeire",
]
"""Keys of the notes that `replays.review.notes` and `reasons` write; the page has their sentences."""
NoteValue: TypeAlias = str | bool | int | float | list[str]
"""A parameter of a note."""

CaveatKey: TypeAlias = Literal[
    "cut", "part", "rules_unsaid", "lobby", "start_scores", "results", "values", "forbidden"
]
"""Keys of the caveats that `replays.review.report` finds; the page has their sentences."""

ErrorKind: TypeAlias = Literal["win", "riichi", "safety", "efficiency", "value", "call", "kan", "other"]
"""What an error is about, by its first reason."""

HandModel: TypeAlias = Literal["diffusion", "autoregressive"]
"""Models that make up opponents' hands."""

Probability: TypeAlias = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
PlayerNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=3)]
Three: TypeAlias = tuple[float, float, float]
ShantenChances: TypeAlias = tuple[float, float, float, float, float, float, float]
Message: TypeAlias = dict[str, Any]
ShownHand: TypeAlias = tuple[str, ...] | None
ShownHands: TypeAlias = tuple[ShownHand, ShownHand, ShownHand, ShownHand]


class _ReviewPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the document."""


class ReviewAction(_ReviewPart, frozen=True, kw_only=True, omit_defaults=True):
    """One action.

    Attributes:
        kind: its type.
        tile: discarded, also with riichi, called, added or won on; none for pass, ankan and nine terminals.
        consumed: tiles from the hand that go into the meld.
        tsumogiri: whether a tile discarded is the one just drawn.
    """

    kind: ActionName
    tile: str = ""
    consumed: tuple[str, ...] = ()
    tsumogiri: bool = False


class Ukeire(_ReviewPart, frozen=True, kw_only=True):
    """The tiles that lower the shanten: how many kinds, how many unseen copies, and which kinds."""

    kinds: int
    tiles: int
    which: tuple[str, ...]


class LearnedDanger(_ReviewPart, frozen=True, kw_only=True):
    """The danger of a discard by the direct model of hands (`docs/hands.md`).

    Attributes:
        deal_in: by seat, the probability that this discard deals in.
        cost: expected points dealt in: each probability times the points of the opponent's hand by rule.
    """

    deal_in: Three
    cost: float


class ReviewOption(_ReviewPart, frozen=True, kw_only=True):
    """One legal action.

    Attributes:
        action: the action, written exactly as in ``done`` and ``preferred``.
        probability: of this option among all options of the decision, which add up to 1.
        step: the step of the decision flow that decides about it.
        shanten: shanten of the hand after the action, -1 to 8; after a chi or pon with the best discard;
            null for a win and nine terminals.
        ukeire: ukeire of the same hand.
        discard: that best discard: nearest to tenpai, then most ukeire; null if no discard follows.
        danger: by seat, the probability that this discard deals in, by rule.
        learned: the same by the direct model of hands; null without it, and for other actions.
        other: probability by the other policy.
    """

    action: ReviewAction
    probability: Probability
    step: Step
    shanten: int | None = None
    ukeire: Ukeire | None = None
    discard: str | None = None
    danger: Three | None = None
    learned: LearnedDanger | None = None
    other: Probability | None = None


class ReviewHand(_ReviewPart, frozen=True, kw_only=True):
    """The player's hand at a decision.

    Attributes:
        shanten: -1 for a win, 0 tenpai; after a draw, that of the hand after the best discard.
        waits: waits of a tenpai hand of 3n+1 tiles that have an unseen copy.
        waits_gone: waits with all copies seen; they still count for furiten.
        furiten: whether the player may not win by ron now.
        riichi: whether the player has declared riichi.
        is_open: whether the player has an open meld.
    """

    shanten: int
    waits: tuple[str, ...]
    waits_gone: tuple[str, ...] = ()
    furiten: bool
    riichi: bool
    is_open: bool


class Opponent(_ReviewPart, frozen=True, kw_only=True):
    """Another player.

    Attributes:
        player: absolute.
        tenpai: probability of tenpai, by rule.
        points: points that the hand then costs, by rule.
        shanten: probabilities of shanten 0 to 5 and of 6 or more, by the direct model of hands; null without.
    """

    player: PlayerNumber
    tenpai: Probability
    points: int
    shanten: ShantenChances | None = None


class Note(_ReviewPart, frozen=True, kw_only=True):
    """A line of explanation: the key of a sentence on the page, and the sentence's parameters."""

    key: NoteKey
    params: dict[str, NoteValue] = {}


class SearchedOption(_ReviewPart, frozen=True, kw_only=True):
    """The result of a search for one option.

    Attributes:
        ahead: how much more it is expected to be worth than what the policy alone would have done.
        doubt: standard deviation of that; 0 for that option itself.
        deals: over which it was played out.
    """

    ahead: float
    doubt: float
    deals: int


class Thought(_ReviewPart, frozen=True, kw_only=True):
    """How the time of the round was used for a decision in play.

    Attributes:
        way: an adapted policy decided, a search, or a search among the options of an adapted policy.
        base: what the policy alone would have done, null if it cannot be matched to an option.
        playouts: rounds played out for it.
        worth: the unit of searched options: points, or global for the expected final reward.
        searched: by option; null for options that were not close, or without a search.
    """

    way: Literal["adapted", "search", "both"]
    base: ReviewAction | None
    playouts: int
    worth: RewardKind
    searched: tuple[SearchedOption | None, ...] | None = None


class Live(_ReviewPart, frozen=True, kw_only=True):
    """The decision as it was made in play.

    Attributes:
        time_ms: time used.
        budget_ms: time allowed, 0 for no limit.
        source: a model, a rule, or a fallback after a fault.
        fallback: the fault, "" if there was none.
        late: whether the answer came after the budget.
        played: the action decided in play, null if it cannot be matched to an option.
        probabilities: by option, as computed in play; null if the option was not evaluated or its step was
            not reached.
        base: by option, from the policy before it adapted to the round; null without adaptation, and for
            options that an adapted policy is not asked about.
        adapted: by option, from the adapted policy; likewise.
        thought: what an adapted policy or a search had to say; null if neither decided.
    """

    time_ms: float
    budget_ms: float
    source: Literal["model", "rule", "fallback"]
    fallback: str = ""
    late: bool = False
    played: ReviewAction | None = None
    probabilities: tuple[float | None, ...] | None = None
    base: tuple[float | None, ...] | None = None
    adapted: tuple[float | None, ...] | None = None
    thought: Thought | None = None


class CandidateHand(_ReviewPart, frozen=True, kw_only=True):
    """A concealed hand that an opponent may hold.

    Attributes:
        tiles: in mjai's notation, separated by spaces.
        shanten: its distance from ready, counting open melds.
    """

    tiles: str
    shanten: int


class CandidateHands(_ReviewPart, frozen=True, kw_only=True):
    """Hands that fit everything the player has seen, made up by a model of hands.

    Attributes:
        model: which one.
        hands: of each opponent from shimocha on, ready ones first; which of them go together is not said.
    """

    model: HandModel
    hands: tuple[tuple[CandidateHand, ...], tuple[CandidateHand, ...], tuple[CandidateHand, ...]]


class Price(_ReviewPart, frozen=True, kw_only=True):
    """What errors like one cost on average (`docs/review.md`); it says nothing about this position.

    Attributes:
        points: points lost to the preferred options.
        error: half the width of the 95 % interval of that.
    """

    points: float
    error: float


class ReviewDecision(_ReviewPart, frozen=True, kw_only=True):
    """One decision of the reviewed player.

    Attributes:
        round: index into ``rounds``.
        event: index of the last event before the decision among that round's events.
        turn: number of own discards before it, plus one.
        step: the step of the flow that made the policy's choice.
        judged: the step at which the action done and the preferred one differ; ``step`` if they agree.
        source: whether a model or a rule made the policy's choice.
        hand: the player's hand.
        opponents: by seat.
        done: the player's action.
        preferred: the policy's choice.
        options: all legal actions, riichi once for each discard; the preferred one first, then the likeliest.
        agrees: whether both are the same; discards of the same kind of tile are, red or not.
        ratio: probability of the action done divided by that of the preferred one, at the step where they
            differ; at most 1.
        category: by ``thresholds``.
        price: what errors like it cost; null if it is none, a rule judges it, or the policy has no prices.
        notes: explanations; for an error, the advantages of the preferred option and its price.
        other: the other policy's choice.
        other_agrees: whether the player's action is the same as that.
        other_ratio: the ratio by the other policy.
        live: the decision as made in play, in games that Suzaku played.
        candidates: hands that the opponents may hold, if they were asked for.
        position: the position as `suzaku ask` takes it; null directly after a kan, and in play.
    """

    round: int
    event: int
    turn: int
    step: Step
    judged: Step
    source: Literal["model", "rule"]
    hand: ReviewHand
    opponents: tuple[Opponent, Opponent, Opponent]
    done: ReviewAction
    preferred: ReviewAction
    options: tuple[ReviewOption, ...]
    agrees: bool
    ratio: Probability
    category: Category
    price: Price | None = None
    notes: tuple[Note, ...] = ()
    other: ReviewAction | None = None
    other_agrees: bool | None = None
    other_ratio: Probability | None = None
    live: Live | None = None
    candidates: tuple[CandidateHands, ...] = ()
    position: WrittenPosition | None = None


class Yaku(_ReviewPart, frozen=True, kw_only=True):
    """A yaku by Tenhou's id and its Japanese name; ``han`` 0 for a yakuman.

    Yaku that add nothing, such as ura dora without any, are left out.
    """

    id: int
    name: str
    han: int


class Winner(_ReviewPart, frozen=True, kw_only=True):
    """A win; ``limit`` 0 none, 1 mangan to 5 yakuman; ``points`` without honba and sticks.

    ``value`` tells where han, fu, limit and yaku come from: the record states them, the rules computed them
    from the hand, or neither; then they are null, and only ``points`` is known, from the payments.
    """

    player: PlayerNumber
    from_player: PlayerNumber
    tile: str
    hand: tuple[str, ...]
    ura: tuple[str, ...]
    han: int | None
    fu: int | None
    limit: int | None
    points: int
    yaku: tuple[Yaku, ...]
    value: ValueSource = "stated"


class ReviewResult(_ReviewPart, frozen=True, kw_only=True):
    """How a round ended.

    Attributes:
        kind: a win, a draw, or cut off with the record.
        wins: one, or two on the same tile.
        reason: reason for a draw.
        tenpai: by player, whether the hand was tenpai at an exhaustive draw.
        hands: at a draw, the concealed tiles each player showed; null for players who showed none.
        deltas: change of each score, not including sticks paid for riichi; null if the record does not tell.
        scores: scores after the round; null if the record does not tell.
    """

    kind: Literal["win", "draw", "cut"]
    wins: tuple[Winner, ...] = ()
    reason: DrawReason | None = None
    tenpai: tuple[bool, bool, bool, bool] | None = None
    hands: ShownHands | None = None
    deltas: Four | None
    scores: Four | None


class Expected(_ReviewPart, frozen=True, kw_only=True):
    """Each player's expected final reward, by the predictor, and expected final place, by rule."""

    reward: Rewards | None
    placement: Rewards | None


class ReviewRound(_ReviewPart, frozen=True, kw_only=True):
    """One round.

    Attributes:
        index: its index in the list.
        round_index: 0 East 1, 4 South 1, 8 West 1.
        honba: repeats.
        sticks: riichi sticks on the table at the start.
        dealer: the dealer.
        scores: scores at the start.
        events: mjai messages from ``start_kyoku`` to ``end_kyoku``.
        result: how the round ended.
        expected: expected rewards and places at the start.
        after: the same at the start of the next round; at the end of the game, the actual ones.
        decisions: index of the first decision in the round, and the index after the last.
    """

    index: int
    round_index: int
    honba: int
    sticks: int
    dealer: PlayerNumber
    scores: Four
    events: tuple[Message, ...]
    result: ReviewResult
    expected: Expected
    after: Expected | None
    decisions: tuple[int, int]


class CaveatParams(_ReviewPart, frozen=True, kw_only=True, omit_defaults=True):
    """Parameters of a caveat: the round it is about, the lobby, the starting scores, or the broken rule."""

    round_index: int = 0
    honba: int = 0
    lobby: int = 0
    scores: Four | None = None
    rule: str = ""


class Caveat(_ReviewPart, frozen=True, kw_only=True):
    """A limitation of the record: the key of a sentence on the page, and the sentence's parameters."""

    key: CaveatKey
    params: CaveatParams = CaveatParams()


class ReviewGame(_ReviewPart, frozen=True, kw_only=True):
    """The game.

    Attributes:
        id: in Tenhou's form, "" if the record has none.
        date: date and hour of its start in Japan time, ``2026-01-02 03:00 JST``; null if the id has none.
        type: Tenhou's type bits.
        length: length of the game.
        names: by player; "" if hidden.
        ranks: dan index 0-20 by player.
        rates: by player.
        scores: final points.
        results: final results, uma and oka included.
        places: final places.
        source: the format of the record.
        known: by player, whether the record shows the hand.
        caveats: if the record is incomplete, or may follow rules other than those of the review.
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
    source: Literal["mjlog", "tenhou6", "link", "mjai", "kobalab"]
    known: tuple[bool, bool, bool, bool]
    caveats: tuple[Caveat, ...] = ()


class PolicyName(_ReviewPart, frozen=True, kw_only=True):
    """A policy: its name, and an identity that changes with its content."""

    name: str
    identity: str


class Thresholds(_ReviewPart, frozen=True, kw_only=True):
    """The limits of the categories.

    Attributes:
        inaccuracy: a lower ratio is an inaccuracy.
        mistake: a lower ratio is a mistake.
        blunder: a lower ratio is a blunder.
    """

    inaccuracy: float
    mistake: float
    blunder: float


class Categories(_ReviewPart, frozen=True, kw_only=True):
    """The number of decisions in each category."""

    fine: int = 0
    inaccuracy: int = 0
    mistake: int = 0
    blunder: int = 0


class Judged(_ReviewPart, frozen=True, kw_only=True):
    """Figures of a set of decisions.

    Attributes:
        decisions: number of decisions.
        agreed: number of decisions that agree with the policy.
        agreement: their share; null without decisions.
        bad_moves: number of mistakes and blunders.
        bad_move_rate: their share.
        rating: 100 times the mean ratio.
        categories: number of decisions in each category.
        price: points that the errors cost together; null if none of them has a price.
    """

    decisions: int
    agreed: int
    agreement: Probability | None
    bad_moves: int
    bad_move_rate: Probability | None
    rating: float | None
    categories: Categories
    price: float | None = None


class StepFigures(Judged, frozen=True, kw_only=True):
    """Figures of the decisions judged at one step."""

    step: Step


class RoundFigures(Judged, frozen=True, kw_only=True):
    """Figures of one round, and the change of the player's expected reward and place in it."""

    round: int
    delta: int | None
    reward: float | None
    placement: float | None


class Rates(_ReviewPart, frozen=True, kw_only=True):
    """The player's statistics; shares are of the rounds, null if there is nothing to divide by.

    Attributes:
        rounds: number of rounds played.
        win: share of rounds won.
        tsumo: share of the wins by self-draw.
        deal_in: share of rounds in which the player dealt in.
        riichi: share of rounds with a riichi declared.
        call: share of rounds with a chi, pon or open kan.
        draw: share of rounds that ended in an exhaustive draw.
        tenpai_at_draw: share of these with the player tenpai.
        average_win: mean points of a win, including honba and sticks.
        average_deal_in: mean points paid for a deal-in.
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


class Comparison(_ReviewPart, frozen=True, kw_only=True):
    """The reviewed player compared with another policy, or with another player of the same game.

    Attributes:
        name: name of the other policy or player.
        player: the other player, absolute; null for a policy; ``seat`` in JSON.
        agreement: agreement with the other policy; for a player, that player's agreement with the policy.
        of_policies: how often both policies make the same choice; null for a player.
        rating: 100 times the mean ratio by the other policy; null for a player.
        figures: figures of the other player by the same policy; null for a policy.
        rates: statistics of the other player.
    """

    name: str
    player: PlayerNumber | None = msgspec.field(name="seat")
    agreement: Probability | None
    of_policies: Probability | None = None
    rating: float | None = None
    figures: Judged | None = None
    rates: Rates | None = None


class ReviewSummary(Judged, frozen=True, kw_only=True):
    """The figures of the game.

    Attributes:
        rating_definition: definition of the rating, in one line.
        worst: indices of the decisions that are not fine, the dearest first.
        steps: figures by step.
        rounds: figures by round.
        rates: the player's statistics.
        hidden: own turns and claims left out because the record does not show the player's choice.
        comparison: with another policy or player.
    """

    rating_definition: str
    worst: tuple[int, ...]
    steps: tuple[StepFigures, ...]
    rounds: tuple[RoundFigures, ...]
    rates: Rates
    hidden: int
    comparison: Comparison | None = None


class SeatReview(_ReviewPart, frozen=True, kw_only=True):
    """Another seat of a reviewed game.

    Attributes:
        player: the player, absolute; ``seat`` in JSON.
        decisions: the player's decisions, in order.
        summary: the figures.
    """

    player: PlayerNumber = msgspec.field(name="seat")
    decisions: tuple[ReviewDecision, ...]
    summary: ReviewSummary


class Review(_ReviewPart, frozen=True, kw_only=True):
    """One game from one seat, with the other seats if all were asked for.

    Attributes:
        format: version of the format.
        program: the program that made the review.
        game: the players, and how the game ended.
        player: the reviewed player, absolute; ``seat`` in JSON.
        policy: the policy that the decisions are compared with.
        other: the second policy, if any.
        uma: what final rewards are in.
        thresholds: limits of the categories.
        rounds: the rounds.
        decisions: the player's decisions, in order.
        summary: the figures.
        seats: the other players whose hands the record shows, if all seats are reviewed.
    """

    format: Literal["suzaku-review/3"] = FORMAT
    program: str
    game: ReviewGame
    player: PlayerNumber = msgspec.field(name="seat")
    policy: PolicyName
    other: PolicyName | None = None
    uma: Uma = Uma()
    thresholds: Thresholds
    rounds: tuple[ReviewRound, ...]
    decisions: tuple[ReviewDecision, ...]
    summary: ReviewSummary
    seats: tuple[SeatReview, ...] = ()


class SeatFigures(Judged, frozen=True, kw_only=True):
    """Figures of one seat of a game."""

    player: PlayerNumber = msgspec.field(name="seat")


class IndexedError(_ReviewPart, frozen=True, kw_only=True):
    """An error: its place in the game's review, what it is about, and its price in points, if it is known."""

    round: int
    event: int
    turn: int
    round_index: int
    honba: int
    category: Category
    kind: ErrorKind
    price: float | None


class IndexEntry(SeatFigures, frozen=True, kw_only=True):
    """A game of the index.

    Attributes:
        page: name of its page beside the index.
        data: name of its JSON beside the index.
        game: the game.
        rates: the player's statistics.
        seats: the other players, if all seats are reviewed.
        errors: decisions of the reviewed player that are not fine, the worst first.
    """

    page: str
    data: str
    game: ReviewGame
    rates: Rates
    seats: tuple[SeatFigures, ...] = ()
    errors: tuple[IndexedError, ...] = ()


class Exercise(_ReviewPart, frozen=True, kw_only=True):
    """An error to practise: the round up to it, and the decision.

    Attributes:
        names: the players.
        player: the reviewed player, absolute; ``seat`` in JSON.
        round: the round, its events up to the decision.
        decision: the decision.
    """

    names: Names
    player: PlayerNumber = msgspec.field(name="seat")
    round: ReviewRound
    decision: ReviewDecision


class Skipped(_ReviewPart, frozen=True, kw_only=True):
    """A record that could not be reviewed, and why."""

    file: str
    reason: str


class Total(Judged, frozen=True, kw_only=True):
    """All games of the index together.

    Attributes:
        games: number of games.
        rates: over all rounds.
        players: number of different names among the reviewed players.
        places: number of games that ended in each place; not counted where all seats are reviewed.
        average_place: mean place over the games that ended.
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


class ReviewIndex(_ReviewPart, frozen=True, kw_only=True):
    """Reviews of many games.

    Attributes:
        format: version of the format.
        program: the program that made the index.
        policy: the policy that the decisions are compared with.
        thresholds: limits of the categories.
        rating_definition: definition of the rating, in one line.
        games: the games, ordered by date.
        skipped: records that could not be reviewed.
        ranks: figures by the rank of the reviewed player, lowest first; games without ranks are left out.
        total: figures of all games together.
        exercises: the worst errors of all games, to practise.
    """

    format: Literal["suzaku-review-index/2"] = INDEX_FORMAT
    program: str
    policy: PolicyName
    thresholds: Thresholds
    rating_definition: str
    games: tuple[IndexEntry, ...]
    skipped: tuple[Skipped, ...]
    ranks: tuple[RankFigures, ...] = ()
    total: Total
    exercises: tuple[Exercise, ...] = ()
