"""Logistic regression over rows that are never in memory together: out of core on threads, or on workers.

python examples/rows_beyond_memory.py --rows 20_000_000        # 8 GB, one chunk for each thread in memory
python examples/rows_beyond_memory.py --rows 20_000_000 --workers 4
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack

import dask.array as da
import numpy as np

import gradtape as gt

FEATURES = 50
TRUTH = np.random.default_rng(0).normal(size=FEATURES) / np.sqrt(FEATURES)


def make_chunk(block_info=None):
    """The rows of one chunk, features and the label behind them; a program of your own reads them from a file."""
    place = block_info[None]
    rng = np.random.default_rng(place["chunk-location"][0])
    x = rng.normal(size=(place["chunk-shape"][0], FEATURES))
    y = np.sign(x @ TRUTH + rng.logistic(size=len(x)))
    return np.hstack([x, y[:, None]])


def loss(w, rows):
    x, y = rows[:, :FEATURES], rows[:, FEATURES]
    return np.mean(np.logaddexp(0.0, -y * (x @ w))) + 1e-6 * np.sum(w**2)


def peak_memory() -> str:
    """The most memory that this process has had so far."""
    try:
        import resource
    except ImportError:  # Windows
        return "unknown"
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{used / (1e6 if sys.platform == 'darwin' else 1e3):.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--chunk", type=int, default=50_000, help="rows a chunk")
    parser.add_argument("--workers", type=int, default=0, help="processes of a local cluster; 0 for threads")
    options = parser.parse_args()
    if options.rows < options.chunk or options.chunk < 1000:
        parser.error("--rows has to be at least --chunk, and that at least 1000")
    lengths = [options.chunk] * (options.rows // options.chunk)
    if options.rows % options.chunk:
        lengths.append(options.rows % options.chunk)
    rows = da.map_blocks(
        make_chunk, chunks=(tuple(lengths), FEATURES + 1), dtype=float, meta=np.zeros((0, FEATURES + 1))
    )
    print(f"{rows.nbytes / 1e9:.2f} GB of rows in {len(lengths)} chunks of {rows.nbytes / 1e6 / len(lengths):.0f} MB")
    with ExitStack() as stack:
        if options.workers:
            from distributed import Client, LocalCluster

            cluster = stack.enter_context(LocalCluster(n_workers=options.workers, threads_per_worker=1))
            stack.enter_context(Client(cluster))
        found = gt.optimize.minimize(loss, np.zeros(FEATURES), "L-BFGS-B", args=(rows,))
    print(f"{found.nfev} passes, loss {found.fun:.5f}, gradient at most {np.abs(found.jac).max():.1e}")
    print(f"largest error of a coefficient {np.abs(found.x - TRUTH).max():.3f}")
    print(f"peak memory of this process {peak_memory()}")


if __name__ == "__main__":
    main()
