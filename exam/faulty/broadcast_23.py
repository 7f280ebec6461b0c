# expect: GT101
# cause: the target file is read as a column, the model gives a vector; the absolute error is a table
# wrong: error.shape == (35, 35)
# cure: np.abs(model(w) - target) -> np.abs(model(w) - target[:, 0])
import io

import numpy as np

import gradtape as gt

text = "\n".join(str(0.1 * k) for k in range(35))
target = np.loadtxt(io.StringIO(text), ndmin=2)
x = np.linspace(0.0, 1.0, 35)


def model(w):
    return w[0] + w[1] * x


w = gt.tensor([0.1, 0.2], requires_grad=True)
error = np.abs(model(w) - target)  # <- here
error.mean().backward()
