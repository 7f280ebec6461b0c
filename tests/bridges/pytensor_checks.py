"""PyTensor and gradtape: gradtape's functions as operations of PyTensor's graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt

X, Y = np.array([1.0, 2.0]), np.array([0.5, 3.0])


def wave(x: Any, y: Any, power: int = 2) -> Any:
    """A function with a sum, a product and an argument that is no array."""
    return np.sum(np.sin(x) * y**power)


def variables(pytensor: Any) -> tuple[Any, Any, Any]:
    tensor = __import__("pytensor.tensor").tensor
    return tensor, tensor.vector("x", dtype="float64"), tensor.vector("y", dtype="float64")


def compiled(pytensor: Any, inputs: Any, outputs: Any) -> Any:
    return pytensor.function(inputs, outputs, mode="FAST_COMPILE")


def check_gradient(pytensor: Any) -> None:
    """as_pytensor: value and gradient are PyTensor's own"""
    tensor, x, y = variables(pytensor)
    ours, theirs = gt.bridges.as_pytensor(wave)(x, y, power=3), tensor.sum(tensor.sin(x) * y**3)
    results = [each for value in (ours, theirs) for each in (value, *pytensor.grad(value, [x, y]))]
    found = compiled(pytensor, [x, y], results)(X, Y)
    for one, other in zip(found[:3], found[3:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def check_second_order(pytensor: Any) -> None:
    """as_pytensor: the Hessian is PyTensor's own, and verify_grad is content"""
    tensor, x, y = variables(pytensor)
    function = gt.bridges.as_pytensor(wave)
    hessian = pytensor.gradient.hessian
    found, wanted = compiled(
        pytensor, [x, y], [hessian(function(x, y), x), hessian(tensor.sum(tensor.sin(x) * y**2), x)]
    )(X, Y)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    pytensor.gradient.verify_grad(function, [X, Y], rng=np.random.default_rng(0), mode="FAST_COMPILE")


def check_structures(pytensor: Any) -> None:
    """as_pytensor: nested results, integer inputs and results"""
    tensor, x, _ = variables(pytensor)
    places = tensor.ivector("i")
    result = gt.bridges.as_pytensor(lambda x, i: {"sum": np.sum(gt.take(x, i) ** 2), "at": np.argmax(x)})(x, places)
    gradient = pytensor.grad(result["sum"], x)
    found = compiled(pytensor, [x, places], [gradient, result["at"]])(X, np.array([1, 1], dtype="int32"))
    assert [each.tolist() for each in found] == [[0.0, 8.0], 1]


def check_default_mode(pytensor: Any) -> None:
    """as_pytensor: the default way of compiling runs it too"""
    _, x, y = variables(pytensor)
    value = gt.bridges.as_pytensor(wave)(x, y)
    np.testing.assert_allclose(pytensor.function([x, y], value)(X, Y), wave(X, Y))
