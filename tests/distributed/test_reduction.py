"""Sums over chunks: the binary tree, double precision, weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtape.distributed.reduction import Part, TreeSum, add_parts, hand_out, weigh


def parts_of(numbers: Any) -> list[Part]:
    return [weigh([np.array(x)], 1.0, 0) for x in numbers]


def tree_by_levels(numbers: list[float]) -> float:
    """The definition: neighbours are added, level by level; the last one of an odd level goes up."""
    while len(numbers) > 1:
        pairs = [numbers[i] + numbers[i + 1] for i in range(0, len(numbers) - 1, 2)]
        numbers = [*pairs, *numbers[2 * len(pairs) :]]
    return numbers[0]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 8, 31, 100, 1023])
def test_groups_of_any_size_give_the_bits_of_the_tree(count: int) -> None:
    """Aligned blocks of 2^k chunks are subtrees: adding them up first changes no bit."""
    numbers = list(np.random.default_rng(count).normal(size=count) * 10.0 ** (np.arange(count) % 17))
    expected = tree_by_levels(numbers)
    for exponent in range(11):
        size = 2**exponent
        blocks = [add_parts(parts_of(numbers[start : start + size])) for start in range(0, count, size)]
        assert float(add_parts(blocks).arrays[0]) == expected


def test_parts_are_double_precision_and_the_answer_is_not() -> None:
    """float32 numbers are added in float64, and the sum has their dtype again."""
    total = TreeSum()
    for _ in range(3):
        total.add(weigh([np.float32(0.1)], 7.0, 0))
    part = total.result()
    assert part.arrays[0].dtype == np.float64
    assert part.dtypes == [np.dtype(np.float32)]
    assert float(part.arrays[0]) == pytest.approx(21.0 * float(np.float32(0.1)), rel=1e-15)
    assert hand_out(part.arrays[0], part.dtypes[0]).dtype == np.float32


def test_what_a_chunk_gave_is_not_written_to() -> None:
    """The arrays of a part are its own: a compiled function may give out the same memory again."""
    given = np.ones(3)
    total = TreeSum()
    total.add(weigh([given], 1.0, 0))
    total.add(weigh([given], 1.0, 0))
    assert total.result().arrays[0].tolist() == [2.0, 2.0, 2.0]
    assert given.tolist() == [1.0, 1.0, 1.0]


def test_complex_numbers_stay_complex() -> None:
    """Complex parts are added in complex128."""
    part = weigh([np.complex64(1 + 2j)], 2.0, 0)
    assert part.arrays[0].dtype == np.complex128
    assert hand_out(part.arrays[0], part.dtypes[0]) == np.complex64(2 + 4j)
