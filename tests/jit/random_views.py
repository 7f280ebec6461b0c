"""Random compositions of views, windows, differences, paddings, reductions, sorts and gathers: compiled against eager.

Value, gradient, second derivative and forward mode, on arrays of every layout, with every access of native code to
memory checked. Run for longer than the tests do: `python -m tests.jit.random_views --programs 1000 --seed 0`.
"""

from __future__ import annotations

import argparse
import linecache
import random
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.core.pytree import leaves

from .native.fuzz import LAYOUTS, laid_out

SHAPES = [
    (7,), (40,), (70,), (4, 2), (5, 6), (3, 44), (44, 3), (6, 36), (2, 3, 4), (3, 5, 2), (2, 4, 37), (1, 9), (9, 1),
]  # fmt: skip
LARGEST = 2000  # elements
# {a} and {b} are values, {k} an axis, {i}, {j} small numbers, {s} a slice, {n} a slice along axis {k} of as many axes
UNARY = [
    "np.sin({a})", "np.tanh({a})", "{a} ** 2 * 0.5", "{a} * 0.5", "-{a}", "np.sqrt({a} * {a} + 0.3)", "1.0 - {a}",
    "np.exp(-{a} * {a})", "np.where({a} + tie({a}) > 0.1, {a}, 0.5 * {a})", "np.maximum({a} + tie({a}), 0.05)",
    "{a} / (1.5 + {a} * {a})", "np.abs({a} + tie({a}))", "{a}.astype('float32').astype(float)",
]  # fmt: skip
VIEWS = [
    "{a}[{n}]", "{a}[{n}]", "{a}[{n}]", "np.diff({a}, axis={k})", "np.diff({a}, axis={k})", "np.diff({a}, 2, axis={k})",
    "np.flip({a}, {k})", "np.swapaxes({a}, 0, {k})", "{a}.T", "{a}.reshape(-1)", "np.roll({a}, {i}, axis={k})",
    "np.lib.stride_tricks.sliding_window_view({a}, {i} + 1, axis={k})", "np.moveaxis({a}, {k}, -1)",
    "np.pad({a}, {i})", "np.pad({a}, [({i}, {j})] + [(0, 0)] * ({a}.ndim - 1))", "np.pad({a}, 1, mode='edge')",
    "np.pad({a}, 1, mode='reflect')", "np.pad({a}, 1, mode='wrap')", "np.repeat({a}, 2, axis={k})",
    "np.concatenate([{a}, {a}[::-1]], axis=0)", "np.concatenate([{a}, {a} * 0.3], axis={k})", "np.tile({a}, 2)",
    "np.stack([{a}, {a} * {a}], axis={k})", "np.expand_dims({a}, {k})", "np.squeeze({a})", "np.rot90({a})",
    "np.diagonal({a})", "np.tril({a})", "np.triu({a}, 1)", "np.broadcast_to({a}, (2, *{a}.shape))", "{a}[..., None]",
    "np.atleast_2d({a})", "np.delete({a}, {i}, axis={k})", "np.insert({a}, {i}, 0.5, axis={k})",
    "{a}.ravel()[::{i} + 1]",
]  # fmt: skip
OVERLAPS = [
    "take({a}, {k}, None, -1) * take({a}, {k}, 1, None)", "take({a}, {k}, None, -2) - take({a}, {k}, 2, None)",
    "take({a}, {k}, None, -1) ** 2 + take({a}, {k}, 1, None)", "take({a}, {k}, 1, -1) * take({a}, {k}, 2, None)",
    "(take({a}, {k}, None, -2) - 2 * take({a}, {k}, 1, -1) + take({a}, {k}, 2, None)) * 0.5",
    "take({a}, {k}, None, None, -1) * {a}", "take({a}, {k}, 1, None) / (1.2 + take({a}, {k}, None, -1) ** 2)",
]  # fmt: skip
REDUCTIONS = [
    "np.sum({a}, axis={k})", "np.sum({a}, axis={k}, keepdims=True)", "np.mean({a}, axis={k}, keepdims=True)",
    "np.mean({a}, axis={k})", "np.max({a} + tie({a}), axis={k})", "np.min({a} + tie({a}), axis={k}, keepdims=True)",
    "np.prod(0.5 * {a} + 1.0, axis={k})", "np.cumsum({a}, axis={k}) * 0.2", "np.cumsum({a}, axis={k})[{n}] * 0.3",
    "np.var({a}, axis={k}, keepdims=True)", "np.linalg.norm({a} + 2.5, axis={k})", "np.trapezoid({a}, axis={k})",
    "np.logaddexp.reduce({a}, axis={k})", "np.sum({a}) * 0.1 + {a}", "np.ptp({a} + tie({a}), axis={k})",
]  # fmt: skip
PICKS = [
    "np.sort({a} + tie({a}), axis={k})", "np.sort({a} + tie({a}), axis={k})[{n}]", "np.take({a}, [0, -1, 0], axis={k})",
    "np.take_along_axis({a}, np.argsort(np.asarray(tie({a})), axis={k}), axis={k})", "{a}[np.array([0, -1, 0, -1])]",
    "{a}[np.asarray(tie({a})) > 0.0]", "{a}[..., np.array([-1, 0])]", "np.median({a} + tie({a}), axis={k})",
    "np.partition({a} + tie({a}), 1, axis={k})[..., :1]", "np.quantile({a} + tie({a}), 0.3, axis={k})",
    "{a}[tuple(np.indices({a}.shape)[::, ..., ::-1])]", "np.compress([True] * ({a}.shape[0] - 1), {a}, axis=0)",
]  # fmt: skip
BINARY = [
    "{a} * {b}", "{a} + {b}", "{a} - 0.5 * {b}", "np.maximum({a} + tie({a}), {b})", "{a} * w[0]",
    "{a} * w[: {a}.shape[-1]]",
    "np.hypot({a}, {b} + 0.7)", "{a} @ {b}", "{a} @ {a}.T * 0.1", "np.outer({a}, {b})", "np.arctan2({a}, {b} + 2.0)",
    "np.einsum('i...,i...->...', {a}, {a})", "np.convolve({a}, {b}[:3])", "np.concatenate([{a}, {b}], axis={k})",
    "np.where(np.asarray(tie({a})) > 0, {a}, {b})", "np.tensordot({a}, {b}, 1) * 0.1",
]  # fmt: skip
FAMILIES = [UNARY, VIEWS, VIEWS, OVERLAPS, OVERLAPS, REDUCTIONS, PICKS, BINARY]


