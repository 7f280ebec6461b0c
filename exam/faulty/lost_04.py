# expect: GT312
# cause: a SciPy function that is no ufunc asks for the bare array of the tracked signal
# wrong: raises DetachError
# cure: gaussian_filter1d(x, 1.0) -> np.convolve(x, np.array([0.25, 0.5, 0.25]), mode="same")
import numpy as np
from scipy.ndimage import gaussian_filter1d

import gradtape as gt

noisy = np.sin(np.linspace(0, 6, 30))


def roughness(x):
    smooth = gaussian_filter1d(x, 1.0)  # <- here
    return np.sum(np.diff(smooth) ** 2)


g = gt.grad(roughness)(noisy)
