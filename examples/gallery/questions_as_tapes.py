"""
Questions about gradients, drawn as tapes
=========================================

What does a tape return when the target has several numbers? Why is a gradient None? What does a shape of ``(4, 1)``
against ``(4,)`` do on the way back? These are the questions that gradtape was begun for. Each is a few lines of code;
here they are drawn as what a tape records: boxes are arrays with their shapes, black arrows the computation, orange
ones the gradient on its way back.

Every number in the pictures comes from a tape that was asked for the gradients of all its intermediate values.
"""

import warnings
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

# %%
# The questions
# -------------
# Each function records something and returns its steps, as pairs of what is written in the code and its value.


def several_numbers(x):
    """A target of three numbers: the gradient is that of their sum"""
    square = x**2
    y = square[::-1] + 1.0
    return [("x", x), ("x**2", square), ("y = (x**2)[::-1] + 1", y)]


def jacobian_of_a_sum(x):
    """A sum of three numbers: its Jacobian is one row of ones"""
    return [("x", x), ("np.sum(x)", np.sum(x))]


def column_against_row(x):
    """A column against a row: each element meets each"""
    column = x[:, None]
    difference = column - np.array([2.0, 4.0, 6.0])
    loss = np.mean(difference**2)
    return [("x", x), ("c = x[:, None]", column), ("c - y", difference), ("np.mean(...)", loss)]


def rounded(x):
    """A value that leaves the tape: the gradient is None"""
    steps = np.round(x)
    return [("x", x), ("np.round(x)", steps), ("np.sum(steps**2)", np.sum(steps**2))]


def zero_slope(x):
    """A path with slope zero: the gradient is zero, not None"""
    masked = x * np.zeros(3)
    return [("x", x), ("x * zeros", masked), ("np.sum(masked)", np.sum(masked))]


QUESTIONS = [several_numbers, jacobian_of_a_sum, column_against_row, rounded, zero_slope]

# %%
# Asking the tape
# ---------------
# The tape is asked for the gradient of the last step by each step. Where nothing comes back, ``tape.why`` says why.


def ask(question, compiled):
    """The steps with their values and gradients, and why a gradient is None or zero."""

    def gradients(values):
        x = gt.Variable(values)
        with gt.GradientTape(persistent=True) as tape:
            steps = question(x)
        by_step = tape.gradient(steps[-1][1], [value for _, value in steps], unconnected_gradients="none")
        return [value for _, value in steps], by_step

    x = np.array([1.0, 2.0, 3.0])
    values, by_step = (gt.jit(gradients) if compiled else gradients)(x)
    variable = gt.Variable(x)
    with gt.GradientTape(persistent=True) as tape:
        steps = question(variable)
    reason = str(tape.why(steps[-1][1], variable)) if by_step[0] is None else ""
    arrays = [np.asarray(value) for value in values]
    came_back = [None if gradient is None else np.asarray(gradient) for gradient in by_step]
    labels = [label for label, _ in steps]
    return {"title": question.__doc__, "labels": labels, "values": arrays, "gradients": came_back, "why": reason}


def solve(compiled: bool = True) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the pictures show what the warnings say
        tapes = {question.__name__: ask(question, compiled) for question in QUESTIONS}
    ends = [
        "None" if tape["gradients"][0] is None else np.array2string(tape["gradients"][0], precision=2)
        for tape in tapes.values()
    ]
    return {"result": f"gradients by x = [1. 2. 3.]: {', '.join(ends)}", "tapes": tapes}


# %%
# The tapes
# ---------
# The broadcast on the third tape makes nine differences of three numbers; on the way back they are summed to a
# gradient that has the shape of x, and pulls every element towards the mean of all targets.


ORANGE = "#d55e00"
BOX = {"boxstyle": "round,pad=0.5", "facecolor": "#e8f1fa", "edgecolor": "#0072b2"}
# sphinx_gallery_thumbnail_number = 3


def written(array):
    """An array in at most three short lines."""
    return np.array2string(array, precision=2, suppress_small=True).replace("\n ", "\n")


def draw(found: dict[str, Any]) -> None:
    for tape in found["tapes"].values():
        _, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
        places = 3.1 * np.arange(len(tape["labels"]))
        steps = list(zip(places, tape["labels"], tape["values"], tape["gradients"], strict=True))
        for (start, _, _, before), (place, _, _, _) in pairwise(steps):
            arrow = {"arrowstyle": "-|>", "lw": 2, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 18}
            axis.annotate("", (place - 1.15, 0.95), (start + 1.15, 0.95), arrowprops={**arrow, "color": "k"})
            back = {**arrow, "color": ORANGE, "linestyle": ":" if before is None else "-"}
            axis.annotate("", (start + 0.6, 0.45), (place - 0.6, 0.45), arrowprops=back)
            if before is None:
                axis.text(
                    (place + start) / 2, 0.45, "X", ha="center", va="center", fontsize=18, color=ORANGE, weight="bold"
                )
        for place, label, value, gradient in steps:
            axis.text(place, 0.95, f"{label}\n{value.shape}", ha="center", va="center", fontsize=11, bbox=BOX)
            axis.text(place, 1.3, written(value), ha="center", va="bottom", fontsize=11, family="monospace")
            text = "None" if gradient is None else written(gradient)
            axis.text(place, 0.3, text, ha="center", va="top", fontsize=11, family="monospace", color="#b34700")
        axis.text(-2.9, 1.3, "value", va="bottom", fontsize=10, style="italic")
        axis.text(-2.9, 0.3, "gradient", va="top", fontsize=10, style="italic", color="#b34700")
        axis.set_title(tape["title"], fontsize=13, weight="bold")
        axis.set(xlim=(-3.0, places[-1] + 1.4), ylim=(-0.3, 1.9))
        axis.axis("off")


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    print(found["tapes"]["rounded"]["why"])
    draw(found)
    plt.show()
