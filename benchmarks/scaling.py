"""A model of what a pass costs on many workers, its table and its plot, and what one to four workers show.

    python benchmarks/scaling.py [--plot docs/images/scaling.svg] [--measure]

The model adds up what stands in the way of the workers' own work, without overlap. Its constants were measured on a
cluster of processes of one machine: CPU seconds of scheduler and client for a task, for a chunk that a graph names, for
a call of an actor. What a network does is assumed. It ranks designs; it is no forecast to the percent.
"""

from __future__ import annotations

import argparse
import logging
import math
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

TASK = 1.7e-3
"""CPU seconds of scheduler and client for a task."""
NAMED = 0.3e-3
"""The same for a chunk that workers hold, which each graph has to name."""
PASS, CALL = 5e-3, 1.2e-3
"""Seconds of the client for a pass over shards, and for a call of an actor."""
HOP, RATE = 20e-6, 1e9
"""Seconds for a message, and bytes a second: assumed."""
TASKS_PER_WORKER, FAN, FAN_OF_SHARDS = 4, 8, 32  # those of gradtape.distributed


class Work(NamedTuple):
    """A pass: its name, CPU seconds in all, chunks, bytes of parameters."""

    name: str
    seconds: float
    chunks: int
    parameters: int


WORKS = [
    Work("logistic regression, 400 GB in 10,000 chunks", 490.0, 10_000, 800),
    Work("logistic regression, 40 GB in 1,000 chunks", 49.0, 1_000, 800),
    Work("a step of a network, 1,000 chunks of 100 rows", 0.29, 1_000, 60_000),
]
WORKERS = [1, 10, 100, 1000]


def depth(workers: int, fan: int) -> int:
    """How many levels a tree of workers has, of which each has `fan` below it."""
    levels, reached = 0, 1
    while reached < workers:
        levels += 1
        reached += fan**levels
    return levels


def moved(work: Work, workers: int, fan: int) -> float:
    """Seconds for parameters on their way down a tree, and sums on their way up."""
    return 2 * depth(workers, fan) * (HOP + fan * work.parameters / RATE)


def by_chunk(work: Work, workers: int) -> float:
    """A task for each chunk, and one for each eight results."""
    return (TASK * FAN / (FAN - 1) + NAMED) * work.chunks + moved(work, workers, FAN)


