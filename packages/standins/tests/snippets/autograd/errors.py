"""What is refused, and with which class of error."""

import warnings

import autograd.numpy as np
from autograd import grad, value_and_grad

cases = {
    "vector output": lambda: grad(lambda x: 2 * x)(np.ones(3)),
    "integer": lambda: grad(lambda x: x**2)(3),
    "text": lambda: grad(lambda x: x)("three"),
    "value_and_grad of a vector": lambda: value_and_grad(np.sin)(np.ones(2)),
    "no such argument": lambda: grad(lambda x: x, 1)(1.0),
}
for what, case in cases.items():
    try:
        print(what, case())
    except (TypeError, IndexError) as error:
        print(what, "TypeError" if isinstance(error, TypeError) else "IndexError")

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(grad(lambda x: 3.0)(np.ones(2)))
print(str(caught[0].message)[:34])
