# expect: GT314
# cause: unconnected_gradients takes "none" or "zero", not "zeros"
# wrong: raises OperandError
# cure: "zeros" -> "zero"
import gradtape as gt

a, b = gt.Variable(1.0), gt.Variable(2.0)
with gt.GradientTape() as tape:
    y = a * 3.0
ga, gb = tape.gradient(y, [a, b], unconnected_gradients="zeros")  # <- here
