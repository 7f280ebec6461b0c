"""Train a network on the workers of a cluster, lose one on the way, and compare the bits with those of one process.

python examples/train_on_workers.py --workers 2 --epochs 4
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
import signal

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import gradtape as gt
from gradtape import distributed as gd


def make_network():
    layers = gt.nn.Dense(4, 32), gt.nn.Tanh(), gt.nn.Dense(32, 32), gt.nn.Tanh(), gt.nn.Dense(32, 1)
    return gt.nn.Sequential(*layers).initialise(np.random.default_rng(1))


def digest(model) -> str:
    """A short text that depends on every bit of the parameters."""
    content = b"".join(np.asarray(value).tobytes() for value in model.state_dict().values())
    return hashlib.sha256(content).hexdigest()[:16]


def train(data, epochs, **options):
    model = make_network()
    optimiser = gt.optim.Adam(0.01)
    loss = gt.nn.functional.mse_loss
    history = gd.fit(model, data, loss, batch_chunks=4, epochs=epochs, optimiser=optimiser, seed=0, **options)
    return digest(model), history


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--eager", action="store_true", help="do not compile the steps: quicker for few of them")
    options = parser.parse_args()
    jit = not options.eager
    if options.workers < 2 or options.epochs < 2:
        parser.error("--workers and --epochs have to be at least 2")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(8000, 4)).astype(np.float32)
    y = np.sin(x.sum(axis=1, keepdims=True)).astype(np.float32)
    data = da.from_array(x, chunks=(500, 4)), da.from_array(y, chunks=(500, 1))

    alone, history = train(data, options.epochs, on="synchronous", jit=jit)
    print(f"one process:  bits {alone}, loss {history['loss'][-1]:.4f}")
    cluster = LocalCluster(
        n_workers=options.workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
    )
    with cluster, Client(cluster) as client:

        def lose_a_worker(epoch, numbers):
            if epoch == 0:
                victim = next(iter(client.run(os.getpid).values()))
                os.kill(victim, signal.SIGKILL)
                print(f"a worker of {options.workers} is killed after epoch 1")

        together, history = train(data, options.epochs, callbacks=[lose_a_worker], jit=jit)
        print(f"{options.workers} workers:    bits {together}, loss {history['loss'][-1]:.4f}")
    print("the same bits" if together == alone else "other bits")


if __name__ == "__main__":
    main()
