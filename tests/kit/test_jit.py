"""Kernels and their cache on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from structlog.testing import capture_logs

from kit import cache as caches
from kit import compiler, jit
from kit.cache import read_checked
from kit.files import locked_file

ROOT = Path(__file__).parents[2]
SOURCE = """
from kit.jit import kernel

@kernel
def double(number):
    return 2 * number
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("SUZAKU_CACHE_DIR", str(folder))
    return folder


def load(source: str = SOURCE) -> ModuleType:
    """Import a probe module, as each run of the program would anew."""
    module = ModuleType("probe")
    exec(source, module.__dict__)
    return module


def forms(cache: Path) -> list[Path]:
    return sorted(cache.glob("kernels/*/*"))


def hits(function: object) -> int:
    return sum(function.dispatcher.stats.cache_hits.values())  # type: ignore[attr-defined]


def test_a_kernel_is_compiled_once_and_then_loaded_and_only_this_user_can_write_it(cache: Path) -> None:
    told: list[str] = []
    before = os.umask(0)
    try:
        with jit.watched_compiler(told.append):
            first, second = load().double, load().double
            assert (first(21), hits(first)) == (42, 0)
            assert (second(21), hits(second)) == (42, 1)
    finally:
        os.umask(before)
    assert told == ["probe.double"]
    (form,) = forms(cache)
    assert all(path.stat().st_mode & 0o077 == 0 for path in (form.parent, form.parent.parent, cache))


@pytest.mark.parametrize("damage", [b"x" * 1000, None])
def test_a_damaged_file_is_compiled_and_written_again(cache: Path, damage: bytes | None) -> None:
    load().double(21)
    (path,) = forms(cache)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] if damage is None else damage)
    again = load().double
    assert (again(21), hits(again)) == (42, 0)
    assert read_checked(path) is not None


def test_without_a_folder_to_write_kernels_still_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SUZAKU_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(caches, "_told", set())
    with capture_logs() as logged:
        function = load().double
        assert (function(21), function(0.25)) == (42, 0.5)
    assert [entry["event"] for entry in logged] == ["kernels.cache_unused"]


@pytest.mark.parametrize("where", ["cache", "cache/kernels/*/*.bin"])
@pytest.mark.parametrize("owner", [-1, 12345])
def test_what_others_own_or_may_write_is_not_loaded_and_that_is_logged_once(
    cache: Path, monkeypatch: pytest.MonkeyPatch, where: str, owner: int
) -> None:
    if owner >= 0 and os.geteuid() != 0:
        pytest.skip("only root gives files away")
    load().double(21)
    for path in cache.parent.glob(where):
        path.chmod(0o700 if owner >= 0 else 0o777)
        os.chown(path, owner, -1)
    monkeypatch.setattr(caches, "_told", set())
    with capture_logs() as logged:
        again = load().double
        assert (again(21), again(0.5), hits(again)) == (42, 1.0, 0)
    told = [entry["event"] for entry in logged]
    assert told == ["kernels.cache_unused"] * (where == "cache")


def test_another_constant_two_calls_below_is_compiled(cache: Path) -> None:
    source = """
from kit.jit import kernel
FACTOR = 2

@kernel
def factor():
    return FACTOR

@kernel
def times(number):
    return factor() * number

@kernel
def plus_one(number):
    return times(number) + 1
"""
    assert load(source).plus_one(21) == 43
    changed = load(source.replace("FACTOR = 2", "FACTOR = 3")).plus_one
    assert (changed(21), hits(changed)) == (64, 0)


def test_a_form_with_a_constant_that_changed_meanwhile_is_not_kept(cache: Path) -> None:
    source = "from kit.jit import kernel\nNUMBER = 2\n@kernel\ndef number():\n    return NUMBER\n"
    module = load(source)
    assert module.number.dispatcher is not None  # has the key of the module as it is
    module.NUMBER = 3
    assert module.number() == 3
    assert load(source).number() == 2


# --- tables -----------------------------------------------------------------------------------------------


def test_a_loaded_kernel_reads_the_table_as_it_is_now(cache: Path) -> None:
    source = """
import numpy as np
from kit.jit import kernel, static_table
table = static_table("probe", np.arange(5, 10))

@kernel
def look_up(index):
    return table(index)
"""
    assert load(source).look_up(2) == 7
    look_up = load(source.replace("5, 10", "6, 11")).look_up
    assert (look_up(2), hits(look_up)) == (8, 1)


# --- processes --------------------------------------------------------------------------------------------


