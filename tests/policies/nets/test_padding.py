"""Numbers of rows that give the same bits."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from policies.nets.compute import Padding


class Machine:
    """A network whose bits depend on the number of rows, and sometimes on the place of a row.

    Args:
        exact: numbers of rows that give the bits of the full number.
        place: rows from this place on come out differently in a full batch.
    """

    def __init__(self, exact: set[int], place: int = 99) -> None:
        self.exact, self.place = exact, place
        self.asked: list[int] = []

    def __call__(self, planes: Tensor) -> Tensor:
        self.asked.append(len(planes))
        scores = planes.flatten(1).double().mean(1, keepdim=True)
        if len(planes) not in self.exact:
            return scores + 1e-12
        if len(planes) == 32:
            scores[self.place :] += 1e-12
        return scores


def padded(machine: Machine, *counts: int) -> list[int]:
    padding = Padding(machine, 5, 32)
    return [count + padding.missing(count) for count in counts]


def test_every_number_that_agrees_is_used() -> None:
    machine = Machine(set(range(4, 33, 4)))
    assert padded(machine, 1, 4, 5, 31, 32, 33, 64, 0) == [4, 4, 8, 32, 32, 36, 64, 0]


def test_a_number_that_differs_is_passed_over() -> None:
    assert padded(Machine({8, 24, 32}), 1, 5, 9, 17, 25) == [8, 8, 32, 24, 32]


@pytest.mark.parametrize("place", [1, 2, 3, 4, 8])
def test_a_row_that_depends_on_its_place_is_noticed(place: int) -> None:
    assert padded(Machine({4, 32}), 3) == [4]
    padding = Padding(Machine({12, 32}, place), 5, 32)
    assert padding.missing(10) == 22


def test_numbers_are_tried_when_needed_and_once() -> None:
    machine = Machine(set(range(4, 33, 4)))
    padding = Padding(machine, 5, 32)
    assert machine.asked == []
    assert [padding.missing(count) for count in (32, 3, 2, 1, 4, 67)] == [0, 1, 2, 3, 0, 1]
    assert machine.asked == [32, 4]


def test_a_row_is_compared_with_itself_elsewhere() -> None:
    """A network that treats odd places in another way agrees with no number."""

    def odd(planes: Tensor) -> Tensor:
        scores = planes.flatten(1).double().mean(1, keepdim=True)
        scores[1::2] += 1e-12
        return scores

    assert Padding(odd, 5, 32).missing(4) == 28
    assert torch.equal(odd(torch.zeros(2, 5, 34)), torch.tensor([[0.0], [1e-12]], dtype=torch.float64))
