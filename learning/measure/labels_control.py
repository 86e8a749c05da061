"""The control of labels: do deal-ins cost what labels expect, where a policy that learned from them differs?

`play` lets the default play itself. Wherever the other policy would have discarded another kind of tile, and
at a random 16th of all discards, it notes what the labels expect a deal-in to cost
(`policies.play.deal_ins`), and what the discarder would pay with the true hands, over eight draws of the
indicators that only a riichi reveals. `report` compares the two, new choice less old, and fits chance and
price of deal-ins anew on random discards of other games.

    python -m learning.measure.labels_control play FOLDER_OF_POLICY SEED GAMES OUT
    python -m learning.measure.labels_control report OUT [OUT_TO_FIT_ON ...]
"""

from __future__ import annotations

import sys
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from game.actions import ActionKind
from game.events import Discard
from game.layout import AT_UNSEEN
from game.rules import legal_actions
from game.scoring.dora import dora_of
from game.scoring.settlement import deltas, liable_player
from game.scoring.value import context_of, evaluate
from game.state import apply, clone
from game.table.walls import wall_seed
from game.warmup import warm_up
from policies.flow.flow import SlotAnswer, most_likely
from policies.flow.slots import Policy, Question, Slot
from policies.hands.direct import DirectModel
from policies.heuristic.danger import danger_of
from policies.play.named import load_named
from policies.play.rollout import Choice, PolicyChooser, Request, Rollout, Seating, Times

Floats = NDArray[np.float64]

NAMES: Final = (
    *(
        "decision",
        "game",
        "player",
        "choice",
        "kind",
        "tile",
        "opponent",
        "chance",
        "price",
        "rate",
        "tenpai",
    ),
    *("riichi", "melds", "dealer", "honba", "dora", "red", "turn", "wall_left", "won", "paid"),
)
"""Columns: a row an opponent. ``choice``: 0 the new one, 1 the old one, 2 any of a random decision."""
AT: Final = {name: place for place, name in enumerate(NAMES)}
_PART, _DRAWS, _ONE_IN, _AT_ONCE = 250, 8, 16, 512


