"""How sure is a fit of a differential equation? The fit to many resampled data sets, by gt.distributed.map.

python examples/ode_ensemble.py --members 200 --checkpoint ensemble.results    # run it again after Ctrl-C: it goes on
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.optimize import least_squares

import gradtape as gt
from gradtape import distributed as gd

TIMES = np.linspace(0.0, 8.0, 25)
NAMES = "growth", "limit", "start"
TRUTH = np.array([1.1, 4.0, 0.2])


def rate(y, t, growth, limit):
    return growth * y * (1.0 - y / limit)


def population(p):
    return gt.odeint(rate, p[2:], TIMES, p[0], p[1])[:, 0]


def residuals(p, measured):
    return population(p) - measured


compiled = gt.jit(residuals)  # once in each process, however many members are fitted there
jacobian = gt.jit(gt.jacobian(residuals))


def fit(data, rng):
    """One member of the ensemble: the measurements with noise drawn anew, and a start that is drawn, too."""
    noisy = data["values"] + data["noise"] * rng.normal(size=len(TIMES))
    start = TRUTH * rng.uniform(0.7, 1.4, size=3)
    return least_squares(compiled, start, jac=jacobian, args=(noisy,)).x


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--members", type=int, default=40)
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--checkpoint", help="a file from which the same call goes on")
    options = parser.parse_args()
    if options.members < 2:
        parser.error("--members has to be at least 2")
    data = {"values": np.asarray(population(TRUTH)), "noise": options.noise}
    fits = np.array(gd.map(fit, [data] * options.members, seed=0, checkpoint=options.checkpoint))
    print(f"{len(fits)} fits")
    for name, values, true in zip(NAMES, fits.T, TRUTH, strict=True):
        print(f"{name:7} {values.mean():.3f} +- {values.std(ddof=1):.3f}   (true: {true})")


if __name__ == "__main__":
    main()
