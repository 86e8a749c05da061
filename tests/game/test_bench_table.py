"""The benchmark measures the table beside the engine."""

from game.bench_table import bench_table


def test_the_table_is_measured_beside_the_bare_engine() -> None:
    bare, table, folding = bench_table(games=1, repeats=1)
    assert [speed.name for speed in (bare, table, folding)] == [
        "riichienv alone",
        "table",
        "table with state",
    ]
    assert all(speed.unit == "steps" and speed.median > 0 for speed in (bare, table))
