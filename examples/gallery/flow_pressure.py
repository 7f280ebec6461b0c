"""
The pressure in an incompressible flow, and what it tells
=========================================================

A viscous liquid fills a square box whose lid slides. In an incompressible flow the pressure is whatever keeps the
velocity free of divergence; the projection method finds it by a Poisson equation in each time step. The flow at
Reynolds number 100 is a standard test: Ghia, Ghia and Shin (1982) tabulate it, and the solver is compared with their
values.

Then the question is turned round. Fifteen pressure gauges in the walls are read, with noise: how viscous is the
liquid, and how fast was the lid? Least squares on the differentiated solver answers, with standard errors.
"""

from typing import Any

import matplotlib.pyplot as plt

import gradtape as gt
import gradtape.numpy as np

CELLS, STEP, STEPS = 24, 0.018, 400
GAUGES = [1, 6, 12, 18, 22]  # cells along a wall

# %%
# The solver
# ----------
# A staggered grid: pressure in the middle of the cells, velocities on their sides. With walls all round, the Poisson
# equation is solved exactly by the eigenvectors of the second difference, cosines, so that the divergence is zero to
# rounding.

SPACING = 1.0 / CELLS
COSINES = np.cos(np.pi * np.outer(np.arange(CELLS) + 0.5, np.arange(CELLS)) / CELLS)
COSINES /= np.sqrt(np.sum(COSINES**2, axis=0))
CURVATURE = (2.0 * np.cos(np.pi * np.arange(CELLS) / CELLS) - 2.0) / SPACING**2
SUM = CURVATURE[:, None] + CURVATURE
INVERSE = np.where(SUM == 0.0, 0.0, 1.0 / np.where(SUM == 0.0, 1.0, SUM))  # the mean pressure is free: zero


def laplacian(w):
    return (w[2:, 1:-1] + w[:-2, 1:-1] + w[1:-1, 2:] + w[1:-1, :-2] - 4.0 * w[1:-1, 1:-1]) / SPACING**2


def divergence(u, v):
    return (u[1:, 1:-1] - u[:-1, 1:-1] + v[1:-1, 1:] - v[1:-1, :-1]) / SPACING


def advance(u, v, viscosity, lid):
    """One time step: u is (CELLS + 1, CELLS + 2) with a row beyond each wall, v the other way round."""
    u, v = u.copy(), v.copy()
    u[:, 0], u[:, -1] = -u[:, 1], 2.0 * lid - u[:, -2]  # the mean with the row beyond the wall is the wall's velocity
    v[0, :], v[-1, :] = -v[1, :], -v[-2, :]
    at_centre_u, at_centre_v = 0.5 * (u[1:, 1:-1] + u[:-1, 1:-1]), 0.5 * (v[1:-1, 1:] + v[1:-1, :-1])
    at_corner = 0.25 * (u[:, 1:] + u[:, :-1]) * (v[1:, :] + v[:-1, :])
    push_u = np.diff(at_centre_u**2, axis=0) + np.diff(at_corner, axis=1)[1:-1]
    push_v = np.diff(at_centre_v**2, axis=1) + np.diff(at_corner, axis=0)[:, 1:-1]
    u[1:-1, 1:-1] += STEP * (viscosity * laplacian(u) - push_u / SPACING)
    v[1:-1, 1:-1] += STEP * (viscosity * laplacian(v) - push_v / SPACING)
    p = COSINES @ (INVERSE * (COSINES.T @ divergence(u, v) @ COSINES)) @ COSINES.T
    u[1:-1, 1:-1] -= np.diff(p, axis=0) / SPACING
    v[1:-1, 1:-1] -= np.diff(p, axis=1) / SPACING
    return u, v, p / STEP


def flow(viscosity, lid, steps):
    """The flow after `steps` steps from rest; of a `fori_loop` one step is traced, of a Python loop all 400."""
    rest = np.zeros((CELLS + 1, CELLS + 2)), np.zeros((CELLS + 2, CELLS + 1)), np.zeros((CELLS, CELLS))
    return gt.fori_loop(0, steps, lambda step, now: advance(now[0], now[1], viscosity, lid), rest)


