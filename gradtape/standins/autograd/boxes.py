"""What traced values print: the text of autograd's boxes, which everybody knows who has debugged with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gradtape.core.tensor import Tensor
from gradtape.standins.autograd.values import getval, isbox

_under_way: ContextVar[bool] = ContextVar("a function is traced for autograd's users", default=False)
_printed = Tensor.__str__


@contextmanager
def tracing() -> Iterator[None]:
    """A block in which a function of the user's is traced: what is followed prints as a box."""
    token = _under_way.set(True)
    try:
        yield
    finally:
        _under_way.reset(token)


def printed(x: Tensor) -> str:
    """The text of a tensor: that of autograd's box, if it is followed while a function is traced.

    >>> import gradtape as gt
    >>> with tracing():
    ...     print(printed(gt.tensor(1.5, requires_grad=True)), printed(gt.tensor(1.5)))
    Autograd ArrayBox with value 1.5 1.5
    """
    return f"Autograd ArrayBox with value {getval(x)}" if _under_way.get() and isbox(x) else _printed(x)
