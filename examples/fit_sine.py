"""Fit a noisy sine with a two-layer network written by hand, in NumPy.

python examples/fit_sine.py --steps 3000
"""

from __future__ import annotations

import argparse

import numpy as np
from progress import progress

import gradtape as gt


def initial_weights(rng: np.random.Generator, hidden: int) -> list[dict[str, np.ndarray]]:
    """One dictionary a layer; any nesting of lists, tuples and dictionaries would do."""
    sizes = [(1, hidden), (hidden, hidden), (hidden, 1)]
    return [{"w": rng.normal(size=size) / np.sqrt(size[0]), "b": np.zeros(size[1])} for size in sizes]


def predict(weights, x):
    for layer in weights[:-1]:
        x = np.tanh(x @ layer["w"] + layer["b"])
    return (x @ weights[-1]["w"] + weights[-1]["b"])[:, 0]


def loss(weights, x, y):
    return np.mean((predict(weights, x) - y) ** 2)


class Adam:
    """Adam, one state for each array; the arrays are met in the same order every time."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.step = 0
        self.means: dict[tuple[int, str], np.ndarray] = {}
        self.squares: dict[tuple[int, str], np.ndarray] = {}

    def update(self, weights, gradient):
        self.step += 1
        for i, layer in enumerate(weights):
            for name in layer:
                g = gradient[i][name]
                mean = self.means[i, name] = 0.9 * self.means.get((i, name), 0.0) + 0.1 * g
                square = self.squares[i, name] = 0.999 * self.squares.get((i, name), 0.0) + 0.001 * g**2
                corrected = mean / (1 - 0.9**self.step)
                layer[name] = layer[name] - self.rate * corrected / (np.sqrt(square / (1 - 0.999**self.step)) + 1e-8)


def plot(x: np.ndarray, y: np.ndarray, prediction: np.ndarray, rows: int = 15) -> str:
    """The data (.) and the fit (#) as text."""
    low, high = min(y.min(), prediction.min()), max(y.max(), prediction.max())
    canvas = [[" "] * len(x) for _ in range(rows)]
    for values, mark in ((y, "."), (prediction, "#")):
        for column, value in enumerate(values):
            canvas[round((high - value) / (high - low) * (rows - 1))][column] = mark
    return "\n".join("".join(line).rstrip() for line in canvas)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--hidden", type=int, default=16)
    options = parser.parse_args()
    if options.steps < 1 or options.hidden < 1:
        parser.error("--steps and --hidden are whole numbers of at least 1")

    rng = np.random.default_rng(31337)
    x = np.linspace(-np.pi, np.pi, 72)[:, None]
    y = np.sin(x[:, 0]) + 0.05 * rng.normal(size=72)
    weights = initial_weights(rng, options.hidden)
    optimiser = Adam(rate=0.01)
    value_and_gradient = gt.value_and_grad(loss)

    first = loss(weights, x, y)
    for _ in progress(options.steps, "fitting"):
        _, gradient = value_and_gradient(weights, x, y)
        optimiser.update(weights, gradient)
    print(f"mean squared error: {first:.4f} before, {loss(weights, x, y):.4f} after (the noise alone is 0.0025)")
    print(plot(x[:, 0], y, predict(weights, x)))


if __name__ == "__main__":
    main()
