"""Searches for frames that break the session.

    python -m tests.fuzz --seconds 3600
    python -m tests.fuzz tests/fuzz/findings/NAME.txt

Every input is a script of server frames, mutated from the corpus: frames are dropped, repeated, moved, edited
or inserted, the connection is broken, characters are corrupted. Scripts that show new behaviour are mutated
further. For every frame, the session must return events, or raise one of its two errors without changing;
every prompt can be answered; no tile is lost; and no frame takes long. A script that breaks one of these
rules is minimised and saved.
"""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path

from tests.fuzz.hunt import FINDINGS, hunt
from tests.fuzz.oracle import Broken, run
from tests.fuzz.script import Script, captured, read_script


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz the Tenhou session.")
    parser.add_argument("file", nargs="*", type=Path, help="scripts to run again, instead of fuzzing")
    parser.add_argument("--seconds", type=float, default=60.0, help="duration in seconds (%(default)g)")
    parser.add_argument("--seed", type=int, help="seed to repeat a run; default: a new one")
    parser.add_argument("--keep", type=Path, default=FINDINGS, help="folder for findings (%(default)s)")
    parser.add_argument("--traffic", type=Path, help="folder of captures to add to the corpus")
    args = parser.parse_args()
    if args.file:
        return max(_again(path) for path in args.file)
    seed = secrets.randbelow(1 << 31) if args.seed is None else args.seed
    print(f"seed {seed}, {args.seconds:g} s", flush=True)
    report = hunt(
        seed, args.seconds, args.keep, _captures(args.traffic), lambda text: print(text, flush=True)
    )
    print(report)
    return 1 if report.broken else 0


def _again(path: Path) -> int:
    try:
        run(read_script(path))
    except Broken as broken:
        print(f"{path}: {broken}")
        return 1
    print(f"{path}: holds")
    return 0


def _captures(folder: Path | None) -> list[Script]:
    """Those that can be read."""
    scripts = []
    for path in sorted(folder.iterdir()) if folder else ():
        try:
            scripts.append(captured(path))
        except (OSError, UnicodeDecodeError) as exc:
            print(f"{path}: left out ({exc})")
    return [script for script in scripts if len(script) > 1]


if __name__ == "__main__":
    raise SystemExit(main())
