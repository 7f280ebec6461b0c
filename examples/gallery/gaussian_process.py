"""
A Gaussian process that learns its own length scales
====================================================

A monthly series rises, repeats each year, and wanders: the shape of the concentrations of carbon dioxide that are
measured on mountains. A Gaussian process with a kernel for each of these takes the series apart and continues it. Its
seven hyperparameters are learned by maximising the marginal likelihood, whose gradient goes through a Cholesky
factorisation.

The code is what one would write for SciPy; only the imports are other ones. The last four years are held back: the
forecast has to hold about 95 % of them in its 95 % band.
"""

from typing import Any

import matplotlib.pyplot as plt

import gradtape as gt
import gradtape.numpy as np
from gradtape.scipy import linalg

# %%
# The series
# ----------
# Made here, so that the truth is known: a slow rise, a season of 3 ppm with a second harmonic, a wandering part, and
# noise.


def series(years, seed=5):
    t = np.arange(0.0, years, 1.0 / 12.0)
    rng = np.random.default_rng(seed)
    wander = linalg.cholesky(np.exp(-0.5 * ((t[:, None] - t) / 1.5) ** 2) + 1e-8 * np.eye(t.size), lower=True)
    season = 3.0 * np.sin(2 * np.pi * t) + 0.9 * np.cos(4 * np.pi * t)
    return t, 340.0 + 1.5 * t + 0.012 * t**2 + season + 0.6 * wander @ rng.normal(size=t.size) + 0.25 * rng.normal(
        size=t.size
    )


# %%
# The kernel
# ----------
# Smooth trend + periodic season + medium term. All hyperparameters are positive, so their logarithms are learned.

START = {
    "trend": 3.5,
    "trend_length": 3.0,
    "season": 0.5,
    "shape": 0.0,
    "wander": -0.5,
    "wander_length": 0.0,
    "noise": -1.5,
}


def kernels(p, a, b):
    away = a[:, None] - b
    trend = np.exp(2 * p["trend"] - 0.5 * (away / np.exp(p["trend_length"])) ** 2)
    season = np.exp(2 * p["season"] - 2.0 * (np.sin(np.pi * away) / np.exp(p["shape"])) ** 2)
    wander = np.exp(2 * p["wander"] - 0.5 * (away / np.exp(p["wander_length"])) ** 2)
    return trend, season, wander


def factorised(p, t):
    matrix = sum(kernels(p, t, t)) + np.exp(2 * p["noise"]) * np.eye(t.size)
    return linalg.cho_factor(matrix, lower=True)


def loss(p, t, y):
    """Minus the log marginal likelihood, with weak normal priors on the logarithms around where the search starts."""
    factor = factorised(p, t)
    evidence = (
        0.5 * y @ linalg.cho_solve(factor, y) + np.sum(np.log(np.diag(factor[0]))) + 0.5 * t.size * np.log(2 * np.pi)
    )
    return evidence + sum(0.5 * ((p[name] - START[name]) / 1.5) ** 2 for name in START)


def predict(p, t, y, later):
    """The mean and the standard deviation of measurements at `later`, and the mean of the season alone."""
    factor = factorised(p, t)
    parts = kernels(p, later, t)
    weights = linalg.cho_solve(factor, y)
    prior = sum(np.exp(2 * p[name]) for name in ("trend", "season", "wander", "noise"))
    variance = prior - np.sum(sum(parts) * linalg.cho_solve(factor, sum(parts).T).T, axis=1)
    return sum(parts) @ weights, np.sqrt(variance), parts[1] @ weights


def solve(compiled: bool = True, years: int = 20, held_back: int = 4) -> dict[str, Any]:
    t, y = series(years + held_back)
    known = t < years
    centre = float(np.mean(y[known]))
    found = gt.optimize.minimize(
        loss, START, "L-BFGS-B", args=(t[known], y[known] - centre), jit=compiled, options={"maxiter": 60}
    )
    mean, spread, season = predict(found.x, t[known], y[known] - centre, t)
    mean = mean + centre
    inside = np.abs(y - mean)[~known] < 1.96 * spread[~known]
    error = float(np.sqrt(np.mean((y - mean)[~known] ** 2)))
    noise = float(np.exp(found.x["noise"]))
    return {
        "result": f"noise {noise:.3f} ppm (true 0.25); forecast of {held_back} years off by {error:.2f} ppm, "
        f"{inside.mean():.0%} within the 95 % band",
        "t": t,
        "y": y,
        "known": known,
        "mean": mean,
        "spread": spread,
        "season": season,
        "noise": noise,
        "inside": float(inside.mean()),
        "error": error,
    }


# %%
# The forecast
# ------------


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    _, (whole, season) = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained", width_ratios=(5, 2))
    t, known, band = found["t"], found["known"], 1.96 * found["spread"]
    whole.plot(t[known], found["y"][known], ".", ms=3, color="0.35", label="learned from")
    whole.plot(t[~known], found["y"][~known], ".", ms=5, color="C1", label="held back")
    whole.plot(t, found["mean"], lw=1, color="C0", label="mean")
    whole.fill_between(t, found["mean"] - band, found["mean"] + band, color="C0", alpha=0.3, label="95 %")
    whole.set(title="Series and forecast", xlabel="years", ylabel="concentration (ppm)")
    whole.legend(loc="upper left")
    month = np.arange(12)
    truth = 3.0 * np.sin(2 * np.pi * month / 12) + 0.9 * np.cos(4 * np.pi * month / 12)
    season.plot(month + 1, truth, "o", color="C1", label="true")
    alone = found["season"][:12]
    season.plot(month + 1, alone - alone.mean(), color="C0", lw=2, label="found")
    season.set(title="The season alone", xlabel="month", ylabel="about its mean (ppm)", xticks=[1, 4, 7, 10])
    season.legend()


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
