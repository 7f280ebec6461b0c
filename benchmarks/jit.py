"""gradtape's `jit` against jax.jit, PyTorch eager, torch.compile and autograd, in one table.

    python benchmarks/jit.py [--rows rosenbrock,mlp,...] [--seconds 1] [--no-torch-compile] [--json out.json]

Every contender runs in a process of its own, one after the other. Its first call, imports and compilation included, is
timed apart; then come blocks of calls, of which the best counts. All results are compared with gradtape's.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from compiled import ROWS, Row
from measure import BLOCK, installed, library_of

COLUMNS = ("jax: jit", "torch: eager", "torch: compile", "autograd")


# -- one contender, in its own process


def measure(row: Row, contender: str, seconds: float) -> dict[str, Any]:
    """Seconds of the first call and of the best later one, and a few numbers that tell the result."""
    data = row.data()
    library = {"gradtape": "gradtape", "jax": "jax", "torch": "torch", "autograd": "autograd"}[library_of(contender)]
    __import__(library)
    begun = time.perf_counter()
    step = row.contenders[contender](data)
    answer = step()
    first = time.perf_counter() - begun
    step()
    best, spent, count = math.inf, 0.0, 1
    while spent < seconds:
        start = time.perf_counter()
        for _ in range(count):
            step()
        taken = time.perf_counter() - start
        best, spent = min(best, taken / count), spent + taken
        count = max(1, int(BLOCK / best))
    return {"first": first, "best": best, "result": summary(answer)}


def summary(answer: Any) -> list[float]:
    """The value, and each gradient's product with a fixed direction: equal when the results are."""
    value, gradients = answer
    rng = np.random.default_rng(0)
    products = [float(np.vdot(rng.standard_normal(g.shape), np.asarray(g, float))) for g in gradients]
    return [float(value), *products]


def asked(row: str, contender: str, seconds: float, limit: float) -> dict[str, Any] | str:
    """What `measure` says in a new process, or why it said nothing."""
    command = [sys.executable, __file__, "--one", row, contender, "--seconds", str(seconds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"did not finish in {limit:.0f} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1][:160]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


# -- what the machine can do


def machine() -> dict[str, float]:
    """Its best product of matrices, in GFLOP/s, and how fast it reads and writes memory, in GB/s."""
    found = {}
    for kind in (np.float32, np.float64):
        a = np.random.default_rng(0).standard_normal((1024, 1024)).astype(kind)
        found[f"gemm {np.dtype(kind).name}"] = 2 * 1024**3 / _best(lambda a=a: a @ a) / 1e9
    x, y = np.ones(1 << 23), np.empty(1 << 23)
    found["bandwidth"] = 2 * x.nbytes / _best(lambda: np.copyto(y, x)) / 1e9
    return found


def _best(run: Any, times: int = 20) -> float:
    best = math.inf
    for _ in range(times):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


# -- the table


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table row by row. The exit status tells whether the results agreed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS), help="which workloads, by name (default: all)")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each contender of each row")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds after which a contender is given up")
    parser.add_argument("--no-torch-compile", action="store_true", help="leave torch.compile out: it takes minutes")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument("--one", nargs=2, metavar=("ROW", "CONTENDER"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        row, contender = options.one
        print(json.dumps(measure(ROWS[row], contender, options.seconds)))
        return 0
    wanted = options.rows.split(",")
    unknown = [name for name in wanted if name not in ROWS]
    if unknown:
        parser.error(f"no rows named {', '.join(unknown)}; there are {', '.join(ROWS)}")
    able = machine()
    print(", ".join(f"{what} {rate:.0f}" for what, rate in able.items()), "(GFLOP/s, GB/s)")
    print("compile: seconds of the first call. ratio: the best rival's time for each of gradtape's\n")
    print(_line("workload", "compile", "us", "grad/f", "of peak", *[f"{c} (compile)" for c in COLUMNS], "ratio"))
    table, ratios, differing = [], [], []
    for name in wanted:
        found = {
            contender: asked(name, contender, options.seconds, options.limit)
            for contender in ROWS[name].contenders
            if installed(library_of(contender)) and not (options.no_torch_compile and contender == "torch: compile")
        }
        ratio, wrong = show(ROWS[name], found, able)
        ratios += [] if ratio is None else [ratio]
        differing += wrong
        table.append({"row": name, "found": found, "ratio": ratio})
    if ratios:
        ahead = sum(ratio > 1 for ratio in ratios)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"\nahead of the best rival on {ahead} of {len(ratios)} rows; geometric mean of the ratios {mean:.2f}")
    for words in differing:
        print(words)
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": able, "rows": table}, indent=1) + "\n")
    return int(bool(differing))


def show(row: Row, found: dict[str, dict[str, Any] | str], able: dict[str, float]) -> tuple[float | None, list[str]]:
    """Print a row; the ratio to the best rival, and who disagreed."""
    ours, function = found.get("gradtape"), found.get("gradtape: function")
    rivals = {name: answer for name, answer in found.items() if library_of(name) != "gradtape"}
    timed = [answer["best"] for answer in rivals.values() if isinstance(answer, dict)]
    cells = [row.label]
    ratio, wrong = None, []
    if isinstance(ours, dict):
        best = ours["best"]
        ratio = min(timed) / best if timed else None
        cells += [f"{ours['first']:.2f}", _number(best * 1e6)]
        cells.append(f"{best / function['best']:.2f}" if isinstance(function, dict) else "-")
        peak = "gemm float32" if "f32" in row.label else "gemm float64"
        share = row.flops / best / 1e9 / able[peak] if row.flops else row.bytes / best / 1e9 / able["bandwidth"]
        cells.append(f"{share:.0%}" if share else "")
        tolerance = 2e-3 if "f32" in row.label else 1e-6
        for name, answer in rivals.items():
            if isinstance(answer, dict) and not np.allclose(
                answer["result"], ours["result"], rtol=tolerance, atol=1e-6
            ):
                wrong.append(f"{row.name}: {name} differs from gradtape")
    else:
        cells += ["-"] * 4
    for name in COLUMNS:
        answer = rivals.get(name)
        cells.append(f"{_number(answer['best'] * 1e6)} ({answer['first']:.2f})" if isinstance(answer, dict) else "-")
    cells.append("-" if ratio is None else f"{ratio:.2f}")
    print(_line(*cells), flush=True)
    for name, answer in found.items():
        if isinstance(answer, str):
            print(f"    {name}: {answer}")
    return ratio, wrong


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _line(*cells: str) -> str:
    widths = (36, 7, 9, 6, 7, 24, 24, 24, 24, 6)
    first, *rest = cells
    return "  ".join([f"{first:<{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(rest, widths[1:], strict=True))]).rstrip()


if __name__ == "__main__":
    sys.exit(main())
