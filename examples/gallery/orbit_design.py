"""
Designing an orbit of three bodies
==================================

Three bodies of equal mass attract each other. Almost every start ends in chaos; a few starts give orbits that close.
Starting from a rough guess of the velocities and of the period, Newton's method on the differentiated integrator
finds one of them to twelve digits: the figure eight of Moore (1993), on which the three bodies chase each other.

The Jacobian of the state after a period by the state at the start, the monodromy matrix, tells whether the orbit is
stable. Its eigenvalues lie on the unit circle: the figure eight is, and a spacecraft (or a star) could follow it.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

STEPS = 400  # of a period
# Chenciner and Montgomery (2000): the period, and the speed of the body in the middle
PUBLISHED = {"period": 6.32591398, "speed": np.hypot(0.93240737, 0.86473146)}
GUESS = np.array([0.42, 0.47, 6.0])

# %%
# The integrator
# --------------
# A symplectic scheme of fourth order (Forest and Ruth): three leapfrog steps, one of them backwards. It keeps the
# energy from drifting.

SHARE = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))
KICKS = [SHARE, 1.0 - 2.0 * SHARE, SHARE]


def acceleration(x):
    """Of three unit masses at x (3, 2), with the constant of gravity 1."""
    away = x[None] - x[:, None]
    distance = np.sum(away**2, axis=2) + np.eye(3)
    return np.sum(away / (distance * np.sqrt(distance))[:, :, None], axis=1)


def energy(x, v):
    pairs = [(0, 1), (0, 2), (1, 2)]
    return 0.5 * np.sum(v**2) - sum(1.0 / np.sqrt(np.sum((x[i] - x[j]) ** 2)) for i, j in pairs)


def fly(state, period):
    """The states after each step of a period, (steps, 2, 3, 2): positions, then velocities."""

    def step(state, _):
        x, v = state[0], state[1]
        for share in KICKS:
            h = share * period / STEPS
            x = x + 0.5 * h * v
            v = v + h * acceleration(x)
            x = x + 0.5 * h * v
        state = gt.stack([x, v])
        return state, state

    return gt.scan(step, state, length=STEPS)[1]


def start(unknowns):
    """Two bodies at (-1, 0) and (1, 0) with the same velocity, the third between them with minus twice that."""
    velocity = unknowns[:2]
    return gt.stack([np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), gt.stack([velocity, velocity, -2.0 * velocity])])


def gap(unknowns):
    """How far the orbit is from closing: the state after a period minus the state before it."""
    there = start(unknowns)
    return (fly(there, unknowns[2])[-1] - there).reshape(-1)


# %%
# The design
# ----------
# Gauss and Newton with a step limit: twelve conditions, three unknowns, and a Jacobian that is exact.


def solve(compiled: bool = True) -> dict[str, Any]:
    together = gt.jit if compiled else lambda function: function
    residual, slope, path = together(gap), together(gt.jacfwd(gap)), together(fly)
    unknowns, history, guesses = GUESS, [], [GUESS]
    for _ in range(25):
        left = residual(unknowns)
        history.append(float(np.linalg.norm(left)))
        if history[-1] < 1e-11:
            break
        step = -np.linalg.lstsq(slope(unknowns), left, rcond=None)[0]
        unknowns = unknowns + step * min(1.0, 0.08 / np.abs(step).max())
        guesses.append(unknowns)
    orbit = np.asarray(path(np.asarray(start(unknowns)), unknowns[2]))
    speed = 2.0 * float(np.hypot(*unknowns[:2]))
    energies = np.array([float(energy(x, v)) for x, v in orbit[::10]])
    drift = float(np.abs(energies / energies[0] - 1.0).max())
    last = together(gt.jacfwd(lambda flat: fly(flat.reshape(2, 3, 2), unknowns[2])[-1].reshape(-1)))
    multipliers = np.linalg.eigvals(last(np.asarray(start(unknowns)).reshape(-1)))
    return {
        "result": f"period {unknowns[2]:.6f} (published: {PUBLISHED['period']:.6f}), speed in the middle {speed:.6f} "
        f"(published: {PUBLISHED['speed']:.6f}); closes to {history[-1]:.0e}, energy kept to {drift:.0e}",
        "unknowns": unknowns,
        "history": history,
        "guess": np.asarray(path(np.asarray(start(GUESS)), GUESS[2])),
        "orbit": orbit,
        "drift": drift,
        "speed": speed,
        "published": PUBLISHED,
        "multipliers": multipliers,
    }


# %%
# The orbit
# ---------
# Left: what the guess does. Middle: the orbit, with the bodies after a period, which is where they started. Right:
# the eigenvalues of the monodromy matrix, on the unit circle. Eight of them are 1: one pair for energy and time, one
# for angular momentum and rotation, two for the centre of mass. The other four lie elsewhere on the circle: small
# disturbances do not grow.


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    _, (rough, designed, circle) = plt.subplots(1, 3, figsize=(9.5, 4.2), layout="constrained", width_ratios=(3, 3, 2))
    for axis, name, title in (
        (rough, "guess", "the guess, for one period"),
        (designed, "orbit", "after Newton's method"),
    ):
        for body, marker in enumerate("os^"):
            x, y = found[name][:, 0, body].T
            axis.plot(x, y, lw=1.6, color=f"C{body}")
            axis.plot(x[-1], y[-1], marker, color=f"C{body}", mec="k", ms=9)
        axis.set(
            title=title, xlabel="x (half the distance at the start)", ylabel="y", xlim=(-1.5, 1.5), ylim=(-1.4, 1.4)
        )
    angle = np.linspace(0, 2 * np.pi, 200)
    circle.plot(np.cos(angle), np.sin(angle), color="0.6", lw=1)
    circle.plot(found["multipliers"].real, found["multipliers"].imag, "o", color="C1", mec="k", ms=6)
    circle.set(title="stability", xlabel="real part of the multiplier", ylabel="imaginary part", aspect="equal")
    circle.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
