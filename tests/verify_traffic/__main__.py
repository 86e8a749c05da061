"""Checks captured frames.

    python -m tests.verify_traffic FILES…
    python -m tests.verify_traffic --insert bye FILES…

Reads every server frame, and reports for every client frame whether the bot's session would allow it there;
with ``--insert``, changes one place at a time and checks that all later frames are still read. Captures are
.tsv or .txt (JSON), .log or .xml.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kit.reports import json_text
from tests.verify_traffic.check import verify
from tests.verify_traffic.insertions import CHANGES, verify_with


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.verify_traffic", description="Check captured frames."
    )
    parser.add_argument("files", nargs="+", type=Path, help="captures: .tsv or .txt (JSON), .log or .xml")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--insert",
        choices=sorted(CHANGES),
        help="change one place at a time. bye: all players leave or return after a server frame; "
        "go, taikyoku, init: another match, game or round begins there; "
        "forbidden: a discard that kuikae or riichi forbids",
    )
    parser.add_argument("--every", type=int, default=1, help="with --insert: change every N-th place only")
    args = parser.parse_args(words)
    report = verify_with(args.insert, args.files, every=args.every) if args.insert else verify(args.files)
    print(json_text(report) if args.json else render(report))
    return 1 if report.get("unexplained", report["unread"]) or report.get("lost") else 0


def render(report: dict[str, Any]) -> str:
    """The report as text: its counts, and a line for each thing listed."""
    counts = ", ".join(
        f"{name.replace('_', ' ')} {value}" for name, value in report.items() if isinstance(value, int | str)
    )
    lists = {name.replace("_", " "): value for name, value in report.items() if isinstance(value, list)}
    listed = [f"{name}: {_line(each)}" for name, value in lists.items() for each in value]
    return "\n".join(
        [counts, *listed, *(f"[{kind}] {why}" for kind, why in report.get("explanations", {}).items())]
    )


def _line(each: object) -> str:
    return ", ".join(map(str, each.values())) if isinstance(each, dict) else str(each)


if __name__ == "__main__":
    raise SystemExit(main())
