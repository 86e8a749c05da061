"""The review command: checks its arguments before it reviews anything."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.records.sources import STDIN, full_source, is_folder, load, shown
from bot.review.duel import check_options, duel_log, review_duel
from bot.review.many import items_of, review_many
from bot.review.one import chosen_player, file_name, reason_of, reviewed, write_review
from bot.review.source import Wanted
from bot.review.text import review_text
from game.distribution import program_name
from game.errors import ConfigError, ReplayError
from policies.compute import IN_PLAY, Compute
from policies.named import Named, load_named
from replays.review.candidate_hands import load_finder
from replays.review.judging import Adviser
from replays.review.report import Reviewer, as_json

if TYPE_CHECKING:
    from policies.inference import Averaging

OUT: Final = Path("reviews")

_SEAT: Final = re.compile("seat:([0-3])")


def review(
    sources: Sequence[str],
    *,
    seat: int | None,
    player: str,
    policy: str | Adviser,
    compare: str | Adviser,
    averaging: Averaging,
    compute: Compute,
    out: Path | None,
    to_json: bool,
    anonymous: bool,
    all_seats: bool = False,
    candidates: int = 0,
) -> int:
    """Review the given records.

    Args:
        sources: files, folders, links, ids of games on Tenhou, "-" for stdin.
        seat: absolute number of the player to review, as for ``--seat``.
        player: the same by name, or by the start of it.
        policy: a built-in policy, a folder of checkpoints, or an adviser.
        compare: a second one, or ``seat:N``; "" for none.
        averaging: tile permutations that networks average over, unless their names specify a number.
        compute: how networks compute.
        out: folder for the results.
        to_json: print the JSON; files are then written only if ``out`` is given.
        anonymous: omit names, ids and dates.
        all_seats: review the other players as well, on the same page.
        candidates: hands of each opponent to make up at each decision, by each model.

    Returns:
        The exit code.

    Raises:
        ConfigError: an argument is invalid, or arguments contradict each other.
        ReplayError: a record cannot be read or reviewed.
    """
    wanted = _wanted(seat, player, compare, anonymous=anonymous)._replace(all_seats=all_seats)
    folder = out or (None if to_json else OUT)
    if folder is not None:
        _check_folder(folder)
    full = [full_source(source) for source in sources]
    if full.count(STDIN) > 1:
        raise ConfigError("- is stdin, which can be read only once; give it once")
    alone = len(full) == 1 and not is_folder(full[0])
    if alone and (log := duel_log(full[0])) is not None:
        check_options(seat=seat, player=player, compares=bool(compare), all_seats=all_seats)
        return review_duel(log, Path(full[0]).name.split(".")[0], folder, to_json=to_json)
    items = [] if alone else items_of(full)
    other = "" if wanted.beside is not None else compare
    reviewer = make_reviewer(policy, other, averaging, compute, candidates)
    if not alone:
        return review_many(items, reviewer, wanted, folder, to_json=to_json)
    return _review_one(full[0], reviewer, wanted, folder, to_json=to_json)


def _review_one(
    source: str, reviewer: Reviewer, wanted: Wanted, folder: Path | None, *, to_json: bool
) -> int:
    try:
        loaded = load(source)
        made = reviewed(reviewer, loaded, chosen_player(loaded, wanted), wanted)
    except ReplayError as exc:
        raise ReplayError(f"{shown(source)}: {reason_of(exc, source)}") from exc
    paths = write_review(made, file_name(loaded, made, anonymous=wanted.anonymous), folder) if folder else []
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
) -> Reviewer:
    """Load the policies, the reward predictor and the models of hands.

    Args:
        policy: whose choices to compare with.
        compare: a second one, "" for none.
        averaging: number of suit permutations.
        compute: how networks compute.
        candidates: hands of each opponent to make up at each decision, by each model.

    Raises:
        ConfigError: a policy does not exist.
        CheckpointError: its checkpoints cannot be used.
    """
    from policies.device import use_one_thread  # noqa: PLC0415 - imports torch

    use_one_thread()
    from policies.hands.direct import DirectModel  # noqa: PLC0415 - torch comes with it
    from policies.included import SHIPPED  # noqa: PLC0415
    from replays.review.prospects import predictor_on  # noqa: PLC0415 - likewise

    def asked(who: str | Adviser) -> Named | Adviser:
        return load_named(who, averaging, compute=compute) if isinstance(who, str) else who

    first = asked(policy)
    second = asked(compare) if compare else None
    predictor, direct = predictor_on(SHIPPED, compute), DirectModel.load()
    return Reviewer(
        program_name(), first, predictor, second, direct, load_finder(candidates) if candidates else None
    )


def _wanted(seat: int | None, player: str, compare: str | Adviser, *, anonymous: bool) -> Wanted:
    if seat is not None and player:
        raise ConfigError("--seat and --player both select the player to review; give only one of them")
    if not isinstance(compare, str):
        return Wanted(seat, player, None, anonymous)
    beside = _SEAT.fullmatch(compare)
    if beside is None and compare.startswith("seat:"):
        raise ConfigError(f"--compare {compare}: no such seat; use seat:0 to seat:3")
    return Wanted(seat, player, int(beside.group(1)) if beside else None, anonymous)


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
