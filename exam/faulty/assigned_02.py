# expect: GT201 because GT206
# cause: the ODE state is a Variable that is updated with assign_add, so nothing leads back to the rate
# wrong: sensitivity is None
# cure: y.assign_add(-0.1 * rate * y)  # <- here\n -> y = y + -0.1 * rate * y\n
import gradtape as gt

rate = gt.Variable(0.8)
y = gt.Variable([1.0, 2.0])

with gt.GradientTape() as tape:
    for _ in range(5):
        y.assign_add(-0.1 * rate * y)  # <- here
    final = y.sum()
sensitivity = tape.gradient(final, rate)  # <- asked