def tie(x: Any) -> Any:
    """Numbers of the shape of `x` that are far apart, so that no choice among equals depends on rounding."""
    return 0.37 * np.sin(1.0 + 2.3 * np.arange(x.size)).reshape(x.shape)


def take(x: Any, axis: int, start: int | None, stop: int | None, step: int | None = None) -> Any:
    """A slice along one axis."""
    return x[(slice(None),) * axis + (slice(start, stop, step),)]


def _slices(rng: random.Random, axis: int) -> str:
    ends = ["", "1", "2", "-1", "-2", "3"]
    steps = ["", "", "", "-1", "2", "-2"]
    one = f"{rng.choice(ends)}:{rng.choice(ends)}:{rng.choice(steps)}"
    return ", ".join([":"] * axis + [rng.choice([one, one, "::-1", "0"])])


def source(seed: int) -> tuple[str, tuple[int, ...]]:
    """The text of a function of two arrays, and the shape of the first."""
    rng = random.Random(seed)
    shape = rng.choice(SHAPES)
    names: dict[str, Any] = {"np": np, "tie": tie, "take": take, "w": np.linspace(0.5, 1.5, 80)}
    names["v0"] = np.random.default_rng(seed).uniform(-1.0, 1.0, shape)
    lines, known = [], ["v0"]
    for _ in range(40):
        if len(lines) >= 2 + seed % 6:
            break
        a, b = rng.choice(known[-3:]), rng.choice(known)
        axis = rng.randrange(max(1, names[a].ndim))
        text = rng.choice(rng.choice(FAMILIES)).format(
            a=a, b=b, k=axis, i=rng.randrange(3), j=rng.randrange(3), n=_slices(rng, axis)
        )
        try:
            with np.errstate(all="raise"), warnings.catch_warnings():
                warnings.simplefilter("error")
                made = eval(text, dict(names))
        except (ValueError, IndexError, TypeError, FloatingPointError, RuntimeWarning, np.exceptions.AxisError):
            continue  # the shapes do not go together
        if not isinstance(made, np.ndarray) or not 0 < made.size <= LARGEST or made.ndim > 4 or np.abs(made).max() > 50:
            continue
        name = f"v{len(lines) + 1}"
        names[name] = made
        known.append(name)
        lines.append(f"{name} = {text}")
    used = [name for name in known[1:] if rng.random() < 0.3]
    total = " + ".join(f"np.sum(np.sin({name} + tie({name})))" for name in dict.fromkeys([*used, known[-1]]))
    total += " + 0.01 * np.sum(w * w) + 0.01 * np.sum(v0 * v0)"  # a source that is not used would be explained
    return "\n".join(["def program(v0, w):", *(f"    {line}" for line in lines), f"    return {total}"]), shape


