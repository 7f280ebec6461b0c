"""
Calibrating an option model with constraints
============================================

The Heston model gives the volatility of a stock a life of its own: it starts at one level, reverts to another, and
fluctuates. Its five parameters are calibrated to the prices of 45 options, over five maturities. Prices are integrals
of a complex characteristic function, evaluated for all options at once; the derivatives go through the complex
logarithms and roots.

Two things make this a constrained problem: all parameters have bounds, and the variance may not reach zero, which is
Feller's condition, 2 * reversion * level >= fluctuation². Quotes are noisy, and the best fit breaks the condition.
What does keeping it cost? The derivative of the optimum answers that, too.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

import gradtape as gt

MATURITIES = np.array([0.25, 0.5, 1.0, 1.5, 2.0])  # years
STRIKES = np.linspace(0.8, 1.2, 9)  # times the forward price
TRUE = {"start": 0.04, "level": 0.06, "reversion": 1.8, "fluctuation": 0.6, "correlation": -0.65}
BOUNDS = {"start": (0.005, 0.5), "level": (0.005, 0.5), "reversion": (0.1, 10.0), "fluctuation": (0.05, 2.0),
          "correlation": (-0.95, 0.5)}  # fmt: skip
NOISE = 0.0015  # of the implied volatilities: 15 basis points
NODES, WEIGHTS = np.polynomial.legendre.leggauss(96)
U, W = 60.0 * (NODES + 1.0), 60.0 * WEIGHTS  # the integral from 0 to 120

# %%
# Prices
# ------
# One integral for each option (Lewis' form), by a Gauss-Legendre rule: an array of (maturities, strikes, nodes).


def characteristic(p, u, t):
    """E exp(i (u - i/2) log S): the form that needs no choice of a branch at long maturities."""
    z = u - 0.5j
    b = p["reversion"] - 1j * p["correlation"] * p["fluctuation"] * z
    d = np.sqrt(b**2 + p["fluctuation"] ** 2 * (z**2 + 1j * z))
    ratio = (b - d) / (b + d)
    decay = np.exp(-d * t)
    growth = (b - d) * t - 2.0 * np.log((1.0 - ratio * decay) / (1.0 - ratio))
    slope = (b - d) * (1.0 - decay) / (1.0 - ratio * decay)
    return np.exp((p["reversion"] * p["level"] * growth + p["start"] * slope) / p["fluctuation"] ** 2)


def call_prices(p):
    """Calls on all maturities and strikes, in units of the forward price."""
    phi = characteristic(p, U, MATURITIES[:, None])
    wave = np.exp(-1j * U * np.log(STRIKES)[:, None])
    integral = np.einsum("kn,tn,n->tk", wave, phi, W / (U**2 + 0.25)).real
    return 1.0 - np.sqrt(STRIKES) / np.pi * integral


def black(volatility, strike, t):
    width = volatility * np.sqrt(t)
    d = -np.log(strike) / width + 0.5 * width
    return ndtr(d) - strike * ndtr(d - width)


def implied(prices):
    """The volatility of each price in the formula of Black."""

    def one(price, strike, t):
        return brentq(lambda volatility: black(volatility, strike, t) - price, 1e-3, 3.0)

    return np.vectorize(one)(prices, STRIKES, MATURITIES[:, None])


# %%
# The calibration
# ---------------
# Differences of prices are divided by vega, which makes them differences of volatility. Feller's condition is a
# constraint for the trust-region method; its derivatives are filled in. ``slack`` is zero, and is there so that the
# optimum can be differentiated by it.


def feller(p, slack=0.0):
    return 2.0 * p["reversion"] * p["level"] - p["fluctuation"] ** 2 - slack


def misfit(p, market, vega):
    return np.mean(((call_prices(p) - market) / (vega * NOISE)) ** 2)


def solve(compiled: bool = True) -> dict[str, Any]:
    rng = np.random.default_rng(11)
    quotes = implied(call_prices(TRUE)) + NOISE * rng.normal(size=(5, 9))
    market = black(quotes, STRIKES, MATURITIES[:, None])
    width = quotes * np.sqrt(MATURITIES[:, None])
    vega = np.sqrt(MATURITIES[:, None] / (2 * np.pi)) * np.exp(-0.5 * (-np.log(STRIKES) / width + 0.5 * width) ** 2)

    start = {"start": 0.09, "level": 0.09, "reversion": 1.0, "fluctuation": 0.3, "correlation": -0.2}

    def calibrate(slack=None):
        condition = () if slack is None else {"type": "ineq", "fun": feller, "args": (slack,)}
        return gt.optimize.minimize(
            misfit,
            start,
            "trust-constr",
            args=(market, vega),
            bounds=BOUNDS,
            constraints=condition,
            tol=1e-9,
            jit=compiled,
        )

    free, kept = calibrate(), calibrate(0.0)
    price = float(gt.grad(lambda slack: calibrate(slack).fun)(0.0))
    names = list(TRUE)
    jacobian = gt.jacobian(
        lambda v: ((call_prices(dict(zip(names, v, strict=True))) - market) / (vega * NOISE)).reshape(-1)
    )(np.array([free.x[name] for name in names]))
    errors = dict(zip(names, np.sqrt(np.diag(np.linalg.inv(jacobian.T @ jacobian))), strict=True))
    off = max(abs(free.x[name] - TRUE[name]) / errors[name] for name in names)
    rms = {name: 1e4 * NOISE * float(np.sqrt(found.fun)) for name, found in (("free", free), ("kept", kept))}
    return {
        "result": f"implied volatilities within {rms['free']:.1f} basis points, "
        f"{rms['kept']:.1f} under Feller's condition (0.01 of it costs {0.01 * price / kept.fun:.0%} of the misfit); "
        f"parameters within {off:.1f} standard errors",
        "free": free.x,
        "kept": kept.x,
        "errors": errors,
        "off": float(off),
        "rms": rms,
        "price": price,
        "quotes": quotes,
        "feller": float(feller(kept.x)),
        "feller_free": float(feller(free.x)),
        "fitted": {name: implied(np.asarray(call_prices(x.x))) for name, x in (("free", free), ("kept", kept))},
    }


# %%
# The smiles
# ----------
# Quotes and both fits. With the condition, short maturities come out too flat.


def draw(found: dict[str, Any]) -> None:
    _, (smiles, parameters) = plt.subplots(1, 2, figsize=(9, 5), layout="constrained", width_ratios=(5, 3))
    shown = [0, 2, 4]
    colours = plt.colormaps["viridis"](np.linspace(0.0, 0.75, len(shown)))
    for i, colour in zip(shown, colours, strict=True):
        smiles.plot(STRIKES, 100 * found["quotes"][i], "o", ms=5, color=colour, label=f"{MATURITIES[i]:g} years")
        smiles.plot(STRIKES, 100 * found["fitted"]["free"][i], lw=1.8, color=colour)
        smiles.plot(STRIKES, 100 * found["fitted"]["kept"][i], "--", lw=1.5, color=colour)
    smiles.plot([], [], "k-", label="best fit")
    smiles.plot([], [], "k--", label="with Feller's condition")
    smiles.set(title="Quotes and fits", xlabel="strike (of the forward price)", ylabel="implied volatility (%)")
    smiles.legend(ncols=2)
    names, place = list(TRUE), np.arange(5)
    for shift, which, marker, label in (
        (0.12, "free", "o", "best fit, 95 %"),
        (-0.12, "kept", "s", "with the condition"),
    ):
        ratio = [found[which][name] / TRUE[name] for name in names]
        bars = [1.96 * found["errors"][name] / abs(TRUE[name]) if which == "free" else 0.0 for name in names]
        parameters.errorbar(ratio, place + shift, xerr=bars, fmt=marker, lw=2, label=label)
    parameters.axvline(1.0, color="0.4", ls="--")
    parameters.set_yticks(place, names)
    parameters.set(title="Parameters", xlabel="found / true")
    parameters.set_ylim(-0.6, 5.4)
    parameters.legend(loc="upper right")


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
