"""Train a small network to tell three spirals apart, with a progress bar, early stopping, and a file to go on from.

    python examples/train_spirals.py
    python examples/train_spirals.py --epochs 200 --checkpoint spirals.safetensors

Press Ctrl-C in the middle of the second, run it again, and it goes on where it was: it ends with the same bits.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import gradtape as gt


def spirals(rng: np.random.Generator, each: int = 200, arms: int = 3) -> tuple[Any, Any]:
    """Points on the arms of a galaxy, and the number of the arm."""
    arm = np.repeat(np.arange(arms), each)
    along = rng.uniform(0.1, 1.0, arms * each)
    angle = 2 * np.pi * (arm / arms + along) + rng.normal(0, 0.15, arms * each)
    points = along[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return points.astype(np.float32), arm


def accuracy(logits: Any, labels: Any) -> Any:
    return (np.argmax(logits, axis=-1) == labels).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--checkpoint", help="a file to store the run in, and to go on from if it exists")
    arguments = parser.parse_args()

    rng = np.random.default_rng(0)
    training, validation = spirals(rng), spirals(rng, 60)
    model = gt.nn.Sequential(
        gt.nn.Dense(2, 32),
        gt.nn.ReLU(),
        gt.nn.Dropout(0.05),
        gt.nn.Dense(32, 32),
        gt.nn.ReLU(),
        gt.nn.Dense(32, 3),
    ).initialise(rng)

    steps = arguments.epochs * -(-len(training[0]) // 32)
    history = gt.fit(
        model,
        training,
        gt.nn.functional.cross_entropy,
        optimiser=gt.optim.AdamW(gt.optim.schedules.one_cycle(0.02, steps), weight_decay=1e-3, clip_norm=1.0),
        epochs=arguments.epochs,
        validation=validation,
        metrics={"accuracy": accuracy},
        rng=rng,
        early_stopping=gt.EarlyStopping(patience=20),
        checkpoint=arguments.checkpoint,
        resume=arguments.checkpoint is not None,
    )
    print(history)
    right = float(accuracy(model.eval()(validation[0]), validation[1]))
    print(f"{right:.0%} of {len(validation[1])} points that it has not seen are told apart")


if __name__ == "__main__":
    main()