def function(seed: int) -> tuple[Callable[..., Any], str, tuple[int, ...]]:
    text, shape = source(seed)
    name = f"<random views {seed}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    names: dict[str, Any] = {"np": np, "tie": tie, "take": take}
    exec(compile(text, name, "exec"), names)
    program: Callable[..., Any] = names["program"]
    return program, text, shape


def asked(program: Callable[..., Any], kind: int) -> Callable[..., Any]:
    """What is compiled: the value, the gradient, a second derivative, or a directional derivative."""
    if kind == 0:
        return program
    if kind == 1:
        return gt.value_and_grad(program, argnums=(0, 1))
    if kind == 2:
        return gt.grad(lambda v0, w: np.sum(gt.grad(program)(v0, w) * tie(v0)))
    return lambda v0, w: gt.jvp(program, (v0, w), (tie(v0), w * 0.5))


KINDS = (0, 1, 1, 1, 2, 2, 3)


def check(seed: int) -> None:
    """One call of the compiled function, and one more on other numbers, against the function itself."""
    program, text, shape = function(seed)
    rng = np.random.default_rng(seed)
    x = laid_out(rng.uniform(-1.0, 1.0, shape), LAYOUTS[seed % len(LAYOUTS)], rng)
    w = laid_out(rng.uniform(0.5, 1.5, 80), LAYOUTS[seed // 8 % len(LAYOUTS)], rng)
    kind = KINDS[seed % len(KINDS)]
    plain = asked(program, kind)
    compiled = gt.jit(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in (x, x * 0.9):
            wanted = [np.asarray(one) for one in leaves(plain(given, w))]
            found = [np.asarray(one) for one in leaves(compiled(given, w))]
            scale = max(float(np.max(np.abs(one), initial=1.0)) for one in wanted)
            for one, other in zip(wanted, found, strict=True):
                message = f"seed {seed}, kind {kind}\n{text}"
                assert (one.shape, one.dtype) == (other.shape, other.dtype), message
                if "float32" in text:
                    np.testing.assert_allclose(other, one, rtol=1e-3, atol=1e-3 * scale, err_msg=message)
                else:
                    np.testing.assert_allclose(other, one, rtol=1e-7, atol=1e-9 * scale, err_msg=message)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    gt.config.check = "memory"
    begin, wrong = time.monotonic(), 0
    for seed in range(options.seed, options.seed + options.programs):
        try:
            check(seed)
        except Exception as error:  # every kind of disagreement counts, and the next seed is tried
            wrong += 1
            print(f"seed {seed}: {type(error).__name__}: {error}\n{source(seed)[0]}", flush=True)
        done = seed - options.seed + 1
        if done % 500 == 0:
            print(f"{done} programs, {wrong} wrong, {time.monotonic() - begin:.0f} s", flush=True)
    print(f"{options.programs} programs from seed {options.seed}, {wrong} wrong, {time.monotonic() - begin:.0f} s")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
