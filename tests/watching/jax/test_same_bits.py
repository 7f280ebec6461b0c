"""A watched program of JAX computes the same bits, calls its functions as often, and finds JAX as it was."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

# mypy: disable-error-code="untyped-decorator"

jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")
from gradtape.watching import watch  # noqa: E402

calls: list[str] = []


@pytest.fixture(autouse=True)
def _raise_our_own_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADTAPE_WATCH_DEBUG", "1")


def network(params: Any, x: Any) -> Any:
    calls.append("network")
    for weights, bias in params[:-1]:
        x = jax.nn.gelu(x @ weights + bias)
    weights, bias = params[-1]
    return x @ weights + bias


def mean_squared_error(params: Any, x: Any, y: Any, key: Any) -> Any:
    keep = jax.random.bernoulli(key, 0.8, x.shape)
    return jnp.mean((network(params, jnp.where(keep, x / 0.8, 0.0)) - y) ** 2)


def begin() -> tuple[Any, Any, Any]:
    keys = jax.random.split(jax.random.key(0), 4)
    params = [
        (jax.random.normal(keys[0], (3, 5)) * 0.5, jnp.zeros(5)),
        (jax.random.normal(keys[1], (5, 1)) * 0.5, jnp.zeros(1)),
    ]
    return params, jax.random.normal(keys[2], (8, 3)), jax.random.normal(keys[3], (8, 1))


def descend(params: Any, gradients: Any) -> Any:
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, gradients)


def train_eagerly() -> Any:
    """A loop that calls what `jax.value_and_grad` returns."""
    params, x, y = begin()
    for step in range(3):
        value, gradients = jax.value_and_grad(mean_squared_error)(params, x, y, jax.random.key(step))
        params = descend(params, gradients)
    return params, value


def train_compiled() -> Any:
    """A compiled step whose memory is given away."""
    params, x, y = begin()

    @functools.partial(jax.jit, donate_argnums=0)
    def step(params: Any, key: Any) -> Any:
        value, gradients = jax.value_and_grad(mean_squared_error)(params, x, y, key)
        return descend(params, gradients), value

    for number in range(3):
        params, value = step(params, jax.random.key(number))
    return params, value


def transform() -> Any:
    """Derivatives of derivatives, of batches and of loops; compiled functions inside each other."""
    w = jnp.eye(3) * 0.3

    def recurrent(w: Any) -> Any:
        def cell(h: Any, t: Any) -> Any:
            h = jnp.tanh(w @ h + t)
            return h, h

        return jnp.sum(jax.lax.scan(cell, jnp.zeros(3), jnp.ones((4, 3)))[1] ** 2)

    inner = jax.jit(lambda v: jnp.sum(jnp.sin(v) ** 3))
    return (
        jax.grad(recurrent)(w),
        jax.jit(jax.grad(jax.checkpoint(recurrent)))(w),
        jax.hessian(inner)(jnp.arange(3.0)),
        jax.jacfwd(lambda v: v**3)(jnp.arange(3.0)),
        jax.jit(jax.grad(lambda v: inner(v - 0.1 * jax.grad(inner)(v))))(jnp.arange(3.0)),
        jax.vmap(jax.grad(lambda w, x: jnp.sum(jnp.tanh(x @ w))), (None, 0))(w, jnp.ones((4, 3))),
        jax.vjp(jnp.sin, w)[1](w),
    )


def _bits(program: Callable[[], Any]) -> list[Any]:
    calls.clear()
    jax.clear_caches()
    return [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(program())]


@pytest.mark.parametrize("program", [train_eagerly, train_compiled, transform])
def test_a_watched_program_computes_the_same_bits(program: Callable[[], Any]) -> None:
    """Results, dtypes and the number of times that JAX traces a function are as without."""
    alone, called = _bits(program), len(calls)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with watch("jax", tell=lambda note: None):
            watched = _bits(program)
    assert len(calls) == called
    assert [a.dtype for a in alone] == [w.dtype for w in watched]
    assert all(np.array_equal(a, w) for a, w in zip(alone, watched, strict=True))


def test_jax_is_left_as_it_was() -> None:
    """After the block the functions of JAX are its own."""
    names = ("grad", "value_and_grad", "jit", "vjp", "jacrev", "jacfwd", "hessian")
    before = [getattr(jax, name) for name in names]
    item = jax.core.Tracer.__getitem__
    with watch("jax"):
        assert jax.grad is not before[0]
    assert [getattr(jax, name) for name in names] == before
    assert jax.core.Tracer.__getitem__ is item


def test_what_a_function_prints_is_printed_once(capfd: pytest.CaptureFixture[str]) -> None:
    """Neither `print` in a traced function nor `jax.debug.print` is executed again to explain it."""

    def loss(x: Any) -> Any:
        print("traced")
        jax.debug.print("executed")
        return jnp.sum(x**2)

    with watch("jax", tell=lambda note: None):
        jax.jit(jax.grad(loss))(jnp.ones(3))
        jax.effects_barrier()
    assert capfd.readouterr().out.split() == ["traced", "executed"]


def test_a_compiled_function_has_what_jax_gives_it() -> None:
    """`lower`, `eval_shape`, static arguments, and methods."""

    class Scale:
        factor = 2.0

        @functools.partial(jax.jit, static_argnums=(0, 2))
        def __call__(self, x: Any, power: int) -> Any:
            return self.factor * x**power

    with watch("jax"):
        double = jax.jit(lambda x: 2 * x)
        assert isinstance(double, jax.stages.Wrapped)
        assert double.lower(jnp.ones(3)).compile()(jnp.ones(3)).tolist() == [2, 2, 2]
        assert double.eval_shape(jnp.ones(3)).shape == (3,)
        assert float(Scale()(jnp.float32(3.0), 2)) == 18.0


def test_other_threads_are_left_alone() -> None:
    """Programs in several threads at once give what they give alone."""
    alone = _bits(train_compiled)
    found: list[Any] = []
    with watch("jax", tell=lambda note: None):
        threads = [threading.Thread(target=lambda: found.append(train_compiled())) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for result in found:
        leaves = jax.tree_util.tree_leaves(result)
        assert all(np.array_equal(a, np.asarray(w)) for a, w in zip(alone, leaves, strict=True))
    assert len(found) == 2


def test_a_function_that_is_gone_is_not_kept() -> None:
    """Watching does not keep alive what the program lets go of."""
    import gc
    import weakref

    with watch("jax", tell=lambda note: None):
        data = jnp.ones(3)

        def loss(w: Any) -> Any:
            return jnp.sum(w * data)

        jax.grad(loss)(jnp.ones(3))
        reference = weakref.ref(loss)
        del loss
        gc.collect()
        assert reference() is None
