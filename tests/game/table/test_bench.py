"""The benchmark of the table runs beside the bare engine; how fast either is, is no matter for a test."""

from game.table.bench import bench_table


def test_the_table_is_measured_beside_the_bare_engine() -> None:
    speeds = bench_table(games=1, repeats=2)
    assert [speed.name for speed in speeds] == ["riichienv alone", "table", "table with state"]
    assert all(speed.unit == "steps" and len(speed.runs) == 2 and speed.minimum > 0 for speed in speeds)
