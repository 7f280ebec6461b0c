"""Small programs built by hand: rows of the operation table by name, and what their kernels make of arrays."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from functools import cache

import numpy as np

import gradtape.ops
import gradtape.ops.special
from gradtape.core.operation import Op
from gradtape.jit.ir.program import Instruction, Literal, Value
from gradtape.jit.native.backend import NativeBackend
from gradtape.jit.native.runtime.function import compile_function
from gradtape.jit.runtime.schedule import schedule


@cache
def table():
    """Every row of the chapters that native code knows, by name."""
    modules = [importlib.import_module(f"gradtape.ops.{m}") for m in CHAPTERS]
    special = gradtape.ops.special
    modules += [importlib.import_module(f"{special.__name__}.{m.name}") for m in pkgutil.iter_modules(special.__path__)]
    rows = {}
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, Op):
                rows.setdefault(value.name, value)
    return rows


CHAPTERS = (
    "elementwise",
    "reductions",
    "softmax",
    "comparison",
    "introspection",
    "shaping",
    "conversion",
    "emath",
    "indexing",
)
CHAPTERS += ("rearranging", "products", "cumulative", "joining", "einsum", "convolution_ops", "pooling_ops")
# SciPy rounds x * x before it takes the exponential: some hundred ulp, and 0 where the result is subnormal
LOOSE = {"erfc": 1024, "erfcx": 1024, "ndtr": 1024, "log_ndtr": 1024}
# between two poles, where the answer is near zero, digits are lost here and there
LOOSE |= {"gammaln": 1024, "psi": 1024}


class Builder:
    """Writes instructions down, one after the other."""

    def __init__(self):
        self.instructions, self.inputs, self.values = [], [], []

    def input(self, shape, dtype="float64"):
        value = Value(len(self.values), tuple(shape), np.dtype(dtype))
        self.inputs.append(value)
        self.values.append(value)
        return value

    def __call__(self, name, *operands, **params):
        op = table()[name]
        ones = [np.ones(x.shape, x.dtype) if isinstance(x, Value) else x for x in operands]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a mean of nothing
            found = np.asarray(op.kernel(*ones, **params))
        result = Value(len(self.values), found.shape, found.dtype)
        wrapped = tuple(x if isinstance(x, Value) else Literal(x) for x in operands)
        self.instructions.append(Instruction(op, wrapped, params, (result,)))
        self.values.append(result)
        return result

    def group(self, *outputs, **options):
        return compile_function(self.instructions, self.inputs, outputs, **options)


def native_steps(program):
    """The steps of a program for native code."""
    backend = NativeBackend()
    return schedule(backend.prepare(program), backend)


def by_kernel(instruction, known):
    """What the NumPy kernel gives, with the operands' arrays taken from `known`."""
    with np.errstate(all="ignore"):
        operands = [known[x] if isinstance(x, Value) else x.value for x in instruction.operands]
        found = np.asarray(instruction.op.kernel(*operands, **instruction.params))
        return found.astype(found.dtype.newbyteorder("="))


def by_kernels(builder, arrays, outputs):
    known = dict(zip(builder.inputs, arrays, strict=True))
    for instruction in builder.instructions:
        known[instruction.results[0]] = by_kernel(instruction, known)
    return [known[value] for value in outputs]


def assert_close(instruction, found, expected, known):
    """Equal to a few ulp; for sums relative to the sum of magnitudes, as rounding errors are."""
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    if expected.dtype.kind != "f":
        assert np.array_equal(found, expected), instruction
        return
    epsilon = LOOSE.get(instruction.name, 8) * np.finfo(expected.dtype).eps
    scale = np.abs(expected)
    if instruction.name in ("sum", "mean", "matmul", "scatter"):
        with np.errstate(all="ignore"):
            magnitudes = {value: np.abs(known[value].astype(float)) for value in instruction.values}
            scale = by_kernel(instruction, magnitudes) + 0.0
            # a sum may pass through infinity in one order and not in another
            expected = np.where(scale < np.finfo(expected.dtype).max / 4, expected, np.nan)
            found = np.where(scale < np.finfo(expected.dtype).max / 4, found, np.nan)
    if instruction.name in ("softmax", "log_softmax", "logsumexp"):
        epsilon = 16 * epsilon
        given = known[instruction.values[0]].astype(float)
        scale = scale + np.max(np.abs(given), initial=1.0, where=np.isfinite(given))
    if instruction.name == "gammaln":  # SciPy's is infinite where its argument is subnormal
        tiny_argument = np.abs(known[instruction.values[0]]) < np.finfo(expected.dtype).smallest_normal
        found, expected = (np.where(tiny_argument, 0.0, x) for x in (found, expected))
        scale = np.maximum(scale, 1 / 1024)  # and loses its digits near 1 and 2, where it is 0
    if instruction.name == "prod":
        epsilon = epsilon * (4 + known[instruction.values[0]].size)
    finite = np.isfinite(expected)
    assert np.array_equal(np.isnan(found), np.isnan(expected)), instruction
    with np.errstate(all="ignore"):
        limits = np.finfo(expected.dtype)
        tiny = limits.smallest_normal if instruction.name in LOOSE else 8 * limits.smallest_subnormal
        close = np.abs(found - expected) <= np.maximum(epsilon * scale, tiny)
    assert np.where(finite, close, (found == expected) | np.isnan(expected)).all(), instruction
