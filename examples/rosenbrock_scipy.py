"""Minimise Rosenbrock's function with SciPy, which asks for values, gradients and Hessian-vector products.

python examples/rosenbrock_scipy.py
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

import gradtape as gt


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def main() -> None:
    start = np.full(20, -1.2)

    by_differences = minimize(rosenbrock, start, method="BFGS")
    by_gradient = minimize(gt.value_and_grad(rosenbrock), start, jac=True, method="BFGS")
    by_curvature = minimize(
        gt.value_and_grad(rosenbrock),
        start,
        jac=True,
        hessp=lambda x, v: gt.hvp(rosenbrock, x, v),
        method="trust-ncg",
        options={"gtol": 1e-9},
    )

    print(f"{'derivatives':28} {'value found':>12} {'function calls':>15} {'iterations':>11} {'distance from 1':>16}")
    runs = {
        "finite differences": by_differences,
        "gradient": by_gradient,
        "gradient, Hessian products": by_curvature,
    }
    for name, run in runs.items():
        distance = np.abs(run.x - 1.0).max()
        print(f"{name:28} {run.fun:12.1e} {run.nfev:15} {run.nit:11} {distance:16.1e}")


if __name__ == "__main__":
    main()
