# expect: GT308
# cause: two gradients are asked of a tape that is not persistent
# wrong: raises TapeError
# cure: gt.GradientTape() -> gt.GradientTape(persistent=True)
import gradtape as gt

w, b = gt.Variable(2.0), gt.Variable(1.0)
with gt.GradientTape() as tape:
    loss = (w * 3.0 + b) ** 2
dw = tape.gradient(loss, w)
db = tape.gradient(loss, b)  # <- here
