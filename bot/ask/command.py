"""Asks a policy about one position, and prints the answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from bot.logs.redaction import clean_text
from bot.review.command import make_reviewer
from bot.review.text import option_text, percent
from bot.terminal.table import WINDS, round_name
from game.actions import PASS
from game.events import four
from game.layout import LIVE_TILES
from game.position import PlacedPosition, WrittenPosition, place
from game.position.stated import SEATS
from game.tiles import mjai_text, text_of_mjai
from policies.nets.compute import Compute
from replays.review.decisions import hand_of, ukeire_of
from replays.review.judging import After
from replays.review.moments import Moment
from replays.review.report import Reviewer
from replays.review.schema import PolicyName, ReviewDecision, ReviewHand, ReviewOption, Ukeire

if TYPE_CHECKING:
    from policies.play.inference import Averaging


_OPTION_WIDTH: Final = 26


class AskedPolicy(msgspec.Struct, frozen=True):
    """Who is asked.

    Attributes:
        policy: a built-in policy, a folder of checkpoints, or ``python:FILE.py``.
        averaging: tile permutations that networks average over, unless the name specifies a number.
        compute: how networks compute.
    """

    policy: str
    averaging: Averaging
    compute: Compute

    def reviewer(self) -> Reviewer:
        """Loads the policy."""
        return make_reviewer(self.policy, "", self.averaging, self.compute)


class PositionAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """A position and what the policy would do; tiles in mjai's notation, probabilities as in a review.

    Attributes:
        schema: name and version of this form.
        program: the program that answered.
        policy: the policy asked.
        position: as it was stated.
        turn: the player's discards so far, plus one.
        tiles_left: tiles left to draw.
        indicators: the dora indicators, with one that was not stated.
        scores: points by seat, starting with the player.
        sticks: riichi sticks on the table.
        hand: shanten, waits and furiten.
        ukeire: what the hand accepts while the player waits; None on the player's turn.
        decision: the options, with ``done`` the policy's choice; None if there is nothing to decide.
    """

    schema: Literal["suzaku-ask/2"] = "suzaku-ask/2"
    program: str
    policy: PolicyName
    position: WrittenPosition
    turn: Annotated[int, msgspec.Meta(ge=1)]
    tiles_left: int
    indicators: tuple[str, ...]
    scores: tuple[int, int, int, int]
    sticks: int
    hand: ReviewHand
    ukeire: Ukeire | None
    decision: ReviewDecision | None


def answer(reviewer: Reviewer, position: WrittenPosition, placed: PlacedPosition) -> PositionAnswer:
    """Ask a policy about a position.

    Args:
        reviewer: asks its policy.
        position: as stated.
        placed: the position on the table.

    Raises:
        ModelError: the policy gives no usable answer.
    """
    observation = placed.observation
    record, player = observation.record, observation.player
    moment = Moment(record, player, observation.legal, observation.length, round=0, event=0, done=PASS)
    decision = None
    if observation.legal:
        decision = msgspec.structs.replace(reviewer.own_decision(moment), turn=placed.turn, position=None)
    shape = After(moment).of(PASS) if record["hand_size"][player] % 3 == 1 else None
    return PositionAnswer(
        program=reviewer.program,
        policy=reviewer.policy,
        position=position,
        turn=placed.turn,
        tiles_left=int(record["wall_left"]),
        indicators=tuple(mjai_text(int(tile)) for tile in record["indicators"] if tile >= 0),
        scores=four(int(record["scores"][(player + seat) % 4]) for seat in range(4)),
        sticks=int(record["riichi_sticks"]),
        hand=decision.hand if decision else hand_of(moment, ()),
        ukeire=ukeire_of(shape) if shape else None,
        decision=decision,
    )


def answer_text(answer: PositionAnswer) -> str:
    """The position, the hand, and a table of the options."""
    position = answer.position
    scores = " ".join(f"{score:,}" for score in answer.scores)
    lines = [
        f"{round_name(position.round_index)}, honba {position.honba}, sticks {answer.sticks}, you are "
        f"{WINDS[position.seat_wind]}, turn {answer.turn}, {answer.tiles_left} tiles left",
        f"scores {scores} (you, {', '.join(SEATS[1:])})",
        f"dora indicator{'s' if len(answer.indicators) > 1 else ''} {_tiles(answer.indicators)}"
        f"{'' if position.dora else ' (assumed; state it with --dora)'}",
        *([] if _shows_discards(answer) else ["rivers unknown: made-up discards take their places, unseen"]),
        _hand(answer.hand),
    ]
    if answer.ukeire is not None:
        lines.append(f"ukeire {_ukeire(answer.ukeire)}")
    if answer.decision is None:
        lines.append("nothing to decide: add the drawn tile to the hand, or a discard with --offered")
    else:
        lines += _decision(answer.decision, clean_text(answer.policy.name))
    return "\n".join(lines) + "\n"


def _shows_discards(answer: PositionAnswer) -> bool:
    """Whether all discards so far are stated; at the first draw there are none."""
    return any(answer.position.rivers) or answer.tiles_left >= LIVE_TILES - 1


def _hand(hand: ReviewHand) -> str:
    shanten = {-1: "complete", 0: "tenpai"}.get(hand.shanten, f"{hand.shanten}-shanten")
    parts = [shanten]
    if hand.waits:
        parts.append(f"waits {_tiles(hand.waits)}")
    if hand.waits_gone:
        parts.append(f"no copies left of {_tiles(hand.waits_gone)}")
    if hand.furiten:
        parts.append("furiten")
    return f"hand {', '.join(parts)}"


def _decision(decision: ReviewDecision, policy: str) -> Iterator[str]:
    yield f"{policy}: {option_text(decision, decision.preferred)} ({decision.source})"
    for seat, opponent in zip(SEATS[1:], decision.opponents, strict=True):
        yield f"  {seat:<9} tenpai {percent(opponent.tenpai)}, hand {opponent.points:,} points"
    yield _row("option", "prob", "danger", "model", "shanten", "ukeire")
    yield from (_option(decision, option) for option in decision.options)


def _option(decision: ReviewDecision, option: ReviewOption) -> str:
    danger = "" if option.danger is None else percent(_any(option.danger))
    learned = "" if option.learned is None else percent(_any(option.learned.deal_in))
    after = f" then {text_of_mjai(option.discard)}" if option.discard else ""
    shanten = "" if option.shanten is None else str(option.shanten)
    ukeire = "" if option.ukeire is None else _ukeire(option.ukeire)
    name = option_text(decision, option.action) + after
    return _row(name, percent(option.probability), danger, learned, shanten, ukeire)


def _row(name: str, chance: str, danger: str, learned: str, shanten: str, ukeire: str) -> str:
    figures = f"{chance:>7}  {danger:>7}  {learned:>7}  {shanten:>7}  {ukeire}"
    return f"  {name:<{_OPTION_WIDTH}} {figures}".rstrip()


def _any(chances: Sequence[float]) -> float:
    """The chance to deal in to any of the opponents."""
    safe = 1.0
    for chance in chances:
        safe *= 1.0 - chance
    return round(1.0 - safe, 5)


def _ukeire(ukeire: Ukeire) -> str:
    return f"{ukeire.tiles} tiles: {_tiles(ukeire.which)}" if ukeire.tiles else "none"


def _tiles(tiles: Sequence[str]) -> str:
    return " ".join(map(text_of_mjai, tiles))


def ask(position: WrittenPosition, asked: AskedPolicy, *, as_json: bool) -> int:
    """Print what a policy would do; return the exit code.

    Raises:
        PositionError: the position is impossible.
        ConfigError: the policy does not exist.
        ModelError: it gives no usable answer.
    """
    placed = place(position)
    told = answer(asked.reviewer(), position, placed)
    sys.stdout.write(msgspec.json.encode(told).decode() + "\n" if as_json else answer_text(told))
    return 0
