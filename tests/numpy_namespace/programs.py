"""Programs as scientists write them in NumPy: in-place writes, arrays made of numbers, control flow, edge cases.

Each is a function of one array of parameters that returns one number, and an array to take the gradient at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import gradtape as gt
import gradtape.numpy as np

PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any]] = {}


def program(*at: float) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register a function with the point at which its gradient is taken."""

    def register(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        PROGRAMS[function.__name__] = (function, numpy.array(at))
        return function

    return register


# -- in-place writes

with gt.no_grad():  # whatever requires a gradient in other modules
    GRID = np.linspace(0.0, 1.0, 7)
    START = np.zeros(7)
    TABLE = np.arange(12).reshape(3, 4) * 0.25


@program(0.1, 0.7)
def heat_equation_with_boundary(x: Any) -> Any:
    u = np.sin(np.pi * GRID)
    u[0], u[-1] = x[1], 0.5 * x[1]
    for _ in range(4):
        u[1:-1] += x[0] * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


@program(0.3, 0.2)
def copy_of_an_array_of_the_module(x: Any) -> Any:
    u = START.copy()
    u[1:-1] += x[0] * GRID[1:-1]
    v = 0.5 * GRID
    v[0] = x[1]
    w = GRID[:3].copy()
    w *= x[0]
    return np.dot(u, v) + u[3] * v[0] + w.sum()


@program(1.2, 0.4, 0.3)
def kalman_filter_with_rows(x: Any) -> Any:
    measured = np.array([0.9, 1.1, 1.4, 1.2])
    states = np.zeros((len(measured) + 1, 2))
    states[0, 0] = x[0]
    covariance = np.eye(2)
    step = np.array([[1.0, 1.0], [0.0, 1.0]])
    noise = np.diag([x[1], 0.1])
    total = 0.0
    for k, z in enumerate(measured):
        mean = step @ states[k]
        covariance = step @ covariance @ step.T + noise
        innovation = z - mean[0]
        variance = covariance[0, 0] + x[2]
        gain = covariance[:, 0] / variance
        states[k + 1] = mean + gain * innovation
        covariance = covariance - np.outer(gain, covariance[0])
        total += 0.5 * (np.log(variance) + innovation**2 / variance)
    return total + np.sum(states[:, 0])


@program(2.0, 0.5, 1.0)
def cholesky_by_hand(x: Any) -> Any:
    a = np.array([[4.0, x[1], 0.2], [x[1], 3.0, x[2]], [0.2, x[2], 2.0 + x[0]]])
    n = a.shape[0]
    factor = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total = total - factor[i, k] * factor[j, k]
            if i == j:
                factor[i, j] = np.sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    return np.sum(factor) + factor[2, 1]


@program(0.5, 1.5)
def gram_schmidt_in_place(x: Any) -> Any:
    a = np.array([[1.0, x[0], 0.3], [0.5, 2.0, x[1]], [0.1, 0.4, 1.0]])
    for k in range(3):
        for i in range(k):
            a[:, k] -= (a[:, i] @ a[:, k]) * a[:, i]
        a[:, k] /= np.linalg.norm(a[:, k])
    return a[0, 2] + 2 * a[1, 1] + a[2, 0]


@program(0.2, 0.3)
def two_dimensional_flow(x: Any) -> Any:
    n = 5
    u, v, p = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    u[-1, :] = x[1]
    for _ in range(3):
        old = u.copy()
        u[1:-1, 1:-1] = (
            old[1:-1, 1:-1]
            - 0.1 * old[1:-1, 1:-1] * (old[1:-1, 1:-1] - old[1:-1, :-2])
            + x[0] * (old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1] - 4 * old[1:-1, 1:-1])
        )
        v[1:-1, 1:-1] += 0.5 * u[1:-1, 1:-1]
        p[:, 0] = p[:, 1] + v[:, 1]
        p[1:-1, 1:-1] += v[1:-1, 1:-1] * u[2:, 1:-1]
    return np.sum(u * p) + np.mean(v)


@program(0.4, 1.1, 0.6)
def rows_columns_and_masks(x: Any) -> Any:
    a = np.empty((3, 4))
    a[:] = TABLE
    a[1, ::2] = x[:2]
    a[:, 3] *= x[2]
    a[a > 2.0] -= x[0]
    a[[0, 2], [1, 1]] = x[1], x[2]
    np.fill_diagonal(a, x[0])
    a.T[1] += x[1]
    return np.sum(a**2)