def by_groups(work: Work, workers: int) -> float:
    """Tasks of a power of two of chunks each, four to eight for a worker, as `Engine.block_size` has them."""
    size = 1
    while work.chunks > 2 * size * TASKS_PER_WORKER * workers:
        size *= 2
    tasks = -(-work.chunks // size)
    return TASK * tasks * FAN / (FAN - 1) + NAMED * work.chunks + moved(work, workers, FAN)


def by_shards(work: Work, workers: int) -> float:
    """Actors: each calls those below it one after the other."""
    calls = 0.0
    left, level = workers - 1, 0
    while left > 0:
        level += 1
        calls += min(FAN_OF_SHARDS, left)
        left -= FAN_OF_SHARDS**level
    return PASS + CALL * (1 + calls) + moved(work, workers, FAN_OF_SHARDS)


def by_ranks(work: Work, workers: int) -> float:
    """Ranks of MPI, each of which gets the sums of all."""
    return math.ceil(math.log2(workers)) * HOP + (workers - 1) * work.parameters / RATE if workers > 1 else 0.0


DESIGNS: dict[str, Callable[[Work, int], float]] = {
    "a task a chunk": by_chunk,
    "tasks of several chunks": by_groups,
    "shards": by_shards,
    "MPI": by_ranks,
}
COLOURS = {"a task a chunk": "#7f7f7f", "tasks of several chunks": "#1f77b4", "shards": "#d62728", "MPI": "#2ca02c"}


def efficiency(design: str, work: Work, workers: int) -> float:
    """The share of its time in which a worker computes."""
    own = work.seconds / workers
    return own / (own + DESIGNS[design](work, workers))


def table() -> list[str]:
    """The model as lines of a table."""
    lines = [f"| pass | design | {' | '.join(f'{workers:,}' for workers in WORKERS)} workers |"]
    lines.append("|---" * (2 + len(WORKERS)) + "|")
    for work in WORKS:
        for number, design in enumerate(DESIGNS):
            shares = " | ".join(f"{efficiency(design, work, workers):.0%}" for workers in WORKERS)
            lines.append(f"| {'' if number else work.name} | {design} | {shares} |")
    return lines


# -- the plot

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, GAP = 330, 250, 46, 62, 40, 16


def draw() -> str:
    """The text of an SVG with a plot for each pass: efficiency over the number of workers."""
    whole = len(WORKS) * (WIDTH + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {HEIGHT + 24}" font-family="sans-serif" '
        'font-size="12" role="img" aria-label="efficiency over the number of workers">',
        f'<rect width="{whole}" height="{HEIGHT + 24}" fill="white"/>',
    ]
    for place, (name, colour) in enumerate(COLOURS.items()):
        left = LEFT + 190 * place
        parts.append(f'<line x1="{left}" x2="{left + 22}" y1="14" y2="14" stroke="{colour}" stroke-width="3"/>')
        parts.append(f'<text x="{left + 28}" y="18">{name}</text>')
    for place, work in enumerate(WORKS):
        parts += _panel(work, place * (WIDTH + GAP))
    return "\n".join([*parts, "</svg>", ""])


def _panel(work: Work, left: float) -> list[str]:
    wide, high = WIDTH - LEFT - 10, HEIGHT - TOP - BOTTOM + 20

    def across(workers: float) -> float:
        return left + LEFT + math.log10(workers) / 3.0 * wide

    def down(share: float) -> float:
        return TOP + (1.0 - share) * high

    parts = [f'<text x="{left + LEFT}" y="{TOP - 16}">{escape(work.name)}</text>']
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = down(share)
        parts.append(f'<line x1="{across(1)}" x2="{across(1000)}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{across(1) - 6}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>')
    below = down(0) + 18
    parts += [f'<text x="{across(n):.1f}" y="{below:.1f}" text-anchor="middle">{n:,}</text>' for n in WORKERS]
    parts.append(f'<text x="{across(31.6):.1f}" y="{down(0) + 36:.1f}" text-anchor="middle">workers</text>')
    for design, colour in COLOURS.items():
        counts = [max(1, round(10 ** (step / 20))) for step in range(61)]
        points = " ".join(f"{across(n):.1f},{down(efficiency(design, work, n)):.1f}" for n in counts)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return parts


# -- what this machine shows


def measure() -> list[str]:
    """The constants, measured, and passes of one to four workers beside what the model says of them, in CPU seconds."""
    import dask.array as da
    import distributed
    import numpy as np

    from gradtape import distributed as gd

    def nothing(number: int) -> int:
        return number

    def loss(w: Any, x: Any) -> Any:
        return np.mean((x @ w) ** 2)

    lines = ["| workers | design | CPU beside the workers', ms a pass | model |", "|---|---|---|---|"]
    options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    x = da.random.default_rng(0).normal(size=(64_000, 20), chunks=(500, 20))
    work = Work("", 0.0, 128, 160)
    for workers in (1, 2, 3, 4):
        with distributed.LocalCluster(n_workers=workers, **options) as cluster, distributed.Client(cluster) as client:
            if workers == 1:
                client.gather(client.map(nothing, range(100)))
                begun = time.process_time()  # scheduler and client are this process
                client.gather(client.map(nothing, range(1000, 2000)))
                lines.insert(0, f"a task: {(time.process_time() - begun):.2f} ms of CPU of scheduler and client\n")
            for design, on in (("tasks of several chunks", client), ("shards", gd.Shards(client))):
                f = gd.value_and_grad(loss, on=on, hold=True)
                for step in range(2):
                    f(np.ones(20) + step, x)
                begun = time.process_time()
                for step in range(10):
                    f(np.ones(20) * 0.1 * step, x)
                found = (time.process_time() - begun) / 10
                lines.append(
                    f"| {workers} | {design} | {1e3 * found:.1f} | {1e3 * DESIGNS[design](work, workers):.1f} |"
                )
    return lines


def main() -> None:
    """Print the table; draw; measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path, help="write the plot to this file")
    parser.add_argument(
        "--measure", action="store_true", help="measure the constants, and passes of one to four workers"
    )
    given = parser.parse_args()
    print(*table(), sep="\n")
    if given.plot is not None:
        given.plot.parent.mkdir(parents=True, exist_ok=True)
        given.plot.write_text(draw(), "utf-8")
    if given.measure:
        print("", *measure(), sep="\n")


if __name__ == "__main__":
    main()