def _payments(record: np.void, player: int, tile: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """``[3]`` whether each opponent wins on a discard, and what the player pays each."""
    won, paid, kind = np.zeros(3), np.zeros(3), tile >> 2
    able = [seat for seat in range(3) if int(record["waits"][(player + 1 + seat) % 4]) >> kind & 1]
    if not able:
        return won, paid
    after = clone(record)
    apply(after, Discard(player, tile, int(record["drawn"]) == tile))
    able = [
        seat
        for seat in able
        if any(each.kind is ActionKind.RON for each in legal_actions(after, (player + 1 + seat) % 4))
    ]
    won[able] = 1
    if len(able) == 3:
        return won, paid
    hidden, indicators = np.flatnonzero(after["where"] == AT_UNSEEN), int(after["indicator_count"])
    for place, seat in enumerate(able):
        winner, total = (player + 1 + seat) % 4, 0.0
        draws: list[Any] = [()]
        if after["riichi"][winner] == 2:
            draws = [tuple(rng.permutation(hidden)[:indicators].tolist()) for _ in range(_DRAWS)]
        for ura in draws:
            value = evaluate(context_of(after, winner, tile, player, ura))
            honba, liable = int(after["honba"]) if place == 0 else 0, liable_player(after, winner, value)
            moved = deltas(value, winner, player, int(after["dealer"]), honba=honba, liable=liable)
            total -= moved[player]
        paid[seat] = total / len(draws)
    return won, paid


class Recording:
    """A chooser that plays by one policy, and notes deal-ins where another would choose otherwise."""

    def __init__(self, present: Policy, other: Policy, seed: int) -> None:
        self._chooser, self._other, self._seed, self._hands = (
            PolicyChooser(present),
            other,
            seed,
            DirectModel.load(),
        )
        self._waiting: list[tuple[int, int, int, np.void, list[tuple[int, int]], int]] = []
        self._count = 0
        self.rows: list[tuple[float, ...]] = []
        self.changes: Counter[int] = Counter()

    def close(self, times: Times) -> None:
        """Nothing to do."""

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide, and note."""
        done = self._chooser.choose(requests, times)
        asked = []
        for request, choice in zip(requests, done, strict=True):
            verdict = choice.verdict
            if verdict is None or verdict.step != "discard" or not verdict.by_slot:
                continue
            if verdict.answers[-1].slot is Slot.DISCARD:
                asked.append((request, choice, verdict.answers[-1].options))
        if not asked:
            return done
        questions = [Question(Slot.DISCARD, r.record, r.player, options, r.length) for r, _, options in asked]
        for (request, choice, options), answer in zip(
            asked, self._other.answer(Slot.DISCARD, questions), strict=True
        ):
            new, old = (
                most_likely([SlotAnswer(Slot.DISCARD, options, tuple(answer))]).tile,
                choice.action.tile,
            )
            choices = []
            if new >> 2 != old >> 2:
                self.changes[request.number] += 1
                choices = [(0, new), (1, old)]
            key = zlib.crc32(
                b"%d %d %d %d" % (self._seed, request.number, len(request.table.events), request.player)
            )
            if key % _ONE_IN == 0:
                choices += [(2, tile) for tile in {each.tile >> 2: each.tile for each in options}.values()]
            if choices:
                self._waiting.append(
                    (self._count, request.number, request.player, clone(request.record), choices, key)
                )
                self._count += 1
        if len(self._waiting) >= _AT_ONCE:
            self.flush()
        return done

    def flush(self) -> None:
        """Note what waits."""
        if not self._waiting:
            return
        records, players = np.array([each[3] for each in self._waiting]), [each[2] for each in self._waiting]
        for each, chances in zip(self._waiting, self._hands.read(records, players).deal_ins, strict=True):
            number, game, player, record, choices, key = each
            rng, danger = np.random.default_rng(key), danger_of(record, player, reads_melds=False)
            doras = [dora_of(int(each) >> 2) for each in record["indicators"][: record["indicator_count"]]]
            for choice, tile in choices:
                kind, (won, paid) = tile >> 2, _payments(record, player, tile, rng)
                for seat in range(3):
                    other = (player + 1 + seat) % 4
                    if choice == 2 and chances[seat, kind] == 0 and not won[seat]:
                        continue
                    melds = sum(
                        int(each) != 4 for each in record["meld_kind"][other][: record["meld_count"][other]]
                    )
                    self.rows.append(
                        (
                            *(number, game, player, choice, kind, tile, seat, chances[seat, kind]),
                            *(danger.points[seat], danger.rates[seat, kind], danger.tenpai[seat]),
                            *(int(record["riichi"][other] > 0), melds, int(record["dealer"] == other)),
                            *(int(record["honba"]), doras.count(kind), int(tile in (16, 52, 88))),
                            *(
                                int(record["river_size"][player]),
                                int(record["wall_left"]),
                                won[seat],
                                paid[seat],
                            ),
                        )
                    )
        self._waiting = []


def play(policy: str, seed: int, games: int, out: Path) -> None:
    """Play the games that are missing, in parts."""
    warm_up()
    present, other = load_named("network").policy, load_named(policy).policy
    out.mkdir(parents=True, exist_ok=True)
    for first in range(0, games, _PART):
        path = out / f"{first:06d}.npz"
        if path.exists():
            continue
        who = Recording(present, other, seed)
        numbers = range(first, min(games, first + _PART))
        seatings = (Seating(n, wall_seed("labels-control", seed, n), (0, 0, 0, 0)) for n in numbers)
        for game in Rollout([who]).play(seatings):
            assert not game.crash
        who.flush()
        np.savez_compressed(
            path,
            rows=np.array(who.rows, np.float32),
            games=np.array(numbers),
            changes=np.array([who.changes[n] for n in numbers]),
        )
        print(path.name, flush=True)


def _read(folder: Path) -> tuple[Floats, NDArray[np.intp]]:
    """The rows of a folder, and its games."""
    rows, games, last = [], [], -1.0
    for path in sorted(folder.glob("*.npz")):
        found = np.load(path)
        part = found["rows"].astype(np.float64)
        part[:, 0] += last + 1
        last = part[:, 0].max()
        rows.append(part)
        games.append(found["games"])
    return np.concatenate(rows), np.concatenate(games)


def _classes(rows: Floats) -> list[Floats]:
    kind = rows[:, AT["kind"]].astype(int)
    rank = np.minimum(kind % 9, 8 - kind % 9)
    return [1.0 * each for each in (kind >= 27, (kind < 27) & (rank == 0), (kind < 27) & (rank == 1))]


def _melds(rows: Floats) -> list[Floats]:
    melds = rows[:, AT["melds"]]
    return [1.0 * each for each in (melds == 1, melds == 2, melds >= 3)]


def _of_chance(rows: Floats) -> Floats:
    p = np.clip(rows[:, AT["chance"]], 1e-6, 1 - 1e-6)
    odds, riichi, turn = np.log(p / (1 - p)), rows[:, AT["riichi"]], rows[:, AT["turn"]] / 10
    rate, tenpai = (
        np.log(np.clip(rows[:, AT["rate"]], 1e-4, 1)),
        np.log(np.clip(rows[:, AT["tenpai"]], 1e-3, 1)),
    )
    dora = 1.0 * (rows[:, AT["dora"]] > 0)
    plain = [
        np.ones(len(p)),
        odds,
        rate,
        tenpai,
        turn,
        riichi,
        *_melds(rows),
        rows[:, AT["dealer"]],
        dora,
        *_classes(rows),
    ]
    return np.stack([*plain, riichi * odds, riichi * turn, *(riichi * each for each in _classes(rows))], 1)


def _of_price(rows: Floats) -> Floats:
    riichi, dora, price = rows[:, AT["riichi"]], rows[:, AT["dora"]], rows[:, AT["price"]] / 1000
    table = [rows[:, AT[name]] for name in ("dealer", "honba", "dora", "red")]
    plain = [np.ones(len(riichi)), price, riichi, *_melds(rows), *table, *_classes(rows)]
    return np.stack([*plain, riichi * price, riichi * dora], 1)


def _logistic(x: Floats, y: Floats, penalty: float = 1e-6) -> Callable[[Floats], Floats]:
    """Logistic regression by Newton steps, halved while they do not help, from the chance as it is."""
    mean, deviation = x.mean(0), x.std(0)
    mean[0], deviation[deviation == 0] = 0, 1
    z, w = (x - mean) / deviation, np.zeros(x.shape[1])
    w[:2] = mean[1], deviation[1]

    def cost(w: Floats) -> float:
        score = z @ w
        return float((np.logaddexp(0, score) - y * score).mean() + penalty / 2 * w @ w)

    now = cost(w)
    for _ in range(20):
        p = 1 / (1 + np.exp(-np.clip(z @ w, -30, 30)))
        hessian = (z * (p * (1 - p))[:, None]).T @ z / len(y) + penalty * np.eye(len(w))
        step = np.linalg.solve(hessian, z.T @ (y - p) / len(y) - penalty * w)
        while cost(w + step) > now and np.abs(step).max() > 1e-9:
            step /= 2
        w, before = w + step, now
        now = cost(w)
        if before - now < 1e-10:
            break
    return lambda x: 1 / (1 + np.exp(-np.clip(((x - mean) / deviation) @ w, -30, 30)))


def _refit(rows: Floats) -> Callable[[Floats], Floats]:
    """Expected costs by chance and price learned from random discards."""
    some = rows[(rows[:, AT["choice"]] == 2) & (rows[:, AT["chance"]] > 0)]
    chance = _logistic(_of_chance(some), some[:, AT["won"]])
    hit = some[some[:, AT["won"]] > 0]
    price, *_ = np.linalg.lstsq(_of_price(hit), hit[:, AT["paid"]], rcond=None)
    print(f"refit on {len(some)} cells, {len(hit)} won on")

    def expected(rows: Floats) -> Floats:
        chances = np.where(rows[:, AT["chance"]] > 0, chance(_of_chance(rows)), 0.0)
        return np.asarray(chances * np.clip(_of_price(rows) @ price, 1000, None))

    return expected


def _control(rows: Floats, games: NDArray[np.intp], expected: Floats, what: str) -> None:
    """Print the true less the expected cost, new choice less old, with its standard error by games."""
    d = rows[:, AT["choice"]] < 2
    sign = np.where(rows[d, AT["choice"]] == 0, 1.0, -1.0)
    error = sign * (rows[d, AT["paid"]] - expected[d])
    size = games.max() + 1
    decisions, first = np.unique(rows[d, AT["decision"]], return_index=True)
    sums = np.bincount(rows[d, AT["game"]].astype(int), error, minlength=size)[games]
    counts = np.bincount(rows[d, AT["game"]][first].astype(int), minlength=size)[games]
    mean = sums.sum() / counts.sum()
    deviation = np.sqrt(((sums - mean * counts) ** 2).sum() * len(games) / (len(games) - 1)) / counts.sum()
    print(
        f"{what}: {mean:.2f} +- {deviation:.2f} points a change, {len(decisions)} changes, {len(games)} games"
    )


def report(folder: Path, others: Sequence[Path]) -> None:
    """Print the control of a folder's games, also after a refit on other games."""
    rows, games = _read(folder)
    _control(rows, games, rows[:, AT["chance"]] * rows[:, AT["price"]], "as labels expect")
    if others:
        expected = _refit(np.concatenate([_read(each)[0] for each in others]))
        _control(rows, games, expected(rows), "refit")


if __name__ == "__main__":
    if sys.argv[1] == "play":
        play(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5]))
    else:
        report(Path(sys.argv[2]), [Path(each) for each in sys.argv[3:]])
