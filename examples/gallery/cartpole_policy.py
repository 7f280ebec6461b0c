"""
A policy gradient on a cart-pole
================================

A pole stands on a cart that is pushed to the left or to the right, fifty times a second. A policy network sees
position, speed, angle and angular speed, and learns to keep the pole up from nothing but its own attempts: REINFORCE,
with the mean of a batch as a baseline.

The dynamics are plain NumPy over sixty-four carts at once, and need no gradient. The gradient is that of the log
probabilities of what was done, weighted by how things went afterwards; that step, with Adam, is one compiled
function.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

CARTS, HORIZON = 64, 250  # attempts in a batch, and steps until an attempt is a success
GRAVITY, CART, POLE, HALF_LENGTH, FORCE, STEP = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

# %%
# The dynamics
# ------------
# Barto, Sutton and Anderson (1983): the cart-pole with a massless joint and without friction. An attempt is over when
# the pole leans by more than 12 degrees, or the cart leaves the track.


def push(state, right):
    """The states one step later; `right` is 1 where the push is to the right, 0 where it is to the left."""
    _, speed, angle, turn = state.T
    force = FORCE * (2.0 * right - 1.0)
    total = CART + POLE
    common = (force + POLE * HALF_LENGTH * turn**2 * np.sin(angle)) / total
    angular = (GRAVITY * np.sin(angle) - np.cos(angle) * common) / (
        HALF_LENGTH * (4.0 / 3.0 - POLE * np.cos(angle) ** 2 / total)
    )
    linear = common - POLE * HALF_LENGTH * angular * np.cos(angle) / total
    return state + STEP * np.stack([speed, linear, turn, angular], axis=1)


def alive(state):
    return (np.abs(state[:, 0]) < 2.4) & (np.abs(state[:, 2]) < np.radians(12))


# %%
# The policy
# ----------
# One hidden layer; the output is the logit of a push to the right.

POLICY = gt.nn.Sequential(gt.nn.Dense(4, 24, dtype=np.float64), gt.nn.Tanh(), gt.nn.Dense(24, 1, dtype=np.float64))
SCALE = np.array([1.0, 1.0, 5.0, 2.0])
OPTIMISER = gt.optim.Adam(learning_rate=0.02)


def logits(params, states):
    return POLICY.apply(params, SCALE * states)[..., 0]


def rollout(act, params, rng):
    """A batch of attempts: states (HORIZON, CARTS, 4), pushes, and which of the carts were still up."""
    state = rng.uniform(-0.05, 0.05, size=(CARTS, 4))
    up = np.ones(CARTS, dtype=bool)
    states, pushes, ups = [], [], []
    for _ in range(HORIZON):
        right = rng.random(CARTS) < 1.0 / (1.0 + np.exp(-act(params, state)))
        states.append(state)
        pushes.append(right)
        ups.append(up)
        state = np.where(up[:, None], push(state, right), state)
        up = up & alive(state)
    return np.stack(states), np.stack(pushes).astype(float), np.stack(ups).astype(float)


def update(params, memory, states, pushes, weights):
    """One step of Adam along the policy gradient."""

    def loss(params):
        z = logits(params, states)
        log_probability = pushes * z - gt.softplus(z)
        return -np.sum(weights * log_probability) / CARTS

    return OPTIMISER.update(gt.grad(loss)(params), memory, params)


def solve(compiled: bool = True, batches: int = 30) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    together = gt.jit if compiled else lambda function: function
    act, learn = together(logits), together(update)
    params = POLICY.init(rng)
    memory, history = OPTIMISER.init(params), []
    for _ in range(batches):
        states, pushes, ups = rollout(act, params, rng)
        history.append(ups.sum(axis=0))
        if ups.all():  # nothing went better or worse than anything else: there is no gradient
            continue
        ahead = np.cumsum(ups[::-1], axis=0)[::-1]  # steps that were still to come
        baseline = ahead.mean(axis=1, keepdims=True)
        weights = ups * (ahead - baseline) / (ahead.std() + 1e-9)
        params, memory = learn(params, memory, states, pushes, weights)
    states, _, ups = rollout(act, params, rng)
    steps = ups.sum(axis=0)
    return {
        "result": f"the pole stays up for {steps.mean():.0f} of {HORIZON} steps, at first for {history[0].mean():.0f}; "
        f"{np.mean(steps == HORIZON):.0%} of {CARTS} new attempts succeed",
        "history": np.array(history),
        "steps": steps,
        "params": params,
        "states": states,
    }


# %%
# Learning, and what was learned
# ------------------------------
# The policy in the plane of angle and angular speed (with the cart at rest in the middle) is a line that one would
# draw by hand: push to where the pole is falling.


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    figure, (curve, plane) = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
    low, middle, high = np.percentile(found["history"], [10, 50, 90], axis=1)
    curve.fill_between(np.arange(len(middle)), low, high, alpha=0.3, label="10 % to 90 % of the batch")
    curve.plot(middle, lw=2, label="median")
    curve.axhline(HORIZON, color="0.4", ls="--", lw=1)
    curve.set(title="Learning", xlabel="batch of 64 attempts", ylabel="steps until the pole fell", ylim=(0, 270))
    curve.legend(loc="lower right")
    angle, turn = np.meshgrid(np.linspace(-12, 12, 80), np.linspace(-120, 120, 80))
    zeros = np.zeros_like(angle)
    states = np.stack([zeros, zeros, np.radians(angle), np.radians(turn)], axis=-1)
    right = 1.0 / (1.0 + np.exp(-np.asarray(logits(found["params"], states))))
    filled = plane.contourf(angle, turn, right, levels=np.linspace(0, 1, 11), cmap="PuOr")
    way = np.degrees(found["states"][:, 0, 2:])
    plane.plot(*way.T, color="k", lw=0.8, label="one attempt")
    plane.set(title="The policy", xlabel="angle of the pole (degrees)", ylabel="angular speed (degrees / s)")
    plane.legend(loc="lower left")
    figure.colorbar(filled, ax=plane, label="probability of a push to the right")


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
