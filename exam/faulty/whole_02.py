# expect: GT310
# cause: the derivative is asked at the integer 3
# wrong: raises DtypeError
# cure: slope(3) -> slope(3.0)
import numpy as np

import gradtape as gt

slope = gt.grad(lambda x: np.tanh(x) * x)
print(slope(3))  # <- here
