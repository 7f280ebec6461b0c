"""Between two pixels: the integer part picks, the fraction carries the gradient."""

import numpy as np

import gradtape as gt

image = np.arange(20.0).reshape(4, 5) ** 2


def sample(position):
    row, column = (int(i) for i in np.floor(position))
    down, right = position[0] - row, position[1] - column
    upper = image[row, column] * (1 - right) + image[row, column + 1] * right
    lower = image[row + 1, column] * (1 - right) + image[row + 1, column + 1] * right
    return upper * (1 - down) + lower * down


assert (gt.grad(sample)(np.array([1.3, 2.6])) > 0).all()
