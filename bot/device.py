"""A policy on a device that can be lost: one try on the CPU with smaller work, and from then on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import structlog

from policies.slots import Policy, Question, Slot, Source

log = structlog.get_logger(__name__)


class MovablePolicy(Policy, Protocol):
    """A policy that may run on an accelerator and can go on without it."""

    def on_cpu(self) -> Policy:
        """The same policy on the CPU."""


class CpuRescue:
    """Fills the slots from a policy that may lose its device; as a policy it looks like the one inside."""

    def __init__(self, policy: MovablePolicy) -> None:
        self._policy: Policy = policy
        self._movable: MovablePolicy | None = policy

    @property
    def source(self) -> Source:
        """As the policy inside."""
        return self._policy.source

    def answer(self, slot: Slot, questions: Sequence[Question]) -> Sequence[Sequence[float]]:
        """As the policy inside; after an out-of-memory error or a lost device one by one on the CPU."""
        try:
            return self._policy.answer(slot, questions)
        except Exception as exc:
            if self._movable is None or not is_device_fault(exc):
                raise
            log.warning("decision.moved_to_cpu", reason=f"{type(exc).__name__}: {exc}"[:200])
            self._policy, self._movable = self._movable.on_cpu(), None
        return [self._policy.answer(slot, (question,))[0] for question in questions]


def is_device_fault(exc: BaseException) -> bool:
    """Whether the accelerator ran out of memory or is gone, told without importing torch.

    >>> is_device_fault(MemoryError()), is_device_fault(RuntimeError("CUDA error: device lost")), is_device_fault(ValueError())
    (True, True, False)
    """  # noqa: E501
    if isinstance(exc, MemoryError) or "OutOfMemory" in type(exc).__name__:
        return True
    text = str(exc).lower()
    return isinstance(exc, RuntimeError) and ("out of memory" in text or "cuda error" in text)
