"""The review command: checks its arguments before it reviews anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from rich.console import Console

from bot.records.sources import STDIN, full_source, is_folder, listed, load, shown
from bot.review.many import check_players, made_entry, records_of, review_many, write_table
from bot.review.one import ReviewPlan, chosen_player, file_name, reason_of, reviewed, write_review
from bot.review.text import review_text
from game.ranking import Uma
from kit.distribution import program_name
from kit.errors import ConfigError, ReplayError
from policies.nets.compute import IN_PLAY, Compute
from policies.play.named import Named, load_named
from replays.review.candidate_hands import load_finder
from replays.review.judging import Adviser
from replays.review.report import Reviewer, as_json, check_player

if TYPE_CHECKING:
    from policies.play.inference import Averaging

OUT: Final = Path("reviews")

_SEATS: Final = ("seat:0", "seat:1", "seat:2", "seat:3")


def review(
    sources: Sequence[str],
    plan: ReviewPlan,
    *,
    policy: str | Adviser,
    compare: str | Adviser,
    averaging: Averaging,
    compute: Compute,
    uma: Uma | None,
    out: Path | None,
    to_json: bool,
) -> int:
    """Review the given records.

    Args:
        sources: files, folders, links, ids of games on Tenhou, "-" for stdin.
        plan: whose decisions, and what the reviews show.
        policy: a built-in policy, a folder of checkpoints, or an adviser.
        compare: a second one, or ``seat:N``; "" for none.
        averaging: tile permutations that networks average over, unless their names specify a number.
        compute: how networks compute.
        uma: what places are worth, None for a 7-dan's rank points.
        out: folder for the results.
        to_json: print the JSON; files are then written only if ``out`` is given.

    Returns:
        The exit code.

    Raises:
        ConfigError: an argument is invalid, or arguments contradict each other.
        ReplayError: a record cannot be read or reviewed.
    """
    if plan.seat is not None and plan.player:
        raise ConfigError("--seat and --player both select the player to review; give only one of them")
    plan = replace(plan, beside=_beside(compare))
    folder = out or (None if to_json else OUT)
    if folder is not None:
        _check_folder(folder)
    full = [full_source(source) for source in sources]
    if full.count(STDIN) > 1:
        raise ConfigError("- is stdin, which can be read only once; give it once")
    full = [each for source in full for each in listed(source)]
    alone = len(full) == 1 and not is_folder(full[0])
    records = [] if alone else records_of(full)
    other = "" if plan.beside is not None else compare

    def reviewer() -> Reviewer:
        return make_reviewer(policy, other, averaging, compute, plan.candidates, uma)

    if not alone:
        check_players(records, plan)
        return review_many(records, reviewer(), plan, folder, to_json=to_json)
    return _review_one(full[0], reviewer, plan, folder, to_json=to_json)


def _review_one(
    source: str, reviewer: Callable[[], Reviewer], plan: ReviewPlan, folder: Path | None, *, to_json: bool
) -> int:
    try:
        loaded = load(source)
        player = chosen_player(loaded, plan)
        check_player(loaded.record, player)
        with Console(stderr=True).status("reviewing"):  # nothing unless that is a terminal
            made = reviewed(reviewer(), loaded, player, plan)
    except ReplayError as exc:
        raise ReplayError(f"{shown(source)}: {reason_of(exc, source)}") from exc
    name = file_name(loaded, made, anonymous=plan.anonymous)
    paths = write_review(made, name, folder) if folder else []
    if plan.table:
        paths.append(write_table(plan.table, [made_entry(made, name)]))
    if to_json:
        sys.stdout.write(as_json(made).decode())
    else:
        sys.stdout.write(review_text(made, paths))
    return 0


def make_reviewer(
    policy: str | Adviser,
    compare: str | Adviser,
    averaging: Averaging,
    compute: Compute = IN_PLAY,
    candidates: int = 0,
    uma: Uma | None = None,
) -> Reviewer:
    """Load the policies, the reward predictor and the models of hands.

    Args:
        policy: whose choices to compare with.
        compare: a second one, "" for none.
        averaging: number of suit permutations.
        compute: how networks compute.
        candidates: hands of each opponent to make up at each decision, by each model.
        uma: what places are worth, None for a 7-dan's rank points.

    Raises:
        ConfigError: a policy does not exist.
        CheckpointError: its checkpoints cannot be used.
    """
    from policies.checkpoint.store import load_predictor  # noqa: PLC0415 - slow
    from policies.hands.direct import DirectModel  # noqa: PLC0415
    from policies.play.included import SHIPPED  # noqa: PLC0415

    def asked(who: str | Adviser) -> Named | Adviser:
        return load_named(who, averaging, compute=compute) if isinstance(who, str) else who

    first = asked(policy)
    second = asked(compare) if compare else None
    predictor, direct = load_predictor(SHIPPED).with_uma(uma), DirectModel.load()
    return Reviewer(
        program_name(), first, predictor, second, direct, load_finder(candidates) if candidates else None
    )


def _beside(compare: str | Adviser) -> int | None:
    """The player that ``--compare`` names, None if it names a policy."""
    if not isinstance(compare, str) or not compare.startswith("seat:"):
        return None
    if compare not in _SEATS:
        raise ConfigError(f"--compare {compare}: no such seat; use {_SEATS[0]} to {_SEATS[-1]}")
    return _SEATS.index(compare)


def _check_folder(folder: Path) -> None:
    """Check before the review that results can be written to the folder."""
    there = folder
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise ConfigError(
            f"--out {folder}: {there} is not a folder; name a folder that exists or can be created"
        )
    if not os.access(there, os.W_OK | os.X_OK):
        raise ConfigError(f"--out {folder}: {there} is not writable; name another folder")