@program(0.7, 1.3)
def thomas_algorithm(x: Any) -> Any:
    n = 5
    lower, upper = np.full(n - 1, -x[0]), np.full(n - 1, -0.4)
    diagonal, right = np.full(n, 2.0 + x[1]), np.ones(n)
    for i in range(1, n):
        factor = lower[i - 1] / diagonal[i - 1]
        diagonal[i] = diagonal[i] - factor * upper[i - 1]
        right[i] = right[i] - factor * right[i - 1]
    solution = np.zeros(n)
    solution[-1] = right[-1] / diagonal[-1]
    for i in range(n - 2, -1, -1):
        solution[i] = (right[i] - upper[i] * solution[i + 1]) / diagonal[i]
    return np.sum(solution * np.arange(n))


@program(0.9, 0.2)
def accumulation_at_places(x: Any) -> Any:
    bins = np.zeros(3)
    places = np.array([0, 2, 2, 1, 0])
    np.add.at(bins, places, x[0] * np.arange(5.0))
    counts = np.zeros(3, dtype=int)
    for place in places:
        counts[place] += 1
    bins /= counts
    out = np.zeros_like(bins)
    out += x[1]
    np.multiply(bins, x[1], out=out)
    return np.sum(bins * out)


# -- arrays made of numbers


@program(0.3, 1.0, 2.0)
def rotation_matrix(x: Any) -> Any:
    c, s = np.cos(x[0]), np.sin(x[0])
    rotation = np.array([[c, -s], [s, c]])
    point = np.array([x[1], x[2]])
    return np.sum((rotation @ point) ** 3) + np.linalg.det(rotation)


def lotka_volterra(y: Any, a: Any, b: Any) -> Any:
    prey, predator = y
    return np.array([a * prey - b * prey * predator, b * prey * predator - predator])


@program(1.1, 0.4)
def right_hand_side_of_an_equation(x: Any) -> Any:
    y = np.array([1.0, 0.5])
    path = [y]
    for _ in range(4):
        k1 = lotka_volterra(y, *x)
        k2 = lotka_volterra(y + 0.05 * k1, x[0], x[1])
        y = y + 0.1 * k2
        path.append(y)
    return np.sum(np.array(path)[:, 0]) + np.max([y[0], y[1]])


@program(0.5, 2.0)
def lists_of_numbers_as_arguments(x: Any) -> Any:
    a, b = x
    total = np.sum([a, b * b]) + np.mean([a, b]) + np.dot([a, b], [b, 1.0]) + np.prod([a, b, 2.0])
    total = total + np.max([a, b]) + np.min([a, b]) + np.linalg.norm([a, b]) + np.trace(np.diag([a, b]))
    joined = np.concatenate([[a], np.ones(2), [b, a]]) + np.hstack([a, b, [a, b, 1.0]])
    stacked = np.stack([[a, b], [b, a]]) @ np.vstack([[a, 1.0], [b, b]])
    return total + np.sum(joined**2) + np.sum(stacked) + np.average([a, b], weights=[1.0, b])


@program(0.45, 2.0)
def blocks_grids_and_polynomials(x: Any) -> Any:
    block = np.block([[np.eye(2), np.array([[x[0]], [x[1]]])], [np.zeros((1, 2)), np.ones((1, 1))]])
    r = np.r_[x[0], 1.0:3.0, x]
    c = np.c_[x, [1.0, 2.0]]
    xx, yy = np.meshgrid(np.linspace(0.0, x[1], 3), np.arange(0.0, 1.0, x[0]))
    p = np.poly1d([x[0], 1.0, x[1]])
    q = np.polynomial.polynomial.polyval(x, np.array([[1.0, 2.0], [3.0, 4.0], [0.5, 0.1]]))
    k = np.kron(x, [1.0, 2.0]) + np.outer([x[0], x[1]], x).ravel()
    return np.sum(block @ block) + np.sum(r**2) + np.sum(c) + np.sum(xx * yy) + p(2.0) + np.sum(q) + np.sum(k**2)


@program(1.5, 0.5)
def linspace_full_and_ranges(x: Any) -> Any:
    grid = np.linspace(x[1], x[0], 6)
    ratio = np.geomspace(x[1], x[0], 4)
    decades = np.logspace(x[1], x[0], 3, base=2.0)
    steps = np.arange(x[1], 2.9, 0.5) + np.full(5, x[0])
    indices = np.arange(6) * x[1]
    windows = np.hanning(6) * np.full_like(grid, x[0])
    return np.trapezoid(grid**2, grid) + np.sum(ratio) + np.sum(decades) + np.sum(steps * steps) + indices @ windows


@program(0.8, 1.7)
def stiffness_matrix_of_elements(x: Any) -> Any:
    stiffness = np.zeros((4, 4))
    for element in range(3):
        local = (x[0] + element * x[1]) * np.array([[1.0, -1.0], [-1.0, 1.0]])
        nodes = np.ix_([element, element + 1], [element, element + 1])
        stiffness[nodes] += local
    load = np.zeros(4)
    load[-1] = x[1]
    displacement = np.zeros(4)
    displacement[1:] = np.linalg.solve(stiffness[1:, 1:], load[1:])
    return displacement[-1] + displacement @ displacement


