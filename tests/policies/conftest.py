from __future__ import annotations

from tests.untraced import untraced

__all__ = ["untraced"]
