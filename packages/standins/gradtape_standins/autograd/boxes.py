"""What traced values do as autograd's boxes: they print its text, and `x += y` makes a new one, of plain arrays too.

The text is what everybody knows who has debugged with autograd. Its boxes have no operators that work in place, so that
`y = x; y += 1` leaves `x` as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from gradtape.extend import (
    Tensor,
    is_tracked,
    messages,
    node_of,
    operates_in_place,
    override_rebinding,
    override_write,
    user_frame,
    writes_element,
)
from gradtape_standins.autograd.box_conversion import getval, isbox

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


def replaced(x: Tensor, new: Any, how: str) -> Tensor:
    """What becomes of `x` when it is written: of `x += y`, while a function is traced, a new tensor, and `x` stays.

    >>> import gradtape as gt
    >>> x = y = gt.tensor([1.0])
    >>> with tracing():
    ...     y += 1.0
    >>> x, y
    (Tensor([1.]), Tensor([2.]))
    """
    if _under_way.get() and how.endswith(" in place"):
        made: Tensor = new
        return made
    if _under_way.get() and node_of(x).op is None and is_tracked(x):  # autograd refuses to write to an argument
        raise messages.leaf_written(how, x.shape)
    return _replaced(x, new, how)


def rebinds() -> bool:
    """Whether the user's present statement is `array += traced`, of which autograd makes `array = array + traced`.

    Not `array[i] += traced`: what comes of that is stored in the array, which cannot hold a gradient.
    """
    if not _under_way.get():
        return False
    frame = user_frame()
    return frame is not None and operates_in_place(frame) and not writes_element(frame)


_replaced: Callable[[Any, Any, str], Tensor] = override_write(replaced)
override_rebinding(rebinds)
