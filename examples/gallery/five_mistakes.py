"""
A day of debugging: five mistakes in one training script
========================================================

A script that trains a small network on the strength of concrete does not work. It has five mistakes, of the kinds
that everyone makes. One stops the script, one gives NaN, and three do what is worse: the script runs, the loss falls,
and the result is bad.

All five are named in the first run. They are mended one after the other here, with a run after each, to see what each
of them was worth; below is what was said about the one that is mended next.
"""

import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

STEPS, RATE, HIDDEN = 1000, 0.03, 16

# %%
# The data
# --------
# Eight ingredients, in kilograms in a cubic metre, and the strength after a month, in units in which its variance is 1.


def concrete(count, rng):
    x = rng.uniform(-1.0, 1.0, size=(count, 8))
    strength = 1.6 * np.tanh(2.0 * x[:, 0] - 1.5 * x[:, 3]) + 0.8 * x[:, 1] * x[:, 7] + 0.6 * np.sin(3.0 * x[:, 7])
    strength = strength + 0.1 * rng.normal(size=count)
    return 300.0 + 200.0 * x, strength / strength.std()


# %%
# The script
# ----------
# Its five parts, each as it was found and, behind it, as it was mended.


def rebinding_update(p, gradients):
    for name in p:
        p[name] = p[name] - RATE * gradients[name]


def assigning_update(p, gradients):
    for name in p:
        p[name].assign_sub(RATE * gradients[name])


def norm_penalty(p):
    return 1e-3 * sum(np.sqrt(np.sum(p[name] ** 2)) for name in p)


def squared_penalty(p):
    return 1e-4 * sum(np.sum(p[name] ** 2) for name in p)


def column_error(forecast, y):
    return np.mean((forecast - y) ** 2)


def matched_error(forecast, y):
    return np.mean((forecast[:, 0] - y) ** 2)


def reshaped_hidden(p, x):
    return np.tanh((p["w1"].T @ x.T).reshape(len(x), HIDDEN) + p["b1"])


def transposed_hidden(p, x):
    return np.tanh((p["w1"].T @ x.T).T + p["b1"])


def raw_features(x):
    return x


def scaled_features(x):
    return (x - 300.0) / 115.0


AS_FOUND = {
    "update": rebinding_update,
    "penalty": norm_penalty,
    "error": column_error,
    "hidden": reshaped_hidden,
    "features": raw_features,
}
REPAIRS = [  # the part, what it becomes, what it was, and the code of the message
    ("update", assigning_update, "name bound anew", "GT201"),
    ("penalty", squared_penalty, "root at zero", "GT402"),
    ("error", matched_error, "broadcast", "GT101"),
    ("hidden", transposed_hidden, "reshape for transpose", "GT510"),
    ("features", scaled_features, "features not scaled", "GT503"),
]


def run(script, compiled=False):
    """Train; the losses, what was said, the error on new data. It ends early at a None or a NaN."""
    rng = np.random.default_rng(0)
    (x, y), (new_x, new_y) = concrete(300, rng), concrete(300, rng)
    x, new_x = script["features"](x), script["features"](new_x)
    p = {
        "w1": gt.Variable(rng.normal(0.0, 0.5, size=(8, HIDDEN))),
        "b1": gt.Variable(np.zeros(HIDDEN)),
        "w2": gt.Variable(rng.normal(0.0, 0.25, size=(HIDDEN, 1))),
        "b2": gt.Variable(np.zeros(1)),
    }
    losses = []

    def forecast(x):
        return script["hidden"](p, x) @ p["w2"] + p["b2"]

    def look():
        with gt.GradientTape() as tape:
            loss = script["error"](forecast(x), y) + script["penalty"](p)
        return loss, tape.gradient(loss, p)

    step = gt.jit(look) if compiled else look
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with gt.explain.surveying():  # looks at every operation of one gradient: for scripts that run, and learn little
            look()
        for _ in range(STEPS):
            loss, gradients = step()
            losses.append(float(loss))
            if None in gradients.values() or not np.isfinite(losses[-1]):
                break
            script["update"](p, gradients)
        error = float(np.mean((np.asarray(forecast(new_x))[:, 0] - new_y) ** 2))
    said = [str(warning.message) for warning in caught] + [str(note) for note in gt.explain.notes(clear=True)]
    return {"losses": losses, "said": said, "error": error, "codes": [text[1:6] for text in said]}


# %%
# The day
# -------
# Run, read, mend one thing, run again. `surveying` looks at every operation of one gradient, and finds what is no
# error but slows learning.


def solve(compiled: bool = True) -> dict[str, Any]:
    script, runs = dict(AS_FOUND), []
    for part, mended, mistake, _ in REPAIRS:
        runs.append({"mistake": mistake, **run(script)})
        script[part] = mended
    runs.append({"mistake": "", **run(script, compiled)})
    errors = ", ".join(f"{run['error']:.2f}" for run in runs[2:])
    return {
        "result": f"{sum(len(run['said']) for run in runs[:5])} messages in five runs, "
        f"{len(runs[5]['said'])} in the sixth; unexplained variance on new data in runs 3 to 6: {errors}",
        "runs": runs,
    }


# %%
# The six runs
# ------------


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    _, (curves, bars) = plt.subplots(1, 2, figsize=(9.5, 5), layout="constrained", width_ratios=(1, 1))
    labels = [f"run {number}: {run['mistake'] or 'mended'}" for number, run in enumerate(found["runs"], start=1)]
    styles = ["", "", "-", "--", "-.", "-"]
    for number, (run, style) in enumerate(zip(found["runs"], styles, strict=True)):
        if style:
            curves.plot(np.arange(1, STEPS + 1), run["losses"], style, lw=2.2, color=f"C{number}")
        else:
            curves.plot(2, run["losses"][0], "Xs"[number], ms=10, mec="k", color=f"C{number}")
    curves.set(
        title="Six runs of one script", xlabel="step", ylabel="loss (variance of the strength = 1)", xscale="log"
    )
    curves.set(ylim=(0, None))
    unexplained = [min(run["error"], 1.5) if np.isfinite(run["error"]) and len(run["losses"]) == STEPS else 0.0
                   for run in found["runs"]]  # fmt: skip
    names = [
        f"{label}\n{' '.join(dict.fromkeys(run['codes'])) or 'nothing said'}"
        for label, run in zip(labels, found["runs"], strict=True)
    ]
    shown = bars.barh(names, unexplained, color=[f"C{number}" for number in range(6)])
    stops = ["stops", "NaN", *(f"{run['error']:.2f}" for run in found["runs"][2:])]
    bars.bar_label(shown, stops, padding=4)
    bars.invert_yaxis()
    bars.set(title="What was said, and the result", xlabel="unexplained variance of new data (fraction)")
    bars.set_xlim(0, 1.25 * max(unexplained))


# %%
# What was said
# -------------

if __name__ == "__main__":
    found = solve()
    print(found["result"])
    for number, (one, repair) in enumerate(zip(found["runs"], REPAIRS, strict=False), start=1):
        print(f"\nrun {number} said {len(one['said'])} things, this among them:")
        print(next(text for text in one["said"] if text.startswith(f"[{repair[3]}]")))
    draw(found)
    plt.show()
