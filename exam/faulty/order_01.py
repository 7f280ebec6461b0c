# expect: GT315
# cause: the tape of the outer loop is entered again inside its own block
# wrong: raises TapeError
# cure: with tape:  # <- here -> with gt.GradientTape():
import gradtape as gt

x = gt.Variable([1.0, 2.0])
tape = gt.GradientTape(persistent=True)
with tape as outer:
    y = (x**2).sum()
    with tape:  # <- here
        z = y * 3.0
g = tape.gradient(z, x)
