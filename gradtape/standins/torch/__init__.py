"""A stand-in for PyTorch: its names and conventions over gradtape.

A tensor here holds a tensor of gradtape's, every function is one of gradtape's under PyTorch's name, and results print
as PyTorch prints them. See docs/standins.md for what is there and where it differs.

>>> from gradtape.standins import torch
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> y = (x**2).sum()
>>> y
tensor(5., grad_fn=<SumBackward0>)
>>> y.backward()
>>> x.grad
tensor([2., 4.])
"""

# ruff: noqa: F401, F403  (all names that are here are torch's; __all__ is made of them)

from __future__ import annotations

from gradtape.standins.names import missing
from gradtape.standins.torch import autograd, backends, cuda, fft, func, linalg, nn, optim, random, special, utils
from gradtape.standins.torch import dtypes as _dtypes
from gradtape.standins.torch import methods as _methods
from gradtape.standins.torch.creation import (
    arange,
    as_tensor,
    asarray,
    complex,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    is_tensor,
    linspace,
    logspace,
    ones,
    ones_like,
    polar,
    tensor,
    tril_indices,
    triu_indices,
    zeros,
    zeros_like,
)
from gradtape.standins.torch.description import Size, device
from gradtape.standins.torch.dtypes import dtype, get_default_dtype, set_default_dtype
from gradtape.standins.torch.func import vmap
from gradtape.standins.torch.modes import *
from gradtape.standins.torch.platform import *
from gradtape.standins.torch.printing import set_printoptions
from gradtape.standins.torch.random import Generator
from gradtape.standins.torch.tensor import Tensor

globals().update(_methods.FUNCTIONS)
globals().update(random.FUNCTIONS)
globals().update(_dtypes.NAMES)

__version__ = "2.13.0+gradtape"
__all__ = sorted(name for name in globals() if not name.startswith("_") and name not in ("annotations", "missing"))
__getattr__ = missing(
    __name__,
    reasons={
        "bfloat16": "NumPy has no bfloat16.\n  fix: torch.float32 (or torch.float16)",
        "jit": "there is no TorchScript here.\n  fix: gt.jit compiles functions of gradtape's own tensors",
        "multiprocessing": "tensors are not shared between processes.\n  fix: Python's multiprocessing with arrays",
        "distributed": "there is one process here.\n  fix: run without it, or run this with the real torch",
    },
)
