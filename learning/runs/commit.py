"""Reports the commit of the running code."""

from __future__ import annotations

import subprocess
from pathlib import Path


def current_commit() -> str:
    """The commit of the running code, with a + if files have changed since; "" if git does not know it.

    Installed code may lie inside an unrelated repository of the user, so the file must be tracked there.
    """
    folder, name = Path(__file__).parent, Path(__file__).name
    try:
        _git(folder, "ls-files", "--error-unmatch", name)
        commit = _git(folder, "rev-parse", "HEAD")
        return commit + ("+" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(folder: Path, *args: str) -> str:
    command = ("git", "-C", str(folder), *args)
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=10).stdout.strip()  # noqa: S603
