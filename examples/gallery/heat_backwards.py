"""
The heat equation run backwards
===============================

A plate was heated in an unknown pattern. Some time later a thermal camera takes one noisy picture. What was the
pattern?

Running time backwards is hopeless: each mode of the pattern decays exponentially, so the noise would grow by the same
exponential. Instead the forward solver is differentiated, and the pattern is found whose *future* agrees with the
picture. The solver is plain NumPy that writes into an array in place; ``import gradtape.numpy as np`` is all that it
needs.
"""

from typing import Any

import matplotlib.pyplot as plt

import gradtape as gt
import gradtape.numpy as np

SIZE = 48  # points along each side of the plate
CONDUCTION = 0.2  # diffusivity * time step / spacing^2; the explicit scheme is stable below 0.25
NOISE = 0.01  # standard deviation of the camera, as a fraction of the hottest initial point

# %%
# The solver
# ----------
# An explicit scheme with cold edges: each step adds to a point what flows in from its four neighbours.


def cool_down(pattern, steps):
    """The temperatures `steps` time steps after `pattern`."""
    u = np.zeros((SIZE + 2, SIZE + 2))
    u[1:-1, 1:-1] = pattern
    for _ in range(steps):
        flow = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += CONDUCTION * flow
    return u[1:-1, 1:-1]


def heated_pattern():
    """What is to be found: a ring, and a bar with two different ends."""
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    ring = np.abs(np.hypot(x - 15.0, y - 17.0) - 8.0) < 2.0
    bar = (np.abs(y - 36) < 3) & (np.abs(x - 30) < 12)
    return 1.0 * ring + bar * (0.4 + 0.6 * (x > 30))


# %%
# The inverse problem
# -------------------
# Misfit in units of the noise, plus a penalty on jumps between neighbours (smoothed total variation: it lets edges be
# sharp). Temperatures were not below zero. The weight of the penalty follows Morozov's discrepancy principle: as large
# as possible while the misfit does not exceed what the noise explains, which is one per pixel.


def roughness(pattern):
    down, right = pattern[1:, :-1] - pattern[:-1, :-1], pattern[:-1, 1:] - pattern[:-1, :-1]
    return np.sum(np.sqrt(down**2 + right**2 + 1e-4))


def misfit(pattern, picture, steps):
    return np.mean(((cool_down(pattern, steps) - picture) / NOISE) ** 2)


def solve(compiled: bool = True, steps: int = 60) -> dict[str, Any]:
    truth = heated_pattern()
    picture = cool_down(truth, steps) + NOISE * np.random.default_rng(1).normal(size=truth.shape)

    def objective(pattern, picture, weight):
        return SIZE**2 * misfit(pattern, picture, steps) + weight * roughness(pattern)

    start = np.clip(picture, 0.0, None)
    for weight in (16.0, 8.0, 4.0, 2.0, 1.0):
        arguments = (picture, np.float64(weight))
        options = {"maxiter": 150, "maxfun": 400}
        found = gt.optimize.minimize(
            objective, start, "L-BFGS-B", bounds=(0.0, None), args=arguments, options=options, jit=compiled
        )
        start = found.x
        if misfit(found.x, picture, steps) < 1.0:
            break

    error, before = (float(np.linalg.norm(p - truth) / np.linalg.norm(truth)) for p in (found.x, picture))
    chi = float(misfit(found.x, picture, steps))
    return {
        "result": f"error of the pattern {before:.0%} in the picture, {error:.0%} recovered; "
        f"misfit {chi:.2f} per pixel",
        "truth": truth,
        "picture": picture,
        "found": found.x,
        "error": error,
        "before": before,
        "misfit": chi,
    }


# %%
# The pattern before and after
# ----------------------------
# Edges are back that the picture does not show. The picture alone, taken for the pattern, is wrong by more than half.


def draw(found: dict[str, Any]) -> None:
    figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.4), layout="constrained", sharey=True)
    panels = {"heated (unknown)": "truth", "one noisy picture, later": "picture", "recovered": "found"}
    for axis, (title, name) in zip(axes, panels.items(), strict=True):
        image = axis.imshow(found[name], cmap="inferno", vmin=0.0, vmax=1.0, origin="lower")
        axis.set(title=title, xlabel="x (grid points)")
    axes[0].set_ylabel("y (grid points)")
    figure.colorbar(image, ax=axes, label="temperature (of the hottest point)", shrink=0.9)


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
