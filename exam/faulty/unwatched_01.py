# expect: GT201 because GT203
# cause: x is a plain tensor, and the tape was never told to watch it
# wrong: g is None
# cure: tape:\n    y -> tape:\n    tape.watch(x)\n    y
import gradtape as gt

x = gt.tensor([1.0, 2.0, 3.0])  # <- here
with gt.GradientTape() as tape:
    y = (x**2).sum()  # <- here
g = tape.gradient(y, x)  # <- asked
