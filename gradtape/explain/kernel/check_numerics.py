"""`check_numerics`: stops at the first operation of the kernel that makes NaN or infinity; and trials that may."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtape.core import backprop, graph
from gradtape.core.operation import Op
from gradtape.explain.detectors.nonfinite.origin import first_index, forward_problem
from gradtape.explain.emit.policy import report
from gradtape.explain.emit.severity import configure
from gradtape.explain.graph.replay import Replay
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.active_ops import op_of_running_kernel
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line
from gradtape.explain.source.operation_site import OperationSite


@contextmanager
def allow_nonfinite_trial() -> Iterator[None]:
    """Inside, NaN and infinity are only notes, as a line search recovers from them; `check_numerics` still raises."""
    if backprop.keep_saved.get():
        yield
        return
    with configure(GT401="note", GT402="note", GT403="note"), np.errstate(all="ignore"):
        yield


@contextmanager
def check_numerics() -> Iterator[None]:
    """Inside, the first operation that makes NaN or infinity raises `NumericsError`, going forward or going back.

    Large arrays are kept until the gradient has been checked, so that the first bad element can be shown. NumPy
    operations on plain arrays are checked as well; what is computed under `np.errstate(...="ignore")` is not.

    >>> import numpy as np, gradtape as gt
    >>> x = gt.tensor([1.0, 0.0], requires_grad=True)
    >>> with gt.check_numerics():
    ...     try:
    ...         np.log(x)
    ...     except gt.NumericsError as error:
    ...         print(error.problem.title)
    np.log(x) is -inf at [1], where x is 0
    """
    token = backprop.keep_saved.set(True)
    try:
        with (
            configure(GT401="raise", GT402="raise", GT403="raise"),
            np.errstate(divide="call", over="call", invalid="call", call=_raise_at_user_operation),
        ):
            yield
    finally:
        backprop.keep_saved.reset(token)


def _raise_at_user_operation(kind: str, flags: int) -> None:
    """NumPy's floating point error handler: report the problem at the user's operation, which is on the stack."""
    site = UserExpression.present()
    innermost = op_of_running_kernel()
    found: Problem | None
    if innermost is None:
        found = problem("GT401", f"{one_line(site.span.text)}: {kind}", spans=[site.span])
    else:
        found = _running_operation_problem(site, *innermost)
    if found is not None:
        report(found)


def _running_operation_problem(
    site: UserExpression, op: Op, inputs: Sequence[Any], params: dict[str, Any]
) -> Problem | None:
    """The problem of the operation that is running, if its result is not finite."""
    arrays = [getattr(x, "_array", x) for x in inputs]
    with np.errstate(all="ignore"):
        value = np.asarray(op.kernel(*arrays, **params)) if not op.outputs else np.asarray(np.nan)
    node = graph.Node()
    node.op, node.params, node.inputs, node.out = op, params, tuple(arrays), None
    node.shape, node.dtype = value.shape, value.dtype
    node.code, node.offset = site.location.code, site.location.offset
    leaves = [graph.leaf(np.shape(x), np.result_type(x), graph.AMBIENT) for x in arrays]
    node.parents, node.bits, node.order = tuple(leaves), graph.AMBIENT, 0
    bad = ~np.isfinite(value)
    if not bad.any():  # only an intermediate result of the operation was not finite
        return None
    place = OperationSite(Replay([], 0), node, first_index(bad))
    return forward_problem(place, value, place.index)
