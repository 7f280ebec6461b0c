# expect: GT302
# cause: the rule of a row-wise normalisation returns the transposed gradient
# wrong: raises RuleError
# cure: return (g / n[:, None]).T -> return g / n[:, None]
import numpy as np

import gradtape as gt


@gt.custom_gradient
def scale_rows(x):
    n = 1.0 + np.arange(x.shape[0])

    def gradient(g):  # <- here
        return (g / n[:, None]).T  # <- here

    return x / n[:, None], gradient


x = gt.tensor(np.ones((3, 5)), requires_grad=True)
scale_rows(x).sum().backward()  # <- asked
