"""The benchmark runs, and the table keeps a good part of the engine's speed."""

from game.bench_table import bench_table


def test_the_table_is_measured_beside_the_bare_engine() -> None:
    bare, table, folding = bench_table(games=1, repeats=5)  # one measurement may be disturbed
    assert [speed.name for speed in (bare, table, folding)] == [
        "riichienv alone",
        "table",
        "table with state",
    ]
    assert table.median > 0.2 * bare.median  # half as fast on a quiet machine