# -- control flow and structure


@program(2.0, 0.3)
def newton_until_converged(x: Any) -> Any:
    value, steps = x[0], 0
    while np.abs(value * value - x[0] - x[1]) > 1e-12 and steps < 50:
        value = value - (value * value - x[0] - x[1]) / (2 * value)
        steps += 1
    return value


@program(0.4, 1.9)
def branches_on_values(x: Any) -> Any:
    out = np.zeros(5)
    for i, limit in enumerate(np.linspace(0.0, 2.0, 5)):
        if x[1] > limit:
            out[i] = x[0] * limit
        elif x[0] < 0.0:
            out[i] = -1.0
        else:
            out[i] = x[1] ** 2
    return np.sum(out) + np.where(x[0] > 0.0, x[0], 0.0)


@program(0.6, 1.4)
def functions_of_elements(x: Any) -> Any:
    hinge = np.vectorize(lambda t: x[0] * t if t > 0.5 else t * t)
    rows = np.apply_along_axis(lambda row: row * x[1] - np.mean(row), 1, TABLE)
    parts = np.piecewise(GRID, [GRID < 0.5, GRID >= 0.5], [lambda t: x[0] * t, lambda t: x[1] - t])
    table = np.fromfunction(lambda i, j: x[0] * i + j * x[1], (2, 3))
    listed = np.fromiter((x[0] * k for k in range(3)), dtype=float)
    chosen = np.select([GRID < 0.3, GRID < 0.6], [x[0] * GRID, x[1] * GRID**2], x[0])
    return np.sum(hinge(GRID)) + np.sum(rows**2) + np.sum(parts**2) + np.sum(table) + listed[2] + np.sum(chosen)


class Particle:
    """A body with a state that changes in place."""

    def __init__(self, mass: Any) -> None:
        self.mass = mass
        self.position = np.zeros(2)
        self.velocity = np.array([1.0, 0.0])
        self.path: list[Any] = []

    def move(self, force: Any, step: float) -> None:
        self.velocity += step * force / self.mass
        self.position += step * self.velocity
        self.path.append(self.position.copy())


@program(1.5, 0.7)
def objects_with_state(x: Any) -> Any:
    particle = Particle(x[0])
    for _ in range(3):
        particle.move(np.array([-x[1] * particle.position[0], -9.81]), 0.1)
    return np.sum(np.asarray(particle.path) ** 2)


@program(0.5, 1.5)
def recursion_and_dictionaries(x: Any) -> Any:
    def integrate(f: Callable[[Any], Any], low: float, high: float, depth: int) -> Any:
        middle = 0.5 * (low + high)
        if depth == 0:
            return (high - low) * f(middle)
        return integrate(f, low, middle, depth - 1) + integrate(f, middle, high, depth - 1)

    parts = {"a": np.zeros(2), "b": np.ones(2)}
    parts["a"][1] = integrate(lambda t: np.exp(-x[0] * t) * x[1], 0.0, 1.0, 3)
    parts["b"] *= x[0]
    return sum(np.sum(part**2) for part in parts.values())


# -- numbers at the edge


@program(0.0, 3.0)
def guarded_square_root_and_division(x: Any) -> Any:
    safe = np.where(x > 0.0, np.sqrt(np.where(x > 0.0, x, 1.0)), 0.0)
    ratio = np.divide(1.0, x, out=np.zeros(2), where=x > 1.0)
    return np.sum(safe) + np.sum(ratio) + np.sum(np.nan_to_num(x))


@program(700.0, -0.5)
def stable_softmax_in_place(x: Any) -> Any:
    scores = np.array([x[0], x[0] + x[1], 1.0])
    scores -= np.max(scores)
    np.exp(scores, out=scores)
    scores /= scores.sum()
    return scores[0] + 2.0 * scores[1]


@program(0.3, -0.8)
def signs_clips_and_parts(x: Any) -> Any:
    clipped = np.clip(np.array([x[0], 2.0 * x[1], x[0] * x[1]]), -1.0, 0.25)
    complex_part = np.abs(np.exp(1j * x[0]) + x[1])
    ordered = np.sort([x[0], x[1], 0.1])
    return np.sum(clipped) + complex_part + ordered[0] * 3.0 + np.float64(x[0]) * np.sign(x[1]) + np.abs(x[1])


@program(2.0, 5.0)
def integers_as_indices_and_counts(x: Any) -> Any:
    order = np.argsort(np.array([x[1], x[0], 3.0]))
    table = np.array([x[0], x[1], x[0] * x[1]])[order]
    k = int(np.floor(x[1] / x[0]))
    count = np.count_nonzero(table > 3.0)
    padded = np.zeros(5)
    padded[k : k + 2] = table[:2]
    padded[count] += table[-1]
    return padded @ np.arange(5)
