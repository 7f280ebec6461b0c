"""Which number comes out where mathematics leaves a choice, and in which dtype."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import gradtape as gt


def slope(function: Callable[[Any], Any], value: Any) -> Any:
    """The gradient of the sum of `function` at `value`."""
    return gt.grad(lambda x: np.sum(function(x)))(np.asarray(value))


class TestSubgradients:
    """Of several possible derivatives the one of least norm."""

    def test_ties_in_max_share_equally(self) -> None:
        """n tied elements get 1/n each."""
        np.testing.assert_allclose(slope(np.max, [1.0, 3.0, 3.0, 3.0]), [0.0, 1 / 3, 1 / 3, 1 / 3])
        np.testing.assert_allclose(slope(np.min, [1.0, 1.0, 3.0]), [0.5, 0.5, 0.0])

    def test_ties_along_an_axis(self) -> None:
        """Each slice shares among its own ties."""
        value = np.array([[2.0, 2.0, 1.0], [0.0, 5.0, 1.0]])
        expected = [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
        np.testing.assert_array_equal(slope(lambda x: np.max(x, axis=1), value), expected)

    @pytest.mark.parametrize("choice", [np.maximum, np.minimum])
    def test_maximum_against_a_constant(self, choice: Any) -> None:
        """`maximum(x, 0)` at 0 is one half."""
        assert slope(lambda x: choice(x, 0.0), 0.0) == 0.5

    @pytest.mark.parametrize("choice", [np.maximum, np.minimum, np.fmax, np.fmin])
    def test_maximum_of_two(self, choice: Any) -> None:
        """Two tied tensors share equally, and the winner takes all elsewhere."""
        x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])
        for_x, for_y = gt.grad(lambda x, y: np.sum(choice(x, y)), argnums=(0, 1))(x, y)
        np.testing.assert_array_equal(for_x + for_y, [1.0, 1.0, 1.0])
        assert for_x[1] == for_y[1] == 0.5
        assert for_x[0] == for_y[2]
        assert {for_x[0], for_x[2]} == {0.0, 1.0}

    @pytest.mark.parametrize(
        ("function", "expected"),
        [
            (np.abs, 0.0),
            (np.fabs, 0.0),
            (gt.relu, 0.0),
            (lambda x: np.maximum(x, -x), 0.0),
            (lambda x: np.clip(x, 0.0, 1.0), 1.0),
            (lambda x: np.clip(x, -1.0, 0.0), 1.0),
            (lambda x: np.hypot(x, 0.0), 0.0),
            (np.sqrt, np.inf),
            (np.cbrt, np.inf),
            (lambda x: x**0.5, np.inf),
            (lambda x: x**2, 0.0),
            (lambda x: x**1, 1.0),
            (lambda x: x**0, 0.0),
        ],
    )
    def test_at_zero(self, function: Callable[[Any], Any], expected: float) -> None:
        """abs, relu and norms are flat at 0, a bound counts as inside, a root is infinitely steep and says so."""
        with gt.expect("GT402") if expected == np.inf else nullcontext():
            assert slope(function, 0.0) == expected

    def test_norm_at_zero(self) -> None:
        """The norm of a zero vector has a gradient of zeros."""
        np.testing.assert_array_equal(slope(gt.norm, np.zeros(3)), np.zeros(3))
        rows = slope(lambda x: gt.norm(x, axis=1), [[0.0, 0.0], [3.0, 4.0]])
        np.testing.assert_allclose(rows, [[0.0, 0.0], [0.6, 0.8]])
        np.testing.assert_array_equal(slope(np.linalg.norm, np.zeros(3)), np.zeros(3))

    def test_power_with_a_tracked_exponent(self) -> None:
        """0 ** y has derivative 0 in y, and x ** y the logarithm."""
        for_y = gt.grad(lambda y: np.sum(np.array([0.0, 2.0]) ** y))(np.array([2.0, 3.0]))
        np.testing.assert_allclose(for_y, [0.0, 8.0 * np.log(2.0)])


class TestWhere:
    """The branch that is not taken."""

    def test_each_branch_gets_its_places(self) -> None:
        """The gradient goes where the value came from."""
        value = np.array([-1.0, 2.0])
        np.testing.assert_array_equal(slope(lambda x: np.where(x > 0, x * 3.0, x * 5.0), value), [5.0, 3.0])

    def test_double_where_is_finite(self) -> None:
        """With the inner argument made safe, nothing but numbers comes out, in silence."""
        safe = slope(lambda x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0), [-1.0, 0.0, 4.0])
        np.testing.assert_array_equal(safe, [0.0, 0.0, 0.25])

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: np.where(x > 0, np.sqrt(np.abs(x)), x),
            lambda x: np.where(x > 0, np.log(np.abs(x)), x),
            lambda x: np.where(x == 0, 1.0, np.sin(x) / x),
        ],
    )
    def test_no_silent_nan(self, function: Callable[[Any], Any]) -> None:
        """A NaN from the branch not taken does not leak without a word."""
        x = gt.Variable([0.0, 4.0])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with gt.GradientTape() as tape:
                y = np.sum(function(x))
            gradient = tape.gradient(y, x).numpy()
        spoken = [w for w in caught if issubclass(w.category, gt.GradientWarning)]
        assert np.all(np.isfinite(gradient)) or spoken


class TestOrder:
    """Through the permutation."""

    def test_sort(self) -> None:
        """The gradient of a sorted array returns to where each element was."""
        weights = np.array([1.0, 10.0, 100.0])
        np.testing.assert_array_equal(slope(lambda x: np.sort(x) * weights, [3.0, 1.0, 2.0]), [100.0, 1.0, 10.0])

    def test_median(self) -> None:
        """The middle element, or half each of the two in the middle."""
        np.testing.assert_array_equal(slope(np.median, [3.0, 1.0, 2.0]), [0.0, 0.0, 1.0])
        np.testing.assert_array_equal(slope(np.median, [3.0, 1.0, 2.0, 9.0]), [0.5, 0.0, 0.5, 0.0])

    def test_quantile(self) -> None:
        """The two neighbours share by their distance."""
        np.testing.assert_allclose(slope(lambda x: np.quantile(x, 0.25), [3.0, 1.0, 2.0]), [0.0, 0.5, 0.5])

    def test_take_along_axis_of_argsort(self) -> None:
        """Positions have no gradient; the elements at them have."""
        weights = np.array([1.0, 10.0, 100.0])
        gradient = slope(lambda x: np.take_along_axis(x, np.argsort(x), -1) * weights, [3.0, 1.0, 2.0])
        np.testing.assert_array_equal(gradient, [100.0, 1.0, 10.0])


class TestComplex:
    """The gradient points where a real result grows fastest."""

    @pytest.mark.parametrize(
        ("function", "gradient"),
        [
            (lambda z: np.abs(z) ** 2, lambda z: 2 * z),
            (lambda z: np.real(z), lambda z: 1.0 + 0j),
            (lambda z: np.imag(z), lambda z: 1j),
            (lambda z: np.real(z * z), lambda z: np.conj(2 * z)),
            (lambda z: np.abs(z), lambda z: z / abs(z)),
            (lambda z: np.real(np.exp(z)), lambda z: np.conj(np.exp(z))),
            (lambda z: np.real(z * np.conj(z)), lambda z: 2 * z),
        ],
    )
    def test_direction_of_steepest_ascent(self, function: Callable[[Any], Any], gradient: Callable[[Any], Any]) -> None:
        """df/dx + i df/dy, the conjugate convention."""
        z = 0.6 - 1.7j
        answer = gt.grad(function)(np.complex128(z))
        np.testing.assert_allclose(answer, gradient(z))
        step = 1e-6
        numeric = (function(z + step) - function(z - step)) / (2 * step)
        numeric = numeric + 1j * (function(z + 1j * step) - function(z - 1j * step)) / (2 * step)
        np.testing.assert_allclose(answer, numeric, rtol=1e-8)

    def test_a_step_along_the_gradient_climbs(self) -> None:
        """What gradient ascent needs."""
        z = gt.Variable(np.complex128(1.0 - 2.0j))
        with gt.GradientTape() as tape:
            y = np.abs(z * z + 1.0)
        better = z.numpy() + 1e-3 * tape.gradient(y, z).numpy()
        assert abs(better**2 + 1.0) > float(y)

    def test_real_source_of_a_complex_computation(self) -> None:
        """A real source has a real gradient, in its own dtype."""
        x = gt.tensor([1.0, 2.0], requires_grad=True)
        np.sum(np.abs(x * (3.0 + 4.0j))).backward()
        assert x.grad.dtype == np.float64
        np.testing.assert_allclose(x.grad.numpy(), [5.0, 5.0])


class TestDtypes:
    """float32 stays float32."""

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: x * 2.0 + 1,
            lambda x: 1 / (x + 2) - 3.0**x,
            lambda x: x**2 + x**0.5,
            lambda x: np.maximum(x, 0.0) + np.clip(x, 0.0, 1.0) + np.where(x > 0, x, 0.0),
            lambda x: np.exp(np.sin(x)) / np.sqrt(x + 1),
            lambda x: x.mean() + x.var() + x.std() + np.max(x) + np.prod(x),
            lambda x: gt.softmax(x) * gt.log_softmax(x) + gt.relu(x) + gt.sigmoid(x) + gt.softplus(x),
            lambda x: x @ x + np.einsum("i,i->", x, x) + np.outer(x, x),
            lambda x: np.cumsum(x) + np.concatenate([x[:1], x[1:]]) + x[[0, 0, 1]],
            lambda x: gt.at(x)[0].set(5.0) + gt.at(x)[0].add(1.0),
            lambda x: np.abs(x) + np.hypot(x, 1.0) + np.arctan2(x, 2.0) + np.logaddexp(x, 0.0),
        ],
    )
    def test_float32_all_the_way(self, function: Callable[[Any], Any]) -> None:
        """Values, gradients, Jacobians and tangents of float32 are float32; Python scalars do not widen them."""
        x = np.array([0.5, 1.5, 2.5], np.float32)
        value, pull_back = gt.vjp(function, x)
        assert value.dtype == np.float32
        assert pull_back(np.ones(value.shape, np.float32))[0].dtype == np.float32
        assert gt.jacobian(function)(x).dtype == np.float32
        assert gt.jvp(function, (x,), (np.ones_like(x),))[1].dtype == np.float32

    def test_cotangents_on_the_way_are_float32(self) -> None:
        """Not only the ends: what passes every node has the node's dtype."""
        seen: list[Any] = []
        x = gt.tensor([1.0, 2.0], dtype=np.float32, requires_grad=True)
        h = x * 2.0
        k = np.sin(h) / 3.0
        for node in (h, k):
            node.register_hook(lambda g: seen.append(g.dtype))
        (k * 0.5).mean().backward()
        assert seen == [np.float32, np.float32]

    def test_numpy_promotion_otherwise(self) -> None:
        """A float64 array or scalar promotes the value; the gradient comes back as float32."""
        x = gt.tensor([1.0, 2.0], dtype=np.float32, requires_grad=True)
        assert (x * np.ones(2)).dtype == np.float64
        assert (x * np.float64(2.0)).dtype == np.float64
        assert (x * np.float32(2.0)).dtype == np.float32
        assert (x * gt.tensor([1, 2])).dtype == np.float64
        assert (x + 1j).dtype == np.complex64
        (x * np.ones(2)).sum().backward()
        assert x.grad.dtype == np.float32

    def test_integers_take_part_as_constants(self) -> None:
        """Integer and boolean tensors multiply, index and choose without a gradient of their own."""
        x, counts = gt.tensor([1.0, 2.0], requires_grad=True), gt.tensor([3, 4])
        mask = gt.tensor([True, False])
        y = (x * counts).sum() + x[counts - 3].sum() + np.where(mask, x, 0.0).sum()
        y.backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3.0 + 1.0 + 1.0, 4.0 + 1.0])

    def test_casts_between_floats_pass_the_gradient(self) -> None:
        """A cast to float32 and back is differentiated; the gradient has the source's dtype."""
        x = gt.tensor([1.0, 2.0], requires_grad=True)
        y = (x.astype(np.float32) ** 2).sum()
        assert y.dtype == np.float32
        y.backward()
        assert x.grad.dtype == np.float64
        np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0])


