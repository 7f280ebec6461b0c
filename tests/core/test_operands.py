"""What `apply` takes as operands and gives as results, on tapes and off them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import operation
from gradtape.core.operation import Op, apply
from gradtape.core.tensor import deferring


class Holder:
    """An object of another library, which has a tensor inside."""

    def __init__(self, tensor: gt.Tensor) -> None:
        self.tensor = tensor

    def __gradtape_tensor__(self) -> gt.Tensor:
        return self.tensor


@pytest.fixture
def elided() -> Iterator[list[Op]]:
    """While the test runs, `sin` is not recorded and gives 7; the operations that were asked about."""
    seen: list[Op] = []

    def hook(op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        seen.append(op)
        return 7.0 if op is gt.ops.sin else NotImplemented

    operation.elision_hooks.append(hook)
    yield seen
    operation.elision_hooks.remove(hook)


def test_gradient_reaches_tensors_in_a_nested_list() -> None:
    """A list of tensors and numbers is one operand, of which each tensor has its gradient."""
    x, y = gt.tensor(2.0, requires_grad=True), gt.tensor(3.0, requires_grad=True)
    weights = np.array([[1.0, 10.0], [100.0, 1000.0]])
    result = apply(gt.ops.multiply, ([[x, 1.0], (y, x)], weights), {})
    np.testing.assert_array_equal(result.numpy(), [[2.0, 10.0], [300.0, 2000.0]])
    result.sum().backward()
    assert (float(x.grad), float(y.grad)) == (1001.0, 100.0)


def test_list_of_numbers_beside_one_of_tensors_stays_a_constant() -> None:
    """Only the list that holds a tensor becomes one."""
    x = gt.tensor(2.0, requires_grad=True)
    result = apply(gt.ops.add, ([x, x], [10.0, 20.0]), {})
    np.testing.assert_array_equal(result.numpy(), [12.0, 22.0])
    result.sum().backward()
    assert float(x.grad) == 2.0


def test_gradient_reaches_the_tensor_inside_an_object() -> None:
    """A class with `__gradtape_tensor__` takes part in operations as the tensor that it holds."""
    x = gt.tensor([2.0, 3.0], requires_grad=True)
    apply(gt.ops.multiply, (Holder(x), np.array([4.0, 5.0])), {}).sum().backward()
    np.testing.assert_array_equal(x.grad, [4.0, 5.0])


def test_elided_operation_is_not_recorded(elided: list[Op]) -> None:
    """The result of a hook is that of the operation; one that returns NotImplemented leaves it as it is."""
    x = gt.tensor(0.5, requires_grad=True)
    assert apply(gt.ops.sin, (x,), {}) == 7.0
    y = apply(gt.ops.cos, (x,), {})
    assert elided[:2] == [gt.ops.sin, gt.ops.cos]
    y.backward()
    assert float(x.grad) == pytest.approx(-np.sin(0.5))


def test_several_results_off_the_tapes_are_tensors() -> None:
    """An operation of several results on a tensor that nothing follows gives a tuple of such tensors."""
    sign, logarithm = np.linalg.slogdet(gt.tensor([[2.0, 0.0], [0.0, 4.0]]))
    assert float(sign) == 1.0
    assert float(logarithm) == pytest.approx(np.log(8.0))
    assert not logarithm.is_tracked


def test_several_results_that_are_saved_have_second_derivatives() -> None:
    """Where the backward pass is recorded, the saved results are on the graph, each as the part that it is."""
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])

    def spread(x: Any) -> Any:
        values, vectors = np.linalg.eigh(x * matrix)
        return np.sum(values**3) + 0.0 * np.sum(vectors)

    cubes = np.sum(np.linalg.eigvalsh(matrix) ** 3)  # spread(x) is x ** 3 times that
    slope = gt.grad(spread)
    assert float(slope(1.5)) == pytest.approx(3.0 * 1.5**2 * cubes)
    assert float(gt.grad(slope)(1.5)) == pytest.approx(6.0 * 1.5 * cubes)


def test_function_that_defers_gets_the_tensor_itself() -> None:
    """A function of another library that was registered sees one object, and not the numbers without their gradient."""

    def foreign(other: Any) -> Any:
        return np.asarray(other)

    x = gt.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(gt.GradTapeError, match="GT312"):
        foreign(x)
    deferring.add(foreign.__code__)
    try:
        held = foreign(x)
    finally:
        deferring.remove(foreign.__code__)
    assert held.shape == ()
    assert held.dtype == object
    assert held[()] is x


def test_array_without_numbers_is_no_tensor() -> None:
    """A collection of Dask's is refused by name, with the function that takes it."""
    dask = pytest.importorskip("dask.array")
    with pytest.raises(gt.OperandError, match=r"gt\.distributed\.value_and_grad"):
        gt.tensor(dask.ones(3))


def test_objects_are_refused_as_operands() -> None:
    """An array of Python objects next to a tensor is an error that names the operation."""
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(gt.GradTapeError, match="multiply"):
        apply(gt.ops.multiply, (x, np.array([1.0, 2.0], object)), {})
