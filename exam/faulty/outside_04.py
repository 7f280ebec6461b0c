# expect: GT201 because GT211
# cause: y was computed on the first tape, and the second is asked
# wrong: gradient is None
# cure: z = y * 2.0 -> z = x**2 * 2.0
import gradtape as gt

x = gt.tensor(3.0)
with gt.GradientTape() as first:
    first.watch(x)
    y = x**2  # <- here
with gt.GradientTape() as second:
    second.watch(x)
    z = y * 2.0
gradient = second.gradient(z, x)  # <- asked
