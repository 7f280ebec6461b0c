"""
Topology optimisation of a beam
===============================

Where should material be, if only half of the space may be filled and the beam is to be as stiff as possible? Each
cell of a grid gets a density; the compliance (the work of the load) is minimised over all of them. This is the
classical MBB beam with the SIMP method: stiffness grows with the cube of the density, which makes half-dense cells
uneconomic.

Everything is written forward: a density filter, the assembly of the stiffness matrix, a sparse solve. The gradient
through the solve is the adjoint solution, which the tape makes by itself. The formula of the textbooks is a check
here, not an input.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import convolve

import gradtape as gt
from gradtape.scipy import sparse

WIDE, HIGH, FILLED, PENALTY = 60, 20, 0.5, 3.0

# %%
# Finite elements
# ---------------
# Square bilinear elements in plane stress. Half of the beam is computed: symmetry on the left edge, a roller in the
# lower right corner, the load at the upper left.


def element_stiffness(poisson=0.3):
    """The 8 x 8 stiffness matrix of a unit square, by 2 x 2 Gauss points."""
    elasticity = np.array([[1, poisson, 0], [poisson, 1, 0], [0, 0, (1 - poisson) / 2]]) / (1 - poisson**2)
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    total = np.zeros((8, 8))
    for s, t in corners / np.sqrt(3):
        slopes = 0.5 * corners * (1 + corners[:, ::-1] * [t, s])  # of the shape functions, per unit length
        strain = np.zeros((3, 8))
        strain[0, 0::2], strain[1, 1::2] = slopes[:, 0], slopes[:, 1]
        strain[2, 0::2], strain[2, 1::2] = slopes[:, 1], slopes[:, 0]
        total += strain.T @ elasticity @ strain / 4
    return total


STIFFNESS = element_stiffness()
NODE = np.arange((WIDE + 1) * (HIGH + 1)).reshape(WIDE + 1, HIGH + 1)
CORNERS = np.stack([NODE[:-1, :-1], NODE[1:, :-1], NODE[1:, 1:], NODE[:-1, 1:]], axis=-1).reshape(-1, 4)
UNKNOWNS = np.stack([2 * CORNERS, 2 * CORNERS + 1], axis=-1).reshape(-1, 8)  # of each element
HELD = np.concatenate([2 * NODE[0], [2 * NODE[-1, 0] + 1]])
FREE = np.setdiff1d(np.arange(2 * NODE.size), HELD)
ORDER = np.full(2 * NODE.size, -1)
ORDER[FREE] = np.arange(FREE.size)
ROWS, COLUMNS = ORDER[np.repeat(UNKNOWNS, 8, axis=1)].ravel(), ORDER[np.tile(UNKNOWNS, 8)].ravel()
KEPT = (ROWS >= 0) & (COLUMNS >= 0)
LOAD = np.zeros(FREE.size)
LOAD[ORDER[2 * NODE[0, -1] + 1]] = -1.0

# %%
# From densities to compliance
# ----------------------------

CONE = np.clip(1.5 - np.hypot(*np.mgrid[-1:2, -1:2]), 0, None)
SHARE = convolve(np.ones((WIDE, HIGH)), CONE, mode="constant")


def filtered(x):
    """Each density becomes a mean of its neighbourhood, which keeps checkerboards away."""
    padded = np.pad(x, 1)
    return sum(CONE[i, j] * padded[i : i + WIDE, j : j + HIGH] for i in range(3) for j in range(3)) / SHARE


def displacement(density):
    young = 1e-6 + density.reshape(-1) ** PENALTY
    entries = (young[:, None] * STIFFNESS.reshape(1, 64)).reshape(-1)[KEPT]
    matrix = sparse.csc_array(sparse.coo_array((entries, (ROWS[KEPT], COLUMNS[KEPT])), shape=(FREE.size, FREE.size)))
    return sparse.linalg.spsolve(matrix, LOAD)


def compliance(x):
    return LOAD @ displacement(filtered(x))


def textbook_gradient(density):
    """By the density of each element, with the adjoint solution known to be the displacement itself."""
    u = np.zeros(2 * NODE.size)
    u[FREE] = displacement(density)
    energy = np.einsum("ei,ij,ej->e", u[UNKNOWNS], STIFFNESS, u[UNKNOWNS])
    return -(PENALTY * density.ravel() ** (PENALTY - 1) * energy).reshape(density.shape)


# %%
# Optimality criteria
# -------------------
# The fixed-point update of the field: densities grow where the gradient promises more than the price of material; the
# price is found by bisection so that the volume is what is allowed.


def updated(x, gradient, move=0.2):
    low, high = 1e-9, 1e9
    while high / low > 1 + 1e-6:
        price = np.sqrt(low * high)
        proposal = np.clip(x * np.sqrt(np.clip(-gradient, 0, None) / price), x - move, x + move)
        proposal = np.clip(proposal, 0.0, 1.0)
        if proposal.mean() > FILLED:
            low = price
        else:
            high = price
    return proposal


def solve(compiled: bool = True, iterations: int = 60) -> dict[str, Any]:
    slope = gt.value_and_grad(compliance)
    if compiled:
        slope = gt.jit(slope)
    x = np.full((WIDE, HIGH), FILLED)
    by_tape = gt.grad(lambda density: LOAD @ displacement(density))(x)
    by_book = textbook_gradient(x)
    history, snapshots = [], {}
    for iteration in range(iterations):
        value, gradient = slope(x)
        history.append(float(value))
        x = updated(x, gradient)
        if iteration in (2, 11):
            snapshots[iteration + 1] = filtered(x)
    snapshots[iterations] = filtered(x)
    agreement = float(np.abs(by_tape - by_book).max() / np.abs(by_book).max())
    return {
        "result": f"compliance from {history[0]:.0f} to {history[-1]:.0f} with {x.mean():.0%} of the material; "
        f"gradient agrees with the adjoint formula to {agreement:.0e}",
        "history": history,
        "snapshots": snapshots,
        "volume": float(x.mean()),
        "agreement": agreement,
    }


# %%
# The beam
# --------
# Mirrored at the axis of symmetry. Triangles are the supports, the arrow is the load.


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    _, axes = plt.subplot_mosaic([["a", "b"], ["c", "h"]], figsize=(9, 4.8), layout="constrained")
    for axis, (iteration, density) in zip("abc", found["snapshots"].items(), strict=False):
        whole = np.concatenate([density[::-1], density])
        axes[axis].imshow(whole.T, cmap="gray_r", vmin=0, vmax=1, origin="lower", extent=(0, 2 * WIDE, 0, HIGH))
        axes[axis].plot([3.0, 2 * WIDE - 3.0], [-2.2, -2.2], "^", color="C1", ms=8)
        axes[axis].annotate("", (WIDE, HIGH), (WIDE, HIGH + 10), arrowprops={"color": "C1", "width": 2, "headwidth": 8})
        axes[axis].set(title=f"after {iteration} iterations", xlabel="x (elements)", ylabel="y (elements)")
        axes[axis].set(xlim=(0, 2 * WIDE), ylim=(-5, HIGH + 10), yticks=[0, HIGH])
    axes["h"].plot(np.arange(1, len(found["history"]) + 1), found["history"], lw=2)
    axes["h"].set(title="convergence", xlabel="iteration", ylabel="compliance (load$^2$ / stiffness)")


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
