"""
A Gaussian mixture by gradients, and by EM
==========================================

Three groups of points overlap. The likelihood of a mixture of three normal distributions is maximised twice: with the
expectation-maximisation algorithm, the textbook way, and directly with L-BFGS on its gradient. Both arrive at the same
likelihood. What the gradient gives besides is the curvature, and so a standard error for every parameter.

Free parameters make this simple: weights are a softmax (of which one logit is held at zero), and each precision
matrix is a product of triangular matrices with the exponentials of free numbers on the diagonal.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

WEIGHTS = np.array([0.5, 0.3, 0.2])
MEANS = np.array([[0.0, 0.0], [3.0, 1.0], [1.0, 3.5]])
SPREADS = np.array([[[1.0, 0.6], [0.6, 0.8]], [[0.5, -0.3], [-0.3, 1.0]], [[0.9, 0.0], [0.0, 0.2]]])


def draw_points(n, rng):
    group = rng.choice(3, size=n, p=WEIGHTS)
    return MEANS[group] + np.einsum("nij,nj->ni", np.linalg.cholesky(SPREADS)[group], rng.normal(size=(n, 2)))


# %%
# The likelihood
# --------------
# With U the triangular factor of a precision matrix, the squared distance of a point from a centre is the length of
# U (x - mean), and half the log determinant is the sum of the logarithms on the diagonal.


def unpack(theta):
    """Seventeen numbers: two logits, three means, diagonals of three triangular factors, what is below them."""
    means, log_diagonal = theta[2:8].reshape(3, 2), theta[8:14].reshape(3, 2)
    return {"logits": np.pad(theta[:2], (0, 1)), "means": means, "log_diagonal": log_diagonal, "below": theta[14:]}


def log_densities(p, x):
    """The log of weight times density: (points, groups)."""
    log_weights = gt.log_softmax(p["logits"])
    away = x[:, None, :] - p["means"]
    diagonal = np.exp(p["log_diagonal"])
    first = diagonal[:, 0] * away[:, :, 0]
    second = p["below"] * away[:, :, 0] + diagonal[:, 1] * away[:, :, 1]
    return log_weights + np.sum(p["log_diagonal"], axis=1) - 0.5 * (first**2 + second**2) - np.log(2 * np.pi)


def loss(theta, x):
    return -np.mean(gt.logsumexp(log_densities(unpack(theta), x), axis=1))


def by_em(x, means, sweeps=400):
    """Expectation and maximisation in turn; the history of the mean log likelihood."""
    weights, spreads, history = np.full(3, 1 / 3), np.stack([np.cov(x.T)] * 3), []
    for _ in range(sweeps):
        away = x[:, None, :] - means
        distance = np.einsum("nki,kij,nkj->nk", away, np.linalg.inv(spreads), away)
        log = np.log(weights) - 0.5 * distance - 0.5 * np.linalg.slogdet(spreads)[1] - np.log(2 * np.pi)
        total = np.logaddexp.reduce(log, axis=1)
        history.append(-total.mean())
        share = np.exp(log - total[:, None])
        count = share.sum(axis=0)
        weights, means = count / len(x), share.T @ x / count[:, None]
        away = x[:, None, :] - means
        spreads = np.einsum("nk,nki,nkj->kij", share, away, away) / count[:, None, None]
    return history


def solve(compiled: bool = True, points: int = 1500) -> dict[str, Any]:
    x = draw_points(points, np.random.default_rng(7))
    guess = np.array([[-0.5, 1.0], [2.0, 0.0], [0.0, 2.5]])
    start = np.concatenate([np.zeros(2), guess.ravel(), np.zeros(9)])
    history = [float(loss(start, x))]
    found = gt.optimize.minimize(
        loss, start, "L-BFGS-B", args=(x,), tol=1e-12, jit=compiled, options={"maxiter": 300, "maxfun": 1000},
        callback=lambda intermediate_result: history.append(float(intermediate_result.fun)),
    )  # fmt: skip
    em = by_em(x, guess)

    hessian = gt.jit(gt.hessian(loss)) if compiled else gt.hessian(loss)
    errors = np.sqrt(np.diag(np.linalg.inv(points * hessian(found.x, x))))[2:8].reshape(3, 2)
    p = unpack(found.x)
    off = float(np.max(np.abs(p["means"] - MEANS) / errors))
    return {
        "result": f"mean log likelihood {-found.fun:.6f}, by EM {-em[-1]:.6f}; means within {off:.1f} standard errors",
        "x": x,
        "p": p,
        "history": history,
        "em": em,
        "errors": errors,
        "off": off,
        "groups": np.asarray(log_densities(p, x)).argmax(axis=1),
    }


# %%
# The groups
# ----------
# Ellipses hold 39 % and 86 % of each group (one and two standard deviations). L-BFGS needs fewer passes than EM, whose
# steps become short where groups overlap.


def ellipse(p, group, radius):
    angle = np.linspace(0, 2 * np.pi, 100)
    diagonal = np.exp(p["log_diagonal"][group])
    factor = np.array([[diagonal[0], 0.0], [p["below"][group], diagonal[1]]])
    return p["means"][group][:, None] + np.linalg.solve(factor, radius * np.stack([np.cos(angle), np.sin(angle)]))


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    _, (plane, steps) = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
    for group, marker in enumerate("os^"):
        inside = found["x"][found["groups"] == group]
        plane.plot(*inside.T, marker, ms=3, alpha=0.4, color=f"C{group}")
        for radius in (1.0, 2.0):
            plane.plot(*ellipse(found["p"], group, radius), color="k", lw=1.5)
    plane.plot(*MEANS.T, "*", color="gold", mec="k", ms=14, label="true centres")
    plane.set(title="1 500 points in three groups", xlabel="first feature", ylabel="second feature", aspect="equal")
    plane.legend(loc="lower right")
    best = min(found["em"][-1], found["history"][-1])
    for name, history, style in (("EM", found["em"], "-"), ("L-BFGS on the gradient", found["history"], "--")):
        steps.loglog(np.arange(1, len(history) + 1), np.array(history) - best + 1e-9, style, lw=2, label=name)
    steps.set(title="Convergence", xlabel="iteration", ylabel="minus log likelihood, above the best (nats)")
    steps.legend()


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
