# expect: GT201 because GT206
# cause: the prediction is written into a Variable with assign, through which no gradient passes
# wrong: g is None
# cure: state.assign(w * 3.0)  # <- here\n -> state = w * 3.0\n
import gradtape as gt

w = gt.Variable(1.5)
state = gt.Variable(0.0)
with gt.GradientTape() as tape:
    state.assign(w * 3.0)  # <- here
    loss = (state - 1.0) ** 2
g = tape.gradient(loss, w)  # <- asked
