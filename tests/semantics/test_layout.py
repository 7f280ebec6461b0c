"""Results lie in memory as NumPy's do: on that depends whether `ravel` and `reshape` of them are views or copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
import gradtape.numpy as gnp
from gradtape.ops import indexed_update

EXPRESSIONS = """
y.T.copy()
y.copy(order="F")
np.copy(y.T)
np.copy(y, order="F")
y.T + 0
np.exp(y.T)
y.T.astype(np.float32)
np.zeros_like(y.T)
np.empty_like(y.T)
np.ones_like(y.T, order="C")
np.full_like(y.T, 1.0)
np.sort(y.T)
np.sort(y.T, axis=0)
np.partition(y.T, 1)
np.pad(y.T, 1)
np.pad(y.T, 1, mode="edge")
np.insert(y.T, 0, 1.0, axis=0)
np.gradient(y.T)[0]
np.select([y.T > 1], [y.T])
np.cross(y.T, y.T[::-1])
np.concatenate([y.T, y.T])
np.stack([y.T, y.T])
np.where(y.T > 1, y.T, 0)
np.roll(y.T, 1, 0)
np.take(y.T, [0, 1], axis=0)
y.T[[0, 1]]
y.T[:, [0, 1]]
np.clip(y.T, 0, 1)
y.T @ y
np.tile(y.T, 2)
np.repeat(y.T, 2, 0)
np.cumsum(y.T, 0)
np.triu(y.T)
""".strip().splitlines()
CONVERSIONS = """
np.array(y.T)
np.array(y.T, order="C")
np.array([y.T, y.T])
np.asarray(y.T, order="C")
np.ascontiguousarray(y.T)
np.asfortranarray(y)
""".strip().splitlines()
DATA = np.arange(1.0, 10.0).reshape(3, 3)


def layout(array: Any) -> tuple[bool, bool]:
    return array.flags.c_contiguous, array.flags.f_contiguous


@pytest.mark.parametrize("namespace", [np, gnp], ids=["numpy", "gradtape.numpy"])
@pytest.mark.parametrize("expression", [*EXPRESSIONS, *CONVERSIONS])
def test_results_lie_in_memory_as_those_of_numpy(expression: str, namespace: Any) -> None:
    """The same order of the axes, for a tensor as for an array."""
    if namespace is np and expression in CONVERSIONS:
        pytest.skip("plain NumPy does not dispatch a conversion: it is refused, GT312")
    wanted = eval(expression, {"np": np, "y": DATA.copy()})
    found = eval(expression, {"np": namespace, "y": gt.tensor(DATA, requires_grad=True)})
    assert layout(found._array) == layout(wanted)


@pytest.mark.parametrize(
    "expression", ["y.T.copy()", "np.sort(y.T)", "np.insert(y.T, 0, 1.0, axis=0)", "np.pad(y.T, 1)"]
)
@pytest.mark.parametrize("is_compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("transform", [lambda f: f, gt.grad], ids=["value", "gradient"])
def test_a_write_is_seen_through_what_numpy_calls_a_view(expression: str, transform: Any, is_compiled: bool) -> None:
    """`ravel` of a copy of a transposed array is a view of it, and `ravel` of an array in the order F is none."""
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(y):\n    v = {expression}\n    w = v.ravel()\n    v[0] += y[0, 0]\n    return (w * w).sum()", scope)
    program = scope["f"]

    def without_writes(y: Any) -> Any:
        v = eval(expression, {"np": np, "y": y})
        is_view = eval(expression, {"np": np, "y": DATA.copy()}).flags.c_contiguous
        first = np.zeros(v.shape)
        first[0] = 1.0
        return ((v + first * y[0, 0] if is_view else v) ** 2).sum()

    y = gt.tensor(DATA)
    run = gt.jit(transform(program)) if is_compiled else transform(program)
    assert np.allclose(run(y), transform(without_writes)(y))


class TestMemoryIsReused:
    """A write goes into the memory of the tensor where nothing else refers to it."""

    @pytest.fixture(autouse=True)
    def own_writes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A stand-in that was imported may have put a function of its own in the place of this one."""
        monkeypatch.setattr(gt.Tensor, "_replace", indexed_update._REPLACE)

    def test_alone(self) -> None:
        """Nothing else holds it, or only its views, which see the write."""
        x = gt.zeros(6)
        address = x._array.ctypes.data
        view = x[2:5]
        x[3] = 2.0
        assert x._array.ctypes.data == address
        assert view.numpy().tolist() == [0.0, 2.0, 0.0]

    def test_referred_to(self) -> None:
        """An array that was handed out, a view's that was, and what a rule has saved stay as they are."""
        x = gt.zeros(3)
        held = x._array
        x[0] = 1.0
        assert held.tolist() == [0.0, 0.0, 0.0]
        view = x[1:]
        seen = view._array
        x[1] = 5.0
        assert seen.tolist() == [0.0, 0.0]
        start = gt.tensor([1.0, 2.0], requires_grad=True)
        y = start * 2.0
        z = y * y
        y[0] = 0.0
        z.sum().backward()
        assert start.grad.numpy().tolist() == [8.0, 16.0]


READINGS = """
y[[0, 1]]
y[:, [0, 1]]
y.T[[0, 1], 1:]
y[[[0], [1]], [1, 2]]
(y[None] * y[:, None])[[0, 1], :, [0, 1]]
np.moveaxis(y[None] * y[:, None], 2, 0)[:, [0, 1], [1, 0]]
y[np.array([True, False, True])]
y[0, [0, 2]]
y[[0, 1], [1, 2]]
y[0][np.array([True, False, True])]
y.ravel()[[1, 2, 5]]
np.compress([True, False, True], y.T, axis=1)
np.take(y.T, [0, 1], axis=1)
y[i]
y.T[i]
y.T[:, i]
""".strip().splitlines()


@pytest.mark.parametrize("is_compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("expression", [*EXPRESSIONS, *READINGS])
def test_layouts_inside_vmap(expression: str, is_compiled: bool) -> None:
    """Each example of a batch has the layout that it would have alone."""
    expression = expression.replace("np.empty_like", "np.zeros_like")  # which has numbers to compare
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(y, i):\n    v = {expression}\n    w = v.ravel()\n    v[...] += 1.0\n    return w", scope)
    program = scope["f"]
    batch, places = np.stack([DATA, 2.0 * DATA]), np.array([[0, 2], [1, 0]])
    wanted = np.stack([program(*example) for example in zip(batch.copy(), places, strict=True)])
    batched = gt.vmap(program)
    np.testing.assert_allclose((gt.jit(batched) if is_compiled else batched)(batch, places), wanted, rtol=1e-12)
