# expect: GT201 because GT205
# cause: w = w - ... makes a new tensor in the place of the Variable, which the tape of the second step ignores
# wrong: g is None
# cure: w = w - 0.1 * g -> w.assign_sub(0.1 * g)
import gradtape as gt

w = gt.Variable([2.0, -1.0])
for _ in range(2):
    with gt.GradientTape() as tape:
        loss = (w * w).sum()  # <- here
    g = tape.gradient(loss, w)  # <- asked
    if g is not None:
        w = w - 0.1 * g  # <- here
