"""JAX and gradtape: numbers there and back, and gradtape's functions inside JAX's transformations."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt


def wave(x: Any, y: Any, power: int = 2) -> Any:
    """A function with a sum, a product and an argument that is no array."""
    return np.sum(np.sin(x) * y**power)


def operands(jax: Any) -> tuple[Any, Any]:
    return jax.numpy.array([1.0, 2.0]), jax.numpy.array([0.5, 3.0])


def own(jax: Any) -> Any:
    return lambda x, y: jax.numpy.sum(jax.numpy.sin(x) * y**2)


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=2e-5, atol=1e-6)


def refusal(call: Any) -> str:
    try:
        call()
    except gt.OperandError as error:
        return str(error)
    return "no error"


def check_dlpack(jax: Any) -> None:
    """jax.numpy.from_dlpack and gt.from_dlpack take each other's numbers"""
    assert jax.numpy.from_dlpack(gt.tensor([1.0, 2.0], dtype="float32")).tolist() == [1.0, 2.0]
    assert gt.from_dlpack(jax.numpy.ones(2)).tolist() == [1.0, 1.0]


def check_gradient(jax: Any) -> None:
    """as_jax: value and gradient are JAX's own, with and without jit"""
    x, y = operands(jax)
    function = gt.bridges.as_jax(wave)
    close(function(x, y), own(jax)(x, y))
    for gradient in (jax.grad(function, (0, 1)), jax.jit(jax.grad(function, (0, 1)))):
        for found, wanted in zip(gradient(x, y), jax.grad(own(jax), (0, 1))(x, y), strict=True):
            close(found, wanted)


def check_higher_orders(jax: Any) -> None:
    """as_jax: jacrev of grad, grad of grad, and check_grads of order 2"""
    x, y = operands(jax)
    function = gt.bridges.as_jax(wave)
    close(jax.jacrev(jax.grad(function))(x, y), jax.hessian(own(jax))(x, y))
    twice = lambda f: jax.grad(lambda x: jax.numpy.sum(jax.grad(f)(x, y) ** 2))(x)
    close(twice(function), twice(own(jax)))
    __import__("jax.test_util").test_util.check_grads(function, (x, y), order=2, modes=["rev"])


def check_vmap(jax: Any) -> None:
    """as_jax: vmap maps the function, and its gradient"""
    x, y = operands(jax)
    batch = jax.numpy.stack([x, y, x + y])
    for f, g in ((gt.bridges.as_jax(wave), own(jax)),):
        close(jax.vmap(f, (0, None))(batch, y), jax.vmap(g, (0, None))(batch, y))
        close(jax.vmap(jax.grad(f), (0, None))(batch, y), jax.vmap(jax.grad(g), (0, None))(batch, y))


def check_complex(jax: Any) -> None:
    """as_jax: complex gradients and cotangents follow JAX's convention"""
    z = jax.numpy.array([1 + 2j, 0.5j])
    ours = gt.bridges.as_jax(lambda z: np.sum(np.abs(z**2 * np.exp(np.conj(z)))))
    close(jax.grad(ours)(z), jax.grad(lambda z: jax.numpy.sum(jax.numpy.abs(z**2 * jax.numpy.exp(z.conj()))))(z))
    seed = jax.numpy.array([1 + 1j, 2.0 + 0j])
    holomorphic = gt.bridges.as_jax(lambda z: np.exp(z * 1j) * z)
    (found,) = jax.vjp(holomorphic, z)[1](seed)
    (wanted,) = jax.vjp(lambda z: jax.numpy.exp(z * 1j) * z, z)[1](seed)
    close(found, wanted)


def check_structures(jax: Any) -> None:
    """as_jax: nested arguments and results, static arguments, integer inputs and results"""
    x, y = operands(jax)
    function = gt.bridges.as_jax(lambda p, i, n: {"sum": (p["x"] ** n).sum() + p["y"][0][1], "at": gt.take(p["x"], i)})
    result = function({"x": x, "y": [y]}, jax.numpy.array([1, 0]), 3)
    close(result["at"], [2.0, 1.0])
    gradient = jax.grad(lambda p: function(p, jax.numpy.array([1, 0]), 3)["sum"])({"x": x, "y": [y]})
    close(gradient["x"], 3 * x**2)
    close(gradient["y"][0], [0.0, 1.0])


def check_declared_shapes(jax: Any) -> None:
    """as_jax: where the trial fails, the error says so, and result= helps"""

    def picky(x: Any) -> Any:
        if float(x[0]) != 7.0:
            raise ValueError("seven is wanted")
        return x * x

    x = jax.numpy.array([7.0, 1.0])
    message = refusal(lambda: gt.bridges.as_jax(picky)(x))
    assert "seven is wanted" in message, message
    assert "result=" in message, message
    close(jax.jit(gt.bridges.as_jax(picky, result=x))(x), [49.0, 1.0])
    message = refusal(lambda: gt.bridges.as_jax(lambda x: x, result=[x, x])(x))
    assert "result has 2 arrays" in message, message
