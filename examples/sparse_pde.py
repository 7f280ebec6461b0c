"""Solve a nonlinear equation on a grid by Newton's method, with a sparse Jacobian found by colouring.

The equation of Bratu, Laplace(u) + s exp(u) = 0 on the unit square with u = 0 on its border. A grid of n by n points
has n^2 unknowns, and the Jacobian n^4 entries, of which about 5 n^2 are not zero: the pattern is detected, and as many
directions are pushed through the function as there are colours, whatever n is.

python examples/sparse_pde.py --points 60
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import spsolve

import gradtape as gt


def residual(u, points: int, strength: float):
    """What is left of the equation at every point; zero at a solution."""
    spacing = 1.0 / (points + 1)
    inside = u.reshape((points, points))
    field = gt.at(np.zeros((points + 2, points + 2)))[1:-1, 1:-1].set(inside)
    neighbours = field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]
    return ((neighbours - 4.0 * inside) / spacing**2 + strength * np.exp(inside)).reshape(-1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=40, help="grid points along each side")
    parser.add_argument("--strength", type=float, default=5.0, help="s in the equation; no solution above about 6.8")
    options = parser.parse_args()
    if options.points < 2 or options.strength <= 0:
        parser.error("--points is a whole number of at least 2, --strength a number above 0")

    def equation(u):
        return residual(u, options.points, options.strength)

    jacobian = gt.sparse_jacobian(equation, pattern="cached")
    u = np.zeros(options.points**2)
    for iteration in range(20):
        left = equation(u)
        size = np.abs(left).max()
        print(f"iteration {iteration}: largest residual {size:.1e}")
        if size < 1e-9 * options.points**2:
            break
        slopes = csc_array(jacobian(u))
        u = u - spsolve(slopes, left)
    else:
        raise SystemExit("Newton's method did not arrive; is the strength above 6.8?")
    print(f"{u.size} unknowns; the Jacobian stores {slopes.nnz} of {u.size**2} entries")
    print(f"each time it took {jacobian.colours} passes instead of {u.size}")
    print(f"u in the middle of the square: {u.max():.4f}")


if __name__ == "__main__":
    main()
