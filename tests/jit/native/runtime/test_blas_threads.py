"""Which bits depend on the number of threads: none on gradtape's own, and those of BLAS's products on BLAS's alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import hashlib, sys
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
a, b, long = rng.normal(size=(600, 500)), rng.normal(size=(500, 400)), rng.normal(size=300_000)
digests = {"products": set(), "loops": set()}
for threads in (1, 2, 3, None):
    gt.config.threads = threads
    for _ in range(2):
        products = gt.jit(gt.value_and_grad(lambda a, b: np.sum(np.tanh(a @ b))))(a, b)
        loops = gt.jit(gt.value_and_grad(lambda x: np.sum(np.exp(np.sin(x)) * x)))(long)
        for name, (value, gradient) in (("products", products), ("loops", loops)):
            digests[name].add(hashlib.sha256(np.asarray(value).tobytes() + gradient.tobytes()).hexdigest())
for name, found in digests.items():
    assert len(found) == 1, name
    print(*found)
"""


def digests(blas_threads: int) -> list[str]:
    """What products and loops give with so many threads of BLAS's: the same for all numbers of gradtape's."""
    number = str(blas_threads)
    counts = {f"{library}_NUM_THREADS": number for library in ("OPENBLAS", "MKL", "OMP", "BLIS", "VECLIB")}
    environment = {**os.environ, **counts, "PYTHONPATH": str(Path(__file__).parents[4])}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_what_the_number_of_threads_changes() -> None:
    """No result depends on `gt.config.threads`, and that of a loop not on the number of BLAS's threads either."""
    one, two = digests(1), digests(2)
    assert one[1] == two[1]
    assert digests(1)[0] == one[0]  # from run to run
