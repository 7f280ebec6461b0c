"""
A regression that broadcast wrongly, and what it cost
=====================================================

A supplier of district heating buys tomorrow's heat today and forecasts the demand of each house by a linear
regression. The forecast was trained for years with one line that subtracts targets of shape ``(n,)`` from predictions
of shape ``(n, 1)``. NumPy broadcasts that to ``(n, n)``: every house is compared with every other. Nothing fails, the
loss falls, the gradient has the right shape. And the best that this loss can do is to forecast the same demand for
all houses.

gradtape warns in the first step and names the line. This page has the warning as it is printed, and the bill.
"""

import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

HOUSES, STEPS, RATE = 400, 300, 0.3
FINE = 0.12  # euros for each kWh that was forecast wrongly, in either direction
NIGHTS = 150  # a heating season

# %%
# The houses
# ----------
# Demand depends on floor area, insulation, age and the number of people, and on what nothing of this tells.


def houses(rng):
    features = rng.normal(size=(HOUSES, 4))
    demand = 60.0 + features @ np.array([14.0, -9.0, 5.0, 3.0]) + 5.0 * rng.normal(size=HOUSES)  # kWh a night
    return features, demand / 20.0


# %%
# The two losses
# --------------
# They differ in one pair of brackets.


def wrong_loss(p, features, demand):
    forecast = features @ p["weight"] + p["bias"]
    return np.mean((forecast - demand) ** 2)


def right_loss(p, features, demand):
    forecast = features @ p["weight"] + p["bias"]
    return np.mean((forecast[:, 0] - demand) ** 2)


# %%
# Training
# --------
# The same gradient descent for both. ``warnings.catch_warnings`` keeps what is said, to print it here; in a script it
# appears on the terminal in the first step.


def train(loss, features, demand, compiled):
    step = gt.jit(gt.value_and_grad(loss)) if compiled else gt.value_and_grad(loss)
    p, losses = {"weight": np.zeros((4, 1)), "bias": np.zeros(1)}, []
    for _ in range(STEPS):
        value, gradient = step(p, features, demand)
        p = {name: p[name] - RATE * gradient[name] for name in p}
        losses.append(float(value))
    return p, losses


def solve(compiled: bool = True) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    features, demand = houses(rng)
    new_features, new_demand = houses(rng)  # next season
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wrong, wrong_losses = train(wrong_loss, features, demand, compiled)
    right, right_losses = train(right_loss, features, demand, compiled)

    forecasts = {
        name: (new_features @ p["weight"] + p["bias"])[:, 0] for name, p in (("wrong", wrong), ("right", right))
    }
    explained = {name: 1.0 - np.var(new_demand - f) / np.var(new_demand) for name, f in forecasts.items()}
    bills = {name: FINE * NIGHTS * np.mean(np.abs(20.0 * (f - new_demand))) for name, f in forecasts.items()}
    return {
        "result": f"explained variance {explained['wrong']:.2f} instead of {explained['right']:.2f}; "
        f"the broadcast cost {bills['wrong'] - bills['right']:.0f} euros a house and season",
        "messages": [str(warning.message) for warning in caught],
        "losses": {"wrong": wrong_losses, "right": right_losses},
        "forecasts": forecasts,
        "demand": new_demand,
        "explained": explained,
        "bills": bills,
    }


# %%
# The bill
# --------
# Left: both losses fall and settle, which is why this goes unnoticed. Middle: the forecasts for houses of the next
# season. Right: what the errors cost.


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    names = {"wrong": "(n, 1) - (n,)", "right": "(n,) - (n,)"}
    looks = {"wrong": ("C1", "s"), "right": ("C0", "o")}
    _, (descent, scatter, bill) = plt.subplots(1, 3, figsize=(9.5, 4.6), layout="constrained", width_ratios=(3, 3, 2))
    for name in ("wrong", "right"):
        colour, marker = looks[name]
        descent.plot(found["losses"][name], color=colour, lw=2, label=names[name])
        kwh = [20.0 * scaled for scaled in (found["demand"], found["forecasts"][name])]
        scatter.plot(*kwh, marker, ms=3, alpha=0.6, color=colour, label=names[name])
    scatter.axline((60, 60), slope=1, color="0.4", ls="--", lw=1)
    descent.set(title="Both losses fall", xlabel="step of gradient descent", ylabel="mean squared error (scaled)")
    descent.set(xlim=(0, 20), yscale="log")
    descent.legend()
    scatter.set(title="Forecasts of the next season", xlabel="demand (kWh a night)", ylabel="forecast (kWh a night)")
    scatter.legend()
    bars = bill.bar(list(names.values()), [found["bills"][name] for name in names], color=["C1", "C0"], width=0.6)
    bill.bar_label(bars, fmt="%.0f €")
    bill.set(title="The bill", ylabel="fines (euros a house and season)", ylim=(0, 1.15 * found["bills"]["wrong"]))


# %%
# What gradtape says
# ------------------

if __name__ == "__main__":
    found = solve()
    print(found["result"])
    print(found["messages"][0])
    draw(found)
    plt.show()
