"""The node table on disk: one SQLite file, which any SQLite reader opens.

``nodes`` has a row for each information set that was visited, with the fields of its key, the sums of regrets
and of strategies; ``curve`` has the evaluations; ``run`` says which run it is and how far it is. A save
replaces the whole file at once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from kit.errors import CheckpointCorrupt, CheckpointMissing
from learning.cfr.sampling import NodeSums, new_sums
from learning.runs.state import RunFolder
from policies.two_player.abstraction import POLICY_NAMES, decode, encode, policies_of

FORMAT: Final = "suzaku-cfr/1"
NODES_FILE: Final = "nodes.sqlite"
ADVICE: Final = "train one with `suzaku train cfr --out FOLDER`, and name its nodes.sqlite"

_FIELDS: Final = ("round", "pairs", "triplets", "characters", "honours")
_SUMS: Final = tuple(f"{what}_{policy}" for what in ("regret", "strategy") for policy in POLICY_NAMES)
_COLUMNS: Final = ("key", *_FIELDS, "policies", "visits", *_SUMS)
_INTEGERS: Final = len(_COLUMNS) - len(_SUMS)


class CurvePoint(msgspec.Struct, frozen=True):
    """One evaluation of a run.

    Attributes:
        iterations: done before it.
        nodes: in the table.
        seconds: of the run until then.
        exploitability: mean over the deals of the best score of the abstract policies, both seats; the
            scores are expectations over the strategy's draws.
        sampled: the same from one game of each pairing.
        fixed: mean score of the best single policy, both seats.
        normal: mean score of the normal policy against the strategy.
        triplets: of all triplets.
        pairs: of seven pairs.
    """

    iterations: int
    nodes: int
    seconds: float
    exploitability: float
    sampled: float
    fixed: float
    normal: float
    triplets: float
    pairs: float


class NodeFolder(RunFolder):
    """A run's folder whose state is a node table.

    `save` takes a state with the `NodeSums` under ``sums`` and a list of `CurvePoint` under ``curve``;
    everything else in it is plain values. `load` gives it back.
    """

    file = NODES_FILE

    def read(self, path: Path) -> dict[str, Any]:
        """The state in a node table, with its ``identity``."""
        run, sums, curve = read_table(path)
        del run["format"]
        identity = run.pop("identity")
        state = {name: msgspec.json.decode(value) for name, value in run.items()}
        return {**state, "identity": identity, "sums": sums, "curve": curve}

    def encoded(self, state: Mapping[str, Any]) -> bytes:
        """The node table of a state."""
        plain = {name: value for name, value in state.items() if name not in ("identity", "sums", "curve")}
        run = {name: msgspec.json.encode(value).decode() for name, value in plain.items()}
        run |= {"format": FORMAT, "identity": state["identity"]}
        return table_bytes(run, state["sums"], state["curve"])


def table_bytes(run: Mapping[str, str], sums: NodeSums, curve: Sequence[CurvePoint]) -> bytes:
    """A node table as the bytes of a SQLite file.

    Args:
        run: rows of ``run``: values by name.
        sums: sums of regrets and strategies.
        curve: the evaluations.
    """
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE run (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        database.executemany("INSERT INTO run VALUES (?, ?)", sorted(run.items()))
        columns = [
            f"{name} {'INTEGER' if place < _INTEGERS else 'REAL'}" for place, name in enumerate(_COLUMNS)
        ]
        database.execute(f"CREATE TABLE nodes ({', '.join(columns)}, PRIMARY KEY (key))")
        marks = ", ".join("?" * len(_COLUMNS))
        database.executemany(f"INSERT INTO nodes VALUES ({marks})", _rows(sums))  # noqa: S608 - our own names
        names = CurvePoint.__struct_fields__
        database.execute(f"CREATE TABLE curve ({', '.join(names)})")
        marks = ", ".join("?" * len(names))
        database.executemany(
            f"INSERT INTO curve VALUES ({marks})",  # noqa: S608 - our own names
            [msgspec.structs.astuple(point) for point in curve],
        )
        database.commit()
        return database.serialize()


def visited(sums: NodeSums) -> NDArray[np.int64]:
    """``[N]``: the keys that have a node, ascending."""
    return np.flatnonzero(sums.visits)


def read_table(path: Path) -> tuple[dict[str, str], NodeSums, list[CurvePoint]]:
    """Read a node table; nothing in the file is executed.

    Returns:
        The rows of ``run``, the sums, and the curve.

    Raises:
        CheckpointMissing: there is no such file.
        CheckpointCorrupt: it is not a node table, or damaged.
    """
    if not path.is_file():
        raise CheckpointMissing(path, "file", "not found", ADVICE)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            run = dict(database.execute("SELECT name, value FROM run"))
            if run.get("format") != FORMAT:
                raise CheckpointCorrupt(
                    path, "format", f"found {run.get('format')}, expected {FORMAT}", ADVICE
                )
            nodes = database.execute(f"SELECT {', '.join(_COLUMNS)} FROM nodes").fetchall()  # noqa: S608
            names = ", ".join(CurvePoint.__struct_fields__)
            points = database.execute(f"SELECT {names} FROM curve ORDER BY iterations").fetchall()  # noqa: S608
    except sqlite3.Error as exc:
        raise CheckpointCorrupt(path, "file", f"not a node table ({exc})", ADVICE) from exc
    return run, _sums(path, nodes), [_point(path, point) for point in points]


def _rows(sums: NodeSums) -> list[tuple[Any, ...]]:
    rows = []
    for key in visited(sums).tolist():
        numbers = (*sums.regrets[key].tolist(), *sums.strategies[key].tolist())
        rows.append((key, *decode(key), policies_of(key), int(sums.visits[key]), *numbers))
    return rows


def _sums(path: Path, rows: Sequence[tuple[Any, ...]]) -> NodeSums:
    """The sums of the rows of ``nodes``, each checked."""
    sums = new_sums()
    for row in rows:
        key, visits, numbers = row[0], row[_INTEGERS - 1], row[_INTEGERS:]
        field = f"node {key}"
        try:
            number = encode(decode(key))
            finite = all(abs(float(value)) < np.inf for value in numbers)
        except (TypeError, ValueError) as exc:
            raise CheckpointCorrupt(path, field, str(exc), ADVICE) from None
        if not finite or not isinstance(visits, int) or visits < 1 or min(numbers[3:]) < 0:
            raise CheckpointCorrupt(path, field, "its sums are impossible", ADVICE)
        sums.visits[number] = visits
        sums.regrets[number] = numbers[:3]
        sums.strategies[number] = numbers[3:]
    return sums


def _point(path: Path, row: Sequence[Any]) -> CurvePoint:
    try:
        return msgspec.convert(dict(zip(CurvePoint.__struct_fields__, row, strict=True)), CurvePoint)
    except msgspec.ValidationError as exc:
        raise CheckpointCorrupt(path, "curve", str(exc), ADVICE) from exc
