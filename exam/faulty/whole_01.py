# expect: GT310
# cause: the exponents are written without a point, so the array has integers
# wrong: raises DtypeError
# cure: np.array([1, 2, 3]) -> np.array([1.0, 2.0, 3.0])
import numpy as np

import gradtape as gt

with gt.GradientTape() as tape:
    x = tape.watch(np.array([1, 2, 3]))  # <- here
    y = np.sum(x**2)
print(tape.gradient(y, x))
