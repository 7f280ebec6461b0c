"""Fit a damped pendulum to measurements, and ask how the fit would move if the measurements did.

The model is a differential equation, the fit is SciPy's, and nobody writes a derivative: those of the solution of the
equation come from its steps, those of the fit from the condition that it satisfies.

python examples/fit_pendulum.py
"""

from __future__ import annotations

import argparse

import numpy as np

import gradtape as gt

TIMES = np.linspace(0.0, 2.0, 11)
TRUE = {"friction": 0.3, "pull": 4.0, "start": np.array([1.2, 0.0])}


def slope(state, t, friction, pull):
    angle, speed = state
    return gt.stack([speed, -friction * speed - pull * np.sin(angle)])


def angles(p):
    # two numbers a state: keeping everything (adjoint=False) is quicker than computing it again
    return gt.odeint(slope, p["start"], TIMES, p["friction"], p["pull"], rtol=1e-4, atol=1e-6, adjoint=False)[:, 0]


def residuals(p, measured):
    return angles(p) - measured


def fitted(measured):
    guess = {"friction": 0.1, "pull": 3.5, "start": np.array([1.0, 0.0])}
    bounds = {"friction": (0.0, None), "pull": (0.0, None)}
    return gt.optimize.least_squares(residuals, guess, bounds=bounds, args=(measured,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--noise", type=float, default=0.02, help="standard deviation of the measurements")
    noise = parser.parse_args().noise
    if not noise >= 0.0:
        parser.error("--noise: at least 0")
    measured = angles(TRUE) + noise * np.random.default_rng(0).normal(size=TIMES.size)

    found = fitted(measured)
    print(found)
    print()
    sensitivities = gt.jacobian(lambda data: fitted(data).x)(measured)
    for name in ("friction", "pull"):
        sensitivity = sensitivities[name]
        error = noise * np.sqrt(np.sum(sensitivity**2))
        strongest = np.argmax(np.abs(sensitivity))
        print(
            f"{name:8} {found.x[name]:.4f} +- {error:.4f} (true: {TRUE[name]}); "
            f"the measurement at t = {TIMES[strongest]:.1f} counts most"
        )


if __name__ == "__main__":
    main()
