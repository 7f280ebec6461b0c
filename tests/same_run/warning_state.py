"""Warnings: which are recorded, counted, raised and shown, by whom, and the filters."""

import contextlib
import io
import sys
import warnings

import numpy as np

import gradtape as gt

print([entry[:3] for entry in warnings.filters])
x = gt.Variable([0.4, 1.6])


def ask():
    with gt.GradientTape() as tape:
        y = gt.round(x).sum()
    return tape.gradient(y, x)


def infinite():
    with gt.GradientTape() as tape:
        y = np.sum(np.log(x * 0.0))
    return tape.gradient(y, x)


for kind in ("always", "default", "once"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(kind)
        for _ in range(3):
            ask()
            warnings.warn("mine", stacklevel=1)
            np.log(np.zeros(2))
        infinite()
    print(kind, [(each.category.__name__, each.lineno, str(each.message).splitlines()[0]) for each in caught])

with warnings.catch_warnings():
    warnings.simplefilter("error")
    for work in (ask, infinite, lambda: np.log(np.zeros(1)), lambda: warnings.warn("mine", stacklevel=1)):
        try:
            print(work())
        except Warning as raised:
            print(type(raised).__name__, str(raised).splitlines()[0])

with contextlib.redirect_stderr(io.StringIO()) as captured:
    ask()
    np.log(np.zeros(3))
    warnings.warn("captured", stacklevel=1)
print(captured.getvalue())

formatted = warnings.formatwarning
warnings.formatwarning = lambda message, category, *rest, **more: f"<{category.__name__}>\n"
with contextlib.redirect_stderr(io.StringIO()) as captured:
    ask()
    warnings.warn("formatted", stacklevel=1)
print(captured.getvalue())
warnings.formatwarning = formatted

shown = []
before = warnings.showwarning
warnings.showwarning = lambda message, category, *rest, **more: shown.append((category.__name__, rest[1]))
ask()
np.sqrt(-np.ones(2))
with warnings.catch_warnings():
    warnings.simplefilter("always")
    ask()
warnings.showwarning = before
print(shown)
np.sqrt(-np.ones(3))
print(sorted(map(str, globals().get("__warningregistry__", {}))))
print([entry[:3] for entry in warnings.filters])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(ask())

heard = []
with gt.explain.listening(lambda problem: heard.append(problem.code)):
    z = gt.Variable(np.linspace(-30.0, 30.0, 8))
    for _ in range(3):
        with gt.GradientTape() as tape:
            y = np.tanh(z).sum()
        tape.gradient(y, z)
print(heard, [note.code for note in gt.explain.notes()])
with gt.explain.configure(GT5="raise"):
    for _ in range(3):
        with gt.GradientTape() as tape:
            y = np.tanh(z * 2.0).sum()
        print(tape.gradient(y, z).numpy().tolist())
with gt.explain.configure(GT5="warn"), warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with gt.GradientTape() as tape:
        y = np.tanh(z * 3.0).sum()
    tape.gradient(y, z)
print(len(caught), [note.code for note in gt.explain.notes()])
with gt.explain.surveying():
    with gt.GradientTape() as tape:
        y = np.tanh(z * 4.0).sum()
    tape.gradient(y, z)
print([note.code for note in gt.explain.notes(clear=True)])
try:
    with gt.expect("GT503"):
        with gt.GradientTape() as tape:
            y = np.tanh(z * 5.0).sum()
        tape.gradient(y, z)
except AssertionError as error:
    print(error)
sys.stdout.flush()