def strided(value: Any) -> Any:
    """A view with zero strides: one row repeated."""
    return np.broadcast_to(np.asarray(value), (3, len(value)))


LAYOUTS = {
    "empty": np.empty((0,)),
    "empty rows": np.empty((0, 3)),
    "empty columns": np.empty((3, 0)),
    "zero-dimensional": np.array(0.7),
    "NumPy scalar": np.float64(0.7),
    "zero-strided": strided([0.1, 0.2]),
    "non-contiguous": np.linspace(0.0, 1.0, 24).reshape(4, 6)[::2, 1::2],
    "negative strides": np.linspace(0.0, 1.0, 6)[::-1],
    "Fortran-ordered": np.asfortranarray(np.linspace(0.0, 1.0, 6).reshape(2, 3)),
    "transposed": np.linspace(0.0, 1.0, 6).reshape(2, 3).T,
    "read-only": strided([0.3, 0.4])[0],
    "big-endian": np.linspace(0.0, 1.0, 3).astype(">f8"),
}


@pytest.mark.parametrize("name", LAYOUTS)
class TestLayouts:
    """Inputs of every kind of memory."""

    def test_gradient(self, name: str) -> None:
        """The gradient of sum(sin(x) x) in the shape of x."""
        x = LAYOUTS[name]
        gradient = gt.grad(lambda x: np.sum(np.sin(x) * x))(x)
        assert np.shape(gradient) == np.shape(x)
        np.testing.assert_allclose(gradient, np.cos(x) * x + np.sin(x))

    def test_as_constant(self, name: str) -> None:
        """The array beside the tensor may have any layout, too."""
        x = LAYOUTS[name]
        w = gt.Variable(np.ones(np.shape(x)))
        with gt.GradientTape() as tape:
            y = np.sum(x * w * w)
        np.testing.assert_allclose(tape.gradient(y, w).numpy(), 2 * x)

    def test_jacobian_and_second_order(self, name: str) -> None:
        """Jacobians and Hessians have doubled shapes, empty ones included."""
        x = LAYOUTS[name]
        shape = np.shape(x)
        jacobian = gt.jacobian(np.sin)(x)
        assert np.shape(jacobian) == shape + shape
        size = int(np.prod(shape))
        np.testing.assert_allclose(np.reshape(jacobian, (size, size)), np.diag(np.cos(np.ravel(x))))
        with gt.GradientTape() as tape:
            watched = tape.watch(x)
            y = np.sin(watched)
        np.testing.assert_allclose(tape.jacobian(y, watched).numpy(), jacobian)
        hessian = gt.hessian(lambda x: np.sum(np.sin(x)))(x)
        np.testing.assert_allclose(np.reshape(hessian, (size, size)), -np.diag(np.sin(np.ravel(x))), atol=1e-15)
