"""
More rows than memory, on Dask
==============================

A logistic regression over rows whose chunks are made, used and forgotten one after the other: they are never in
memory together. The loss is written as for arrays; ``gt.distributed`` puts value, gradient and Hessian together from
the chunks of Dask arrays, with the same bits however many threads or workers there are.

The Hessian at the end gives standard errors, and the memory of the process tells that it kept what it promised.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

FEATURES, CHUNK = 20, 10_000
TRUTH = np.random.default_rng(0).normal(size=FEATURES) / np.sqrt(FEATURES)

# %%
# The rows
# --------
# Each chunk is made when it is needed, as a program of your own would read it from a file, and is the same each time.


def make_chunk(block_info=None):
    place = block_info[None]
    rng = np.random.default_rng([1, place["chunk-location"][0]])
    x = rng.normal(size=(place["chunk-shape"][0], FEATURES))
    y = np.sign(x @ TRUTH + rng.logistic(size=len(x)))
    return np.hstack([x, y[:, None]])


def loss(w, rows):
    return np.mean(np.logaddexp(0.0, -rows[:, FEATURES] * (rows[:, :FEATURES] @ w)))


# %%
# The fit
# -------
# Newton's method: few passes, and each of them as cheap as the rows are to read. Memory is measured by
# ``tracemalloc``, which NumPy tells of its arrays.


def newton(rows, on, compiled, passes=6):
    value_and_grad = gt.distributed.value_and_grad(loss, reduction="mean", on=on, jit=compiled)
    curvature = gt.distributed.hessian(loss, reduction="mean", on=on, jit=compiled)
    w, history = np.zeros(FEATURES), []
    for _ in range(passes):
        value, gradient = value_and_grad(w, rows)
        history.append((float(value), float(np.abs(gradient).max())))
        if history[-1][1] < 1e-10:
            break
        hessian = curvature(w, rows)
        w = w - np.linalg.solve(hessian, gradient)
    return w, hessian, history


def solve(compiled: bool = True, rows: int = 800_000) -> dict[str, Any]:
    import tracemalloc

    import dask.array as da

    chunks = (rows // CHUNK) * (CHUNK,) + ((rows % CHUNK,) if rows % CHUNK else ())
    data = da.map_blocks(make_chunk, chunks=(chunks, FEATURES + 1), dtype=float, meta=np.zeros((0, FEATURES + 1)))
    tracemalloc.start()
    w, hessian, history = newton(data, "threads", compiled)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    few = data[: 8 * CHUNK]
    same = np.array_equal(newton(few, "threads", compiled, 2)[0], newton(few, "synchronous", compiled, 2)[0])
    errors = np.sqrt(np.diag(np.linalg.inv(rows * hessian)))
    off = float(np.max(np.abs(w - TRUTH) / errors))
    return {
        "result": f"{data.nbytes / 1e6:.0f} MB of rows with {peak / 1e6:.0f} MB of memory; "
        f"coefficients within {off:.1f} standard errors; same bits on any number of threads: {'yes' if same else 'no'}",
        "w": w,
        "errors": errors,
        "off": off,
        "history": history,
        "bytes": data.nbytes,
        "peak": peak,
        "same": same,
    }


# %%
# Coefficients, convergence, memory
# ---------------------------------


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    _, (errors, steps, memory) = plt.subplots(1, 3, figsize=(9.5, 4.6), layout="constrained", width_ratios=(4, 3, 2))
    place = np.arange(FEATURES)
    errors.errorbar(place, 1000 * (found["w"] - TRUTH), 1960 * found["errors"], fmt="o", ms=4, lw=1.5)
    errors.axhline(0.0, color="0.4", ls="--")
    errors.set(title="Coefficients, 95 %", xlabel="feature", ylabel="found - true (thousandths)", xticks=place[::4])
    steps.semilogy([largest for _, largest in found["history"]], "o-")
    steps.set(title="Newton's method", xlabel="pass over the rows", ylabel="largest element of the gradient")
    bars = memory.bar(["rows", "peak"], [found["bytes"] / 1e6, found["peak"] / 1e6], color=["0.6", "C0"])
    memory.bar_label(bars, fmt="%.0f")
    memory.set(title="Memory", ylabel="megabytes", ylim=(0, 1.12 * found["bytes"] / 1e6))


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
