"""
A hierarchical model with Hamiltonian Monte Carlo
=================================================

Eight schools coached pupils for a test; each reports an effect and its standard error (Rubin, 1981). How far do the
schools differ, and what should one believe of the best of them? The hierarchical model lets the schools inform each
other: their effects are drawn from a normal distribution whose mean and width are unknown, too.

The posterior is sampled by Hamiltonian Monte Carlo. The whole trajectory of leapfrog steps, with a gradient in each,
is one compiled function. For this model there is an exact answer, too, by integrating over one number; the sampler is
held against it.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

EFFECT = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])  # points in the test
ERROR = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
TAU_SCALE = 5.0  # prior of the width: half-Cauchy with this scale

# %%
# The density
# -----------
# Written for many chains at once: ``q`` has a row for each chain, with the mean, the log of the width, and the eight
# effects in units of the width (the non-centred form, without which the sampler would be stuck in the funnel where
# the width is small). The gradient of the sum over the chains has the gradient of each chain in its row.


def log_density(q):
    mean, log_width, z = q[:, 0], q[:, 1], q[:, 2:]
    width = np.exp(log_width)
    effects = mean[:, None] + width[:, None] * z
    likelihood = -0.5 * np.sum(((EFFECT - effects) / ERROR) ** 2, axis=1)
    prior = -0.5 * np.sum(z**2, axis=1) - 0.5 * (mean / 20.0) ** 2 - np.log1p((width / TAU_SCALE) ** 2) + log_width
    return likelihood + prior


def transition(q, momentum, uniform, step, steps=12):
    """One draw of all chains: a trajectory, and Metropolis' choice between its two ends."""
    gradient = gt.grad(lambda q: np.sum(log_density(q)))
    before = log_density(q) - 0.5 * np.sum(momentum**2, axis=1)
    there, p = q, momentum + 0.5 * step * gradient(q)
    for i in range(steps):
        there = there + step * p
        p = p + (step if i < steps - 1 else 0.5 * step) * gradient(there)
    after = log_density(there) - 0.5 * np.sum(p**2, axis=1)
    accepted = np.log(uniform) < after - before
    return np.where(accepted[:, None], there, q), accepted


# %%
# The sampler
# -----------
# Random numbers are drawn outside and passed in. During the first quarter the step is adapted to an acceptance of 90
# %; those draws are thrown away.


def sample(draws, chains, compiled, rng):
    move = gt.jit(transition) if compiled else transition
    q = np.hstack([rng.normal(0, 5, (chains, 1)), rng.normal(0, 1, (chains, 9))])
    step, kept = 0.1, []
    for i in range(draws + draws // 3):
        jitter = rng.uniform(0.8, 1.2)
        q, accepted = move(q, rng.normal(size=q.shape), rng.uniform(size=chains), np.float64(step * jitter))
        if i < draws // 3:
            step *= np.exp((np.mean(accepted) - 0.9) / (1 + i) ** 0.6)
        else:
            kept.append(q)
    return np.stack(kept, axis=1)  # (chains, draws, 10)


def split_r_hat(chains):
    """Between the variance within halves of chains and that of all draws; 1 when the chains agree."""
    halves = np.concatenate(np.split(chains[:, : chains.shape[1] // 2 * 2], 2, axis=1))
    n = halves.shape[1]
    within, between = halves.var(axis=1, ddof=1).mean(), n * halves.mean(axis=1).var(ddof=1)
    return float(np.sqrt(((n - 1) / n * within + between / n) / within))


def exact_means():
    """The posterior means of the width and of the eight effects, by quadrature over the width."""
    w = np.exp(np.linspace(np.log(1e-4), np.log(300.0), 4000))
    variance = ERROR**2 + w[:, None] ** 2
    precision = np.sum(1 / variance, axis=1) + 1 / 20.0**2
    centre = np.sum(EFFECT / variance, axis=1) / precision
    log_weight = -0.5 * np.sum(np.log(variance) + EFFECT**2 / variance, axis=1) + 0.5 * centre**2 * precision
    log_weight += -0.5 * np.log(precision) - np.log1p((w / TAU_SCALE) ** 2) + np.log(w)  # d width = width d log width
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    effects = (EFFECT * w[:, None] ** 2 + ERROR**2 * centre[:, None]) / variance
    return weight @ w, weight @ effects


def solve(compiled: bool = True, draws: int = 1500, chains: int = 16) -> dict[str, Any]:
    q = sample(draws, chains, compiled, np.random.default_rng(3))
    width = np.exp(q[:, :, 1])
    effects = q[:, :, :1] + width[:, :, None] * q[:, :, 2:]
    r_hat = max(split_r_hat(q[:, :, i]) for i in range(10))
    exact_width, exact_effects = exact_means()
    errors = effects.mean(axis=1).std(axis=0, ddof=1) / np.sqrt(chains)  # of the means, from the spread of the chains
    off = float(np.max(np.abs(effects.mean(axis=(0, 1)) - exact_effects) / errors))
    return {
        "result": f"school A: {effects[:, :, 0].mean():.1f} (reported 28, "
        f"exact posterior mean {exact_effects[0]:.1f}); R-hat {r_hat:.3f}",
        "effects": effects.reshape(-1, 8),
        "width": width.ravel(),
        "mean": q[:, :, 0].ravel(),
        "r_hat": r_hat,
        "exact": exact_effects,
        "exact_width": exact_width,
        "off": off,
        "errors": errors,
    }


# %%
# What the schools learn from each other
# --------------------------------------
# Each school moves towards the common mean, the uncertain ones most: 28 points in school A are mostly luck. On the
# right is the funnel: where the width is small, the effects have little room.


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    _, (schools, funnel) = plt.subplots(1, 2, figsize=(9, 5), layout="constrained", width_ratios=(3, 2))
    places = np.arange(8)
    low, middle, high = np.percentile(found["effects"], [5, 50, 95], axis=0)
    schools.errorbar(places - 0.12, EFFECT, 1.645 * ERROR, fmt="s", color="0.6", label="reported, 90 %")
    schools.errorbar(places + 0.12, middle, [middle - low, high - middle], fmt="o", lw=2.5, label="posterior, 90 %")
    schools.plot(places + 0.12, found["exact"], "_", color="k", ms=14, mew=2, label="exact posterior mean")
    schools.axhline(found["mean"].mean(), color="C1", lw=1.5, ls="--", label="common mean")
    schools.set(title="Coaching in eight schools", xlabel="school", ylabel="effect (points in the test)")
    schools.set_xticks(places, list("ABCDEFGH"))
    schools.legend(loc="upper right", ncols=2, fontsize=9)
    schools.set_ylim(-32, 78)
    thin = slice(None, None, max(1, found["width"].size // 4000))
    funnel.semilogx(found["width"][thin], found["effects"][thin, 0], ".", ms=3, alpha=0.35, rasterized=True)
    funnel.set(title="Draws of school A", xlabel="width of the distribution of schools (points)",
               ylabel="effect of school A (points)", xlim=(0.03, 60))  # fmt: skip


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
