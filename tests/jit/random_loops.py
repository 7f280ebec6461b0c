"""Random loops in plain Python, compiled against eager: states, rows, numbers that advance, and what ends a loop early.

Run for longer than the tests do: `python -m tests.jit.random_loops --minutes 5 --seed 1000`.
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

STEPS = [55, 60, 77, 120, 300]
EXPRESSIONS = [
    "np.sin({a})", "{a} * 0.5 + {b} * 0.25", "np.tanh({a} - {b})", "{a} * x[{i}] * 0.3", "0.1 * {a} - 0.01",
    "np.maximum({a}, 0.1) * 0.5", "-{a} * 0.5", "{a} / (1.5 + {b} * {b})", "np.exp(-{a} * {a})", "y[t % 40] * {a}",
    "{a} * (0.01 * t) / (1 + t)", "abs({a}) * 0.5", "np.hypot({a}, 0.3) * 0.5", "({a} + 1.0) ** 2 * 0.1", "2 * {a} / 3",
    "np.sqrt({a} * {a} + 0.1)", "np.where({a} > 0.2, {a}, {b})", "0.5 * np.cos({a}) + 0 * {b}", "{a} - y[t % 90]",
]  # fmt: skip
ENDINGS = [
    "kept.append(s0)", "if t == {t}: extra = s0", "if t % {n} == 5: kept.append(s0)", "if t == {t}: break",
    "if t == {t}: s0 = s0 + 1.0", "if np.sum(s0) > 1e9: break", "if t == {t}: s0 = gt.stop_gradient(s0)",
    "if t == {t}: continue", "extra = extra * 0.5 + np.sum(s0)", "unused = s0 * 3.0", "before = s0", "pass", "pass",
]  # fmt: skip


def source(seed: int) -> str:
    """The text of a function of two arrays."""
    rng = random.Random(seed)
    are_arrays, states = rng.random() < 0.4, [f"s{i}" for i in range(rng.randint(1, 4))]
    lines = [f"{name} = x[{i}:{i} + 3]" if are_arrays else f"{name} = x[{i}]" for i, name in enumerate(states)]
    lines.append("kept, extra, before = [], x[0], s0")
    for _ in range(rng.choice([1, 1, 2])):
        steps = rng.choice(STEPS)
        lines.append(f"for t in range({steps}):")
        known = [*states, "before"]
        body = []
        for k in range(rng.randint(1, 8)):
            form = rng.choice(EXPRESSIONS)
            body.append(f"v{k} = " + form.format(a=rng.choice(known), b=rng.choice(known), i=rng.randint(0, 5)))
            known.append(f"v{k}")
        changed = [name for name in states if rng.random() < 0.8]
        body += [f"{name} = np.tanh({rng.choice(known)}) + 0.1 * {rng.choice(states)}" for name in changed]
        ending = rng.choice(ENDINGS).format(t=rng.randrange(steps), n=rng.randint(20, 200))
        body.insert(rng.randint(0, len(body)), ending)
        lines += [f"    {line}" for line in body]
    lines.append("out = np.sum(extra) + np.sum(before) + " + " + ".join(f"np.sum({s} * {s})" for s in states))
    lines += ["for k in kept:", "    out = out + np.sum(k) * 0.1", "return out"]
    return "\n".join(["def loop(x, y):", *(f"    {line}" for line in lines)])


def function(seed: int) -> Callable[..., Any]:
    text, name = source(seed), f"<random loop {seed}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    names: dict[str, Any] = {"np": np, "gt": gt}
    exec(compile(text, name, "exec"), names)
    loop: Callable[..., Any] = names["loop"]
    return loop


def asked(loop: Callable[..., Any], kind: int) -> Callable[..., Any]:
    """What is compiled: the function, its gradient, a second derivative, or a gradient by a tape."""
    if kind == 0:
        return loop
    if kind == 1:
        return gt.value_and_grad(loop, argnums=(0, 1))
    if kind == 2:
        return gt.grad(lambda x, y: np.sum(gt.grad(loop)(x, y) * np.arange(8) * 0.1))

    def taped(x: Any, y: Any) -> Any:
        x, y = gt.tensor(x), gt.tensor(y)
        with gt.GradientTape() as tape:
            tape.watch([x, y])
            out = loop(x, y)
        return out, tape.gradient(out, [x, y], unconnected_gradients="zero")

    return taped


def check(seed: int) -> None:
    """Two calls on the same numbers, and one on others."""
    rng = np.random.default_rng(seed)
    dtype, rtol = (np.float32, 2e-3) if seed % 5 == 0 else (np.float64, 1e-9)
    x, y = rng.uniform(-1, 1, 8).astype(dtype), rng.uniform(-1, 1, 90).astype(dtype)
    plain = asked(function(seed), seed % 4)
    compiled = gt.jit(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in (x, x, x * dtype(0.9)):
            wanted, found = leaves(plain(given, y)), leaves(compiled(given, y))
            for one, other in zip(wanted, found, strict=True):
                one, other = np.asarray(one), np.asarray(other)
                assert (one.shape, one.dtype) == (other.shape, other.dtype), source(seed)
                scale = max(float(np.abs(one).max()), 1e-3 if dtype is np.float64 else 1.0)
                if np.isfinite(scale):
                    np.testing.assert_allclose(other, one, rtol=rtol, atol=rtol * scale, err_msg=source(seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args()
    gt.config.check = "memory"
    end, seed = time.monotonic() + 60 * options.minutes, options.seed
    while time.monotonic() < end:
        check(seed)
        seed += 1
    print(f"{seed - options.seed} loops, nothing found; the next seed is {seed}")


if __name__ == "__main__":
    main()
