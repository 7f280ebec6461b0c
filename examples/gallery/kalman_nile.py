"""
The likelihood of a Kalman filter: the flow of the Nile
=======================================================

The annual flow of the Nile at Aswan, 1871 to 1970, is the textbook series of state-space models: a level that drifts,
measured with noise. Two variances are unknown. The Kalman filter gives the likelihood of the series for any two values,
and gradtape the gradient and the Hessian of the filter, and so the estimates with their standard errors.

The published estimates (Durbin and Koopman, *Time Series Analysis by State Space Methods*) are 15 099 for the
variance of the measurement and 1 469 for that of the level.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

YEARS = np.arange(1871, 1971)
FLOW = np.array([  # in 10^8 cubic metres a year
    1120.0, 1160.0, 963.0, 1210.0, 1160.0, 1160.0, 813.0, 1230.0, 1370.0, 1140.0, 995.0, 935.0, 1110.0, 994.0,
    1020.0, 960.0, 1180.0, 799.0, 958.0, 1140.0, 1100.0, 1210.0, 1150.0, 1250.0, 1260.0, 1220.0, 1030.0, 1100.0,
    774.0, 840.0, 874.0, 694.0, 940.0, 833.0, 701.0, 916.0, 692.0, 1020.0, 1050.0, 969.0, 831.0, 726.0, 456.0,
    824.0, 702.0, 1120.0, 1100.0, 832.0, 764.0, 821.0, 768.0, 845.0, 864.0, 862.0, 698.0, 845.0, 744.0, 796.0,
    1040.0, 759.0, 781.0, 865.0, 845.0, 944.0, 984.0, 897.0, 822.0, 1010.0, 771.0, 676.0, 649.0, 846.0, 812.0,
    742.0, 801.0, 1040.0, 860.0, 874.0, 848.0, 890.0, 744.0, 749.0, 838.0, 1050.0, 918.0, 986.0, 797.0, 923.0,
    975.0, 815.0, 1020.0, 906.0, 901.0, 1170.0, 912.0, 746.0, 919.0, 718.0, 714.0, 740.0
])  # fmt: skip

# %%
# The filter
# ----------
# Each year the level is predicted, compared with the measurement, and corrected by the gain. The first measurement
# starts the filter (the level before it is unknown: a diffuse start). The loop is a plain Python loop over the years.


def filtered(logs, flow):
    """Minus the log likelihood, and for each year after the first the level and its variance."""
    noise, drift = np.exp(logs[0]), np.exp(logs[1])
    level, variance = flow[0], noise
    loss, levels, variances = 0.0, [], []
    for measured in flow[1:]:
        variance = variance + drift
        surprise, spread = measured - level, variance + noise
        loss = loss + 0.5 * (np.log(2 * np.pi * spread) + surprise**2 / spread)
        gain = variance / spread
        level, variance = level + gain * surprise, variance * (1.0 - gain)
        levels.append(level)
        variances.append(variance)
    return loss, (gt.stack(levels), gt.stack(variances))


def loss(logs, flow):
    return filtered(logs, flow)[0]


# %%
# The fit
# -------
# Newton's method in the logarithms of the variances, which keeps them positive. The inverse of the Hessian at the
# optimum is the covariance of the estimates.


def solve(compiled: bool = True) -> dict[str, Any]:
    together = gt.jit if compiled else lambda function: function
    slope, curvature = together(gt.value_and_grad(loss)), together(gt.hessian(loss))
    logs = np.log([8000.0, 8000.0])
    path = [logs]
    for _ in range(20):
        value, gradient = slope(logs, FLOW)
        direction = np.linalg.solve(curvature(logs, FLOW), gradient)
        logs = logs - direction / max(1.0, np.abs(direction).max())
        path.append(logs)
        if np.abs(direction).max() < 1e-9:
            break
    errors = np.sqrt(np.diag(np.linalg.inv(curvature(logs, FLOW))))
    noise, drift = np.exp(logs)
    _, (levels, variances) = filtered(logs, FLOW)
    grid = np.linspace(8.5, 10.4, 60), np.linspace(4.0, 9.5, 60)
    surface = together(gt.vmap(gt.vmap(loss, in_axes=(0, None)), in_axes=(0, None)))
    landscape = surface(np.stack(np.meshgrid(*grid), axis=-1), FLOW)
    return {
        "result": f"variances {noise:.0f} and {drift:.0f} (published: 15099 and 1469), log likelihood {-value:.2f}",
        "noise": noise,
        "drift": drift,
        "errors": errors,
        "likelihood": -value,
        "levels": np.asarray(levels),
        "spread": np.sqrt(variances),
        "path": np.array(path),
        "grid": grid,
        "landscape": landscape,
        "iterations": len(path),
    }


# %%
# The level, and the likelihood
# -----------------------------
# The variance of the level is known to a factor of two and a half (the standard error of its logarithm is 0.9), and
# the long valley of the likelihood shows the same: one hundred years are not many.


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    figure, (series, surface) = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained", width_ratios=(3, 2))
    level, spread = found["levels"], 1.96 * found["spread"]
    series.plot(YEARS, FLOW, "o", ms=3.5, color="0.45", label="measured")
    series.plot(YEARS[1:], level, lw=2, label="filtered level")
    series.fill_between(YEARS[1:], level - spread, level + spread, alpha=0.25, label="95 % of the level")
    series.set(title="Flow of the Nile at Aswan", xlabel="year", ylabel="flow (10$^8$ m$^3$ / year)")
    series.legend(loc="upper right")
    depth = found["landscape"] - found["landscape"].min()
    filled = surface.contourf(
        *found["grid"], depth, levels=[0, 0.5, 1, 2, 3, 5, 8, 15, 30], cmap="cividis_r", extend="max"
    )
    surface.plot(*found["path"].T, "o-", color="tab:orange", ms=4, label="Newton's method")
    surface.set(title="Minus log likelihood", xlabel="log variance of the measurement")
    surface.set(ylabel="log variance of the level", xlim=(8.4, 10.4), ylim=(4.0, 9.5))
    surface.legend(loc="lower left")
    figure.colorbar(filled, ax=surface, label="above the minimum")


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
