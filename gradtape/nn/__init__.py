"""Neural networks: `gt.nn.functional` has the operations, as functions of arrays and tensors.

>>> import gradtape as gt
>>> gt.nn.functional.relu6(gt.tensor([-1.0, 9.0]))
Tensor([0., 6.])
"""

from gradtape.nn import functional

__all__ = ["functional"]