# %%
# The measurement
# ---------------
# Gauges on three walls, whose readings are relative to their mean, as only differences of pressure act.


def readings(p):
    walls = np.concatenate([p[0, GAUGES], p[-1, GAUGES], p[GAUGES, 0]])
    return walls - np.mean(walls)


def solve(compiled: bool = True, steps: int = STEPS) -> dict[str, Any]:
    simulate = gt.jit(flow, static_argnums=2) if compiled else flow
    u, v, p = (np.asarray(field) for field in simulate(np.array(0.01), np.array(1.0), steps))
    noise = 0.02 * np.std(readings(p))
    measured = readings(p) + noise * np.random.default_rng(4).normal(size=15)

    def residuals(unknown, measured):
        return (readings(flow(unknown["viscosity"], unknown["lid"], steps)[2]) - measured) / noise

    start = {"viscosity": 0.015, "lid": 0.8}  # the explicit scheme is stable for viscosities below 0.02
    found = gt.optimize.least_squares(
        residuals,
        start,
        bounds={"viscosity": (0.004, 0.02), "lid": (0.3, 1.5)},
        args=(measured,),
        x_scale="jac",
        jit=compiled,
        tol=1e-4,
    )
    errors = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)))
    names = list(found.x)
    viscosity, lid = float(found.x["viscosity"]), float(found.x["lid"])
    errors = {name: float(error) for name, error in zip(names, errors, strict=True)}
    return {
        "result": f"viscosity {viscosity:.5f} +- {errors['viscosity']:.5f} (true 0.01), "
        f"lid {lid:.3f} +- {errors['lid']:.3f} (true 1)",
        "u": u,
        "v": v,
        "p": p,
        "viscosity": viscosity,
        "lid": lid,
        "errors": errors,
        "divergence": float(np.abs(divergence(u, v)).max()),
    }


# %%
# The flow
# --------
# Streamlines over the pressure, and the velocity along the vertical through the centre beside the values of Ghia et al.

GHIA_Y = [
    0.0547,
    0.0625,
    0.0703,
    0.1016,
    0.1719,
    0.2813,
    0.4531,
    0.5,
    0.6172,
    0.7344,
    0.8516,
    0.9531,
    0.9609,
    0.9688,
    0.9766,
]
GHIA_U = [-0.03717, -0.04192, -0.04775, -0.06434, -0.10150, -0.15662, -0.21090, -0.20581, -0.13641, 0.00332, 0.23151,
          0.68717, 0.73722, 0.78871, 0.84123]  # fmt: skip


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    figure, (field, profile) = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained", width_ratios=(5, 4))
    centres = (np.arange(CELLS) + 0.5) * SPACING
    u, v, p = found["u"], found["v"], found["p"]
    filled = field.contourf(
        centres, centres, p.T - np.mean(p), levels=np.linspace(-0.15, 0.15, 13), cmap="PuOr_r", extend="both"
    )
    across, up = 0.5 * (u[1:, 1:-1] + u[:-1, 1:-1]), 0.5 * (v[1:-1, 1:] + v[1:-1, :-1])
    field.streamplot(centres, centres, across.T, up.T, color="0.2", linewidth=0.7, density=1.1, arrowsize=0.7)
    places = centres[GAUGES]
    gauges = np.concatenate([[0 * places, places], [0 * places + 1, places], [places, 0 * places]], axis=1)
    field.plot(*gauges, "s", color="k", ms=6, clip_on=False, label="gauges")
    field.set(title="Pressure, streamlines, gauges", xlabel="x (widths of the box)", ylabel="y (widths)",
              aspect="equal", xlim=(0, 1), ylim=(0, 1))  # fmt: skip
    figure.colorbar(filled, ax=field, label="pressure (density x lid speed$^2$)")
    profile.plot(u[CELLS // 2, 1:-1], centres, lw=2, label="this solver, 24 x 24 cells")
    profile.plot(GHIA_U, GHIA_Y, "o", ms=4, label="Ghia et al. (1982)")
    profile.set(
        title="Velocity on the vertical centre line", xlabel="horizontal velocity (lid = 1)", ylabel="y (widths)"
    )
    profile.legend()


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
