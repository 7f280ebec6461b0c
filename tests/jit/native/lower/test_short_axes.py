"""Arrays with a short last axis are computed by their columns: the same numbers, with every access checked."""

import numpy as np
import pytest

import gradtape as gt
import gradtape.numpy as gnp
from gradtape.config import config
from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Value
from gradtape.jit.native.lower.ir import LoweredInstruction
from gradtape.jit.native.lower.short_axes import take_short_axes_apart
from gradtape.jit.native.runtime.function import compile_function
from gradtape.ops.elementwise import multiply

RNG = np.random.default_rng(11)
INDEX = RNG.integers(-5, 5, 50)
AXIS = np.array([0.5, 1.0, 2.0])


def unit_vectors(x, y):
    unit = x / np.sqrt(np.sum(x * x, 1, keepdims=True))
    return np.sum(unit[:, 1] * y + (unit * y[:, None])[:, 0])


def forces(x, y):
    apart = x[None] - x[:, None]
    square = np.sum(apart**2, -1) + 0.1
    return np.sum(np.sum(apart * (y * square**-1.5)[:, :, None], 1) ** 2)


def camera_like(x, y):
    rows = x[INDEX]
    scale = rows[:, 0] ** 2 + 1.0
    moved = rows[:, 0:2] * scale[:, None] + y[INDEX][:, None]
    return np.sum(moved[:, 0] / (moved[:, 1] ** 2 + 1)) + np.sum(rows[:, 2])


def mixture(x, y):
    z = (x[:, None, :] - x[None, :7]) * y[:7, None]
    inner = -0.5 * np.sum(z * z, 2)
    top = np.max(inner, 1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(inner - top), 1)) + top[:, 0])


def joined(x, y):
    columns = np.stack([x[:, 0] * y, x[:, 1], y], -1)
    longer = np.concatenate([columns * AXIS, x[:, 1:] * y[:, None]], axis=1)
    return np.sum(longer[:, ::-1][:, 1] * y) + np.sum(columns**2) + np.sum(np.max(longer, 1) * np.min(longer, 1))


def turned(x, y):
    product = np.cross(x * y[:, None], x + AXIS)
    return np.sum(product[3:, 1:] ** 2) + np.sum(product.T * y) + np.mean(np.mean(product * y[:, None], 1) ** 2)


def grouped(x, y):
    boxes = (x * y[:, None]).reshape(4, 10, 3)
    centre = np.mean(boxes, 1, keepdims=True)
    return np.sum(np.prod(boxes - centre, 2)) + np.sum(np.sum(boxes**2, axis=(0, 2)))


def written(x, y):
    out = gnp.zeros((40, 3))
    out[:, 0] = x[:, 1] * y
    out[:, 1:] += x[:, :2] * y[:, None]
    out[:, 0] *= out[:, 1]
    return gnp.sum(gnp.sum(out * out, 1) * y)


PROGRAMS = (unit_vectors, forces, camera_like, mixture, joined, turned, grouped, written)


@pytest.fixture
def checked():
    """Native code tests every access to memory, and every stage is verified."""
    before, config.check = config.check, "memory"
    yield
    config.check = before


def arguments(dtype):
    generator = np.random.default_rng(3)
    return generator.normal(size=(40, 3)).astype(dtype), generator.normal(size=40).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_gradients_are_those_of_eager_mode(program, dtype, checked):
    """Values and gradients of programs on points, rows of tables and short sums agree with eager mode."""
    x, y = arguments(dtype)
    eager, tolerance = gt.value_and_grad(program, argnums=(0, 1)), 1e-12 if dtype == "float64" else 2e-4
    (value, found), (wanted, gradients) = gt.jit(eager)(x, y), eager(x, y)
    assert value.dtype == wanted.dtype
    np.testing.assert_allclose(value, wanted, rtol=tolerance)
    for one, other in zip(found, gradients, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * np.max(np.abs(other)))


