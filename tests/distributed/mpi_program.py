"""What tests run on several ranks of MPI: mpiexec -n 3 python tests/distributed/mpi_program.py TASK [FILE].

Each rank prints a line: its number, and what it has found.
"""

from __future__ import annotations

import hashlib
import sys
from typing import Any

import dask.array as da
import numpy as np

import gradtape as gt
from gradtape import distributed as gd

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 6))
Y = np.sign(RNG.normal(size=1500))
W = RNG.normal(size=6)


def rows(chunk: int = 70) -> tuple[Any, Any]:
    """Rows in 22 chunks, the last one shorter."""
    return da.from_array(X, chunks=(chunk, 6)), da.from_array(Y, chunks=chunk)


def logistic(w: Any, x: Any, y: Any) -> Any:
    """The mean of a logistic loss."""
    return np.mean(np.logaddexp(0.0, -y * (x @ w)))


def digest(*arrays: Any) -> str:
    """A hash of the bits of arrays."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in arrays)).hexdigest()[:16]


def gradients(on: Any, file: str = "") -> str:
    """The bits of values, gradients and products, with chunks that are read again, held, and made of shared work."""
    found = []
    for hold in (False, True):
        f = gd.value_and_grad(logistic, on=on, hold=hold)
        found += [*f(W, *rows()), *f(W + 1.0, *rows())]
    x, y = rows()
    found.append(gd.hvp(logistic, on=on)(W, W + 2.0, x - x.mean(axis=0), y))
    found += gd.value_and_grad(logistic, on=on)(W, *rows(1500))  # one chunk: the other ranks have none
    return digest(*found)


def training(on: Any, file: str = "", epochs: int = 3) -> str:
    """The bits of parameters after training with dropout, stored in a file on the way."""
    rng = np.random.default_rng(1)
    model = gt.nn.Sequential(gt.nn.Linear(6, 8, rng=rng), gt.nn.Dropout(0.2), gt.nn.Linear(8, 1, rng=rng))
    targets = rows()[1].reshape((-1, 1))
    history = gd.fit(
        *(model, (rows()[0], targets.rechunk((70, 1))), gt.nn.functional.mse_loss),
        **{"epochs": epochs, "batch_chunks": 5, "optimiser": gt.optim.Adam(0.01), "on": on, "jit": False},
        **({"checkpoint": file, "resume": True} if file else {}),
    )
    return digest(*(x.numpy() for x in model.parameters()), np.array(history["loss"]))


def interrupted(on: Any, file: str) -> str:
    """The same training in two parts."""
    training(on, file, 1)
    return training(on, file)


def other_parameters(on: Any, file: str = "") -> str:
    """What is said if a rank has parameters of its own."""
    try:
        gd.value_and_grad(logistic, on=on)(W + (on.Get_rank() == 1), *rows())
    except gt.OperandError as error:
        return str(error)
    return "nothing"


def failing_rank(on: Any, file: str = "") -> str:
    """What is said if a chunk of one rank raises an error."""

    def broken(block: Any, block_info: Any = None) -> Any:
        if block_info and block_info[0]["chunk-location"][0] == 20:
            raise ValueError("this chunk cannot be read")
        return block

    x, y = rows()
    try:
        gd.value_and_grad(logistic, on=on, check=False, reduction="mean")(W, x.map_blocks(broken, dtype=float), y)
    except (gt.OperandError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


if __name__ == "__main__":
    from mpi4py import MPI

    ranks = MPI.COMM_WORLD
    answer = globals()[sys.argv[1]](ranks, *sys.argv[2:]).splitlines()[0]
    for rank, text in enumerate(ranks.allgather(answer)):
        if ranks.Get_rank() == 0:
            print(rank, text, flush=True)
