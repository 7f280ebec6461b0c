"""isinstance and type see through the traced value; getval takes it out."""

import autograd.numpy as np
from autograd import grad
from autograd.builtins import dict as adict
from autograd.builtins import isinstance as aisinstance
from autograd.builtins import tuple as atuple
from autograd.builtins import type as atype
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.tracer import getval, isbox

seen = []


def f(x):
    seen.append((isbox(x), isinstance(x, ArrayBox), aisinstance(x, np.ndarray), atype(x).__name__))
    seen.append((type(getval(x)).__name__, x._value[0], np.argmax(x), type(np.argmax(x)).__name__))
    seen.append((x.shape, x.ndim, x.size, x.dtype, len(x)))
    pair = atuple((x * 2, np.sin(x)))
    named = adict(a=pair[0], b=pair[1])
    return np.sum(named["a"] * named["b"])


print(grad(f)(np.array([0.5, 1.0])))
for line in seen:
    print(*line)
print(isbox(1.0), isinstance(atuple((1.0, 2.0)), tuple))