def python(code: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **environment},
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.slow
def test_processes_that_compile_at_the_same_time_do_not_disturb_each_other(
    cache: Path, tmp_path: Path
) -> None:
    (tmp_path / "probe.py").write_text(SOURCE)
    code = """
from probe import double
print(double(21), double(0.25), len(double.dispatcher.stats.cache_hits))
"""
    environment = {"SUZAKU_CACHE_DIR": str(cache), "PYTHONPATH": str(tmp_path)}
    together = [python(code, **environment) for _ in range(2)]
    loaded = 0
    for process in together:
        out, errors = process.communicate(timeout=60)
        assert (out.split()[:2], errors) == (["42", "0.5"], "")
        loaded += int(out.split()[2])
    assert loaded == 2, "each form is compiled by one process and loaded by the other"
    out, errors = python(code, **environment).communicate(timeout=60)
    assert (out, errors) == ("42 0.5 2\n", "")
    assert [path.suffix for path in forms(cache)] == [".bin", ".bin"]


def test_a_form_compiled_with_loaded_ones_raises_what_they_raise(cache: Path, tmp_path: Path) -> None:
    source = """
from kit.jit import kernel

@kernel
def inner(number):
    if number > 3:
        raise ValueError("too many", number)
    return number

@kernel
def middle(number):
    return inner(number) + 1

@kernel
def outer(number):
    return middle(number) + 1
"""
    (tmp_path / "probe.py").write_text(source)
    environment = {"SUZAKU_CACHE_DIR": str(cache), "PYTHONPATH": str(tmp_path)}
    assert python("import probe; print(probe.outer(2))", **environment).communicate() == ("4\n", "")
    for path in cache.glob("kernels/probe.outer-*/*"):
        path.unlink()
    _, errors = python("import probe; probe.outer(5)", **environment).communicate()
    assert errors.endswith("ValueError: ('too many', 5)\n")


def test_a_form_whose_kernel_has_moved_to_another_module_is_compiled_again(
    cache: Path, tmp_path: Path
) -> None:
    outer = "from kit.jit import kernel\nfrom {} import double\n@kernel\ndef outer(n): return double(n) + 1"
    environment = {"SUZAKU_CACHE_DIR": str(cache), "PYTHONPATH": str(tmp_path)}
    for module in ("before", "after"):
        (tmp_path / f"{module}.py").write_text(SOURCE)
        (tmp_path / "probe.py").write_text(outer.format(module))
        assert python("import probe; print(probe.outer(2))", **environment).communicate() == ("5\n", "")
        (tmp_path / f"{module}.py").unlink()


def test_a_form_that_another_process_never_finishes_is_compiled_here(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load().double(21)
    [form] = forms(cache)
    form.unlink()
    monkeypatch.setattr(compiler, "COMPILING_S", 0.05)
    with locked_file(form.with_suffix(".lock"), patience_s=0.0):
        double = load().double
        assert (double(21), hits(double)) == (42, 0)
    assert forms(cache) == [form]


WARM_GAME = """
import importlib
from pathlib import Path
import numpy as np
from game.events import Draw
from game.forbidden import broken_rule
from kit.fingerprint import called_by
from kit.jit import KERNELS, WARM_UPS, compiled_forms
from game.rules import legal_actions
from game.state import unseen34
from game.table.table import Table
from game.shanten import discard_table, shanten, ukeire, waits
from game.warmup import OWN_PACKAGES, modules_with_kernels, warm_up

for path in (path for package in OWN_PACKAGES for path in Path(package).rglob("*.py")):
    if "@kernel" in (text := path.read_text()) or "@warms_up" in text:
        importlib.import_module(".".join(path.with_suffix("").parts))
assert WARM_UPS.keys() == set(modules_with_kernels())
warm_up()
reached = set().union(*(called_by(kernel) for kernel in KERNELS if kernel.forms))
for each in set(KERNELS) - reached:
    print("no warm-up calls", each.__module__, each.__name__)
warm = compiled_forms()
table = Table(seed=1, length="tonpuu")
rng = np.random.default_rng(1)
for _ in range(60):
    answers = {}
    for player in table.waiting():
        legal = legal_actions(table.state, player)
        answers[player] = legal[rng.integers(len(legal))]
        hand34, melds = table.state["hand34"][player], int(table.state["meld_count"][player])
        shanten(hand34, melds), waits(hand34, melds), ukeire(hand34, melds, unseen34(table.state, player))
        broken_rule(table.state, Draw(player, 135))
    table.step(answers)
print(compiled_forms() - warm)
"""


def test_every_kernel_is_warmed_up_and_then_a_game_compiles_nothing_more() -> None:
    out, errors = python(WARM_GAME).communicate(timeout=300)
    assert errors == ""
    assert out == "0\n"