@pytest.mark.parametrize("program", PROGRAMS[:4])
def test_gradients_agree_with_finite_differences(program):
    """Compiled gradients agree with differences of the compiled values."""
    x, y = arguments("float64")
    value, gradient = gt.jit(program), gt.jit(gt.grad(program))
    direction = np.random.default_rng(4).normal(size=x.shape)
    step = 1e-6
    slope = (value(x + step * direction, y) - value(x - step * direction, y)) / (2 * step)
    np.testing.assert_allclose(np.sum(gradient(x, y) * direction), slope, rtol=1e-5)


def test_second_order_and_batches_of_short_axes(checked):
    """Hessian-vector products and batched calls compile to the numbers of eager mode."""
    x, y = arguments("float64")

    def product(x):
        return gt.jvp(gt.grad(lambda x: forces(x, y)), (x,), (np.cos(x),))[1]

    np.testing.assert_allclose(gt.jit(product)(x), product(x), rtol=1e-10, atol=1e-10)
    batch = np.stack([x, x * 2])
    many = gt.vmap(lambda x: unit_vectors(x, y))
    np.testing.assert_allclose(gt.jit(many)(batch), many(batch), rtol=1e-12)


@pytest.mark.parametrize("length", [2, 3, 5, 10, 16])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_short_sum_has_the_bits_of_a_sum_over_rows(length, dtype):
    """Columns are added up in the order in which a row is, whether or not the axis is taken apart."""
    shape = (33, length)
    x, y, z, w = (Value(i, s, np.dtype(dtype)) for i, s in enumerate([shape, (33, 1), shape, (33,)]))
    array, factor = (RNG.normal(size=v.shape).astype(dtype) for v in (x, y))
    instructions = [
        Instruction(multiply, (x, y), {}, (z,)),
        Instruction(TABLE["sum"], (z,), {"axis": (1,), "keepdims": False}, (w,)),
    ]
    (found,) = compile_function(instructions, [x, y], [w])(array, factor)
    (rows,) = compile_function(instructions[1:], [z], [w])(array * factor)
    assert np.array_equal(found, rows)


def test_an_index_out_of_range_raises_the_error_of_numpy():
    """Rows of a table that do not exist are an error in compiled code as well."""
    table, index = np.ones((5, 3)), np.full(40, 2)

    def total(table, index):
        rows = table[index]
        return np.sum(rows[:, 0] * rows[:, 1])

    compiled = gt.jit(gt.value_and_grad(total))
    np.testing.assert_allclose(compiled(table, index)[1][2], [40.0, 40.0, 0.0])
    with pytest.raises(IndexError):
        compiled(table, index + 9)


def test_arrays_without_need_stay_whole():
    """Elementwise instructions on whole contiguous arrays are left as they are."""
    x, y = (Value(i, (100, 3), np.dtype(float)) for i in range(2))
    instruction = LoweredInstruction((x, x), (y,), "multiply", {}, multiply)
    assert take_short_axes_apart([instruction], [y], {}).instructions == [instruction]


def write_short_columns(y):
    buffer = gnp.zeros((11, 4, 2, 2))
    buffer[0] = np.concatenate([np.sin(y), y])
    for t in range(10):
        buffer[t + 1] = np.sin(buffer[t]) * 0.9 + 0.1
    buffer[[0, 10, 0]] = y.sum() * 0.1
    buffer[..., -1] *= 0.89
    return (buffer * buffer).sum()


def join_short_columns(y):
    joined = np.stack([np.sin(y)[..., None] * y[..., None, :], y[..., None] * np.ones(2)], axis=-1)
    return (joined * joined * np.tanh(joined[..., 1:])).sum()


@pytest.mark.parametrize("function", [write_short_columns, join_short_columns])
def test_column_that_has_columns_itself(function, checked):
    """An array that is taken apart, and becomes one column of another one, is put together for it."""
    y = RNG.uniform(0.3, 1.2, (2, 2, 2) if function is write_short_columns else (30, 2))
    value, gradient = gt.jit(gt.value_and_grad(function))(y)
    expected, wanted = gt.value_and_grad(function)(y)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-11)
