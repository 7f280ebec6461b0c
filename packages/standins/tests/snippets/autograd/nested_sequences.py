"""Nested lists with traced numbers in them are stacked, and the boxes are known by the kinds of their values."""

import autograd.numpy as np
from autograd import grad, jacobian
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.tracer import Box, isbox

x = np.array([1.0, 2.0, 3.0])
print(jacobian(lambda x: np.stack([[x[0], x[1]], [x[2], 1.0]]))(x))
print(jacobian(lambda x: np.stack([[x[0], x[1]], (x[2], 1.0)], axis=1))(x))
print(jacobian(lambda x: np.column_stack([[x[0], x[1]], [x[2], x[0] * x[1]]]))(x))
print(jacobian(lambda x: np.column_stack((x, [x[1], 2.0, x[2]])))(x))
print(jacobian(lambda x: np.hstack([x[0], x[1:], 4.0]))(x))
print(jacobian(lambda x: np.stack([np.ones(3), [x[0], x[1], x[2]]]))(x))

for kind in (np.ndarray, float, np.float64, np.float32, complex, list, tuple, dict):
    print(kind.__name__, Box.type_mappings[kind].__name__)
print(int in Box.type_mappings, str in Box.type_mappings, ArrayBox in Box.types, float in Box.types)


def looked_at(x):
    print(isbox(x), type(x) in Box.types, Box.type_mappings[np.ndarray] is type(x))
    return np.sum(x**2)


print(grad(looked_at)(x))


class Marked(np.ndarray):
    pass


ArrayBox.register(Marked)
print(Box.type_mappings[Marked] is ArrayBox)
