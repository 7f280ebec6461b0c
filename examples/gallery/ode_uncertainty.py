"""
A differential equation fitted to lynx and hares, with uncertainty
==================================================================

The pelts that the Hudson's Bay Company bought each year from 1900 to 1920 are the classical data of predators and
prey. The equations of Lotka and Volterra are fitted to them: four rates, two starting values, and the size of the
scatter, which is multiplicative. The solver is adaptive and its steps are differentiated.

Then the uncertainty. The curvature at the best fit gives a normal approximation of the posterior (Laplace's method),
and the Jacobian of the whole trajectory by the parameters carries it to the curves (the delta method). No sampling is
needed.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

YEARS = np.arange(1900, 1921)
HARE = [
    30,
    47.2,
    70.2,
    77.4,
    36.3,
    20.6,
    18.1,
    21.4,
    22,
    25.4,
    27.1,
    40.3,
    57,
    76.6,
    52.3,
    19.5,
    11.2,
    7.6,
    14.6,
    16.2,
    24.7,
]
LYNX = [4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4, 8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6]
PELTS = np.stack([HARE, LYNX], axis=1)  # thousands
TIMES = np.arange(21.0)
NAMES = ["birth of hares", "predation", "death of lynx", "growth of lynx"]
PUBLISHED = np.array([0.545, 0.028, 0.803, 0.024])  # posterior means of the same model in the Stan case study

# %%
# The model
# ---------


def slopes(population, t, rates):
    hares, lynx = population
    birth, predation, death, growth = rates
    return gt.stack([hares * (birth - predation * lynx), lynx * (growth * hares - death)])


def trajectory(logs, times):
    """The logarithms of both populations; `logs` are those of the four rates and the two starting values."""
    return np.log(gt.odeint(slopes, np.exp(logs[4:6]), times, np.exp(logs[:4]), rtol=1e-6, atol=1e-6))


def loss(logs, pelts):
    """Minus the log likelihood: log-normal scatter with standard deviation exp(logs[6])."""
    residuals = (np.log(pelts) - trajectory(logs, TIMES)) / np.exp(logs[6])
    return 0.5 * np.sum(residuals**2) + pelts.size * logs[6]


# %%
# Fit, curvature, delta method
# ----------------------------
# With J the Jacobian of the curves and C the covariance of the parameters, J C J' is the covariance of the curves.


def solve(compiled: bool = True) -> dict[str, Any]:
    start = np.log([0.5, 0.03, 0.9, 0.03, 30.0, 4.0, 0.5])
    found = gt.optimize.minimize(loss, start, "BFGS", args=(PELTS,), jit=compiled, options={"gtol": 1e-4})
    together = gt.jit if compiled else lambda function: function
    # the Hessian by central differences of exact gradients: second derivatives of adaptive solutions are not compiled
    slope = together(gt.grad(loss))
    h = 1e-4
    rows = [(slope(found.x + h * e, PELTS) - slope(found.x - h * e, PELTS)) / (2 * h) for e in np.eye(7)]
    covariance = np.linalg.inv(0.5 * (np.array(rows) + np.array(rows).T))
    dense = np.linspace(0.0, 20.0, 161)
    jacobian = together(gt.jacfwd(trajectory))(found.x, dense)
    variance = np.einsum("tsi,ij,tsj->ts", jacobian, covariance, jacobian)
    rates, errors = np.exp(found.x[:4]), np.exp(found.x[:4]) * np.sqrt(np.diag(covariance)[:4])
    off = float(np.max(np.abs(rates - PUBLISHED) / errors))
    return {
        "result": ", ".join(f"{n} {r:.3f} +- {e:.3f}" for n, r, e in zip(NAMES, rates, errors, strict=True)),
        "rates": rates,
        "errors": errors,
        "scatter": float(np.exp(found.x[6])),
        "dense": dense,
        "off": off,
        "curves": np.asarray(trajectory(found.x, dense)),
        "spread": np.sqrt(variance),
        "covariance": covariance,
    }


# %%
# The curves and the rates
# ------------------------
# The narrow band is the uncertainty of the curve, the wide one has the scatter of the pelts added. Rates beside the
# published ones.


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    _, (curves, rates) = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained", width_ratios=(5, 2))
    for i, (name, marker) in enumerate((("hares", "o"), ("lynx", "s"))):
        middle, inner = found["curves"][:, i], 1.96 * found["spread"][:, i]
        outer = 1.96 * np.hypot(found["spread"][:, i], found["scatter"])
        years = 1900 + found["dense"]
        curves.fill_between(years, np.exp(middle - outer), np.exp(middle + outer), color=f"C{i}", alpha=0.15)
        curves.fill_between(years, np.exp(middle - inner), np.exp(middle + inner), color=f"C{i}", alpha=0.4)
        curves.plot(years, np.exp(middle), color=f"C{i}", lw=1.5)
        curves.plot(YEARS, PELTS[:, i], marker, color=f"C{i}", mec="k", ms=5, label=name)
    curves.set(title="Pelts bought by the Hudson's Bay Company", xlabel="year", ylabel="pelts (thousands)")
    curves.set(yscale="log", xticks=range(1900, 1921, 4))
    curves.set_yticks([3, 10, 30, 100], ["3", "10", "30", "100"])
    curves.legend(loc="upper right", ncols=2)
    place = np.arange(4)
    rates.errorbar(
        found["rates"] / PUBLISHED, place, xerr=1.96 * found["errors"] / PUBLISHED, fmt="o", lw=2, label="95 %"
    )
    rates.axvline(1.0, color="0.4", ls="--")
    rates.set_yticks(place, NAMES)
    rates.set(title="Rates", xlabel="found / published", ylim=(-0.6, 3.6))


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
