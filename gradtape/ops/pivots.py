"""Whole numbers and powers of two that LAPACK chooses: exchanges of rows, orders of columns, scalings.

They stay the same nearby, and have no gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.rules import constant
from gradtape.ops.arguments import as_value
from gradtape.ops.linalg_common import batch_as_stack


def _exchanges_kernel(x: Any) -> Any:
    """From the order of the rows, which row each was exchanged with."""
    flat = x.reshape((-1, x.shape[-1]))
    pivots = np.zeros_like(flat)
    for order, found in zip(flat, pivots, strict=True):
        rows, places = np.arange(len(order)), np.arange(len(order))
        for step, row in enumerate(order):
            other = places[row]  # where the row that has to come here is now
            found[step] = other
            rows[step], rows[other] = rows[other], rows[step]
            places[rows[other]], places[rows[step]] = other, step
    return pivots.reshape(x.shape).astype(np.int32)


def _order_kernel(x: Any, rows: int) -> Any:
    """From which row each was exchanged with, the order of the rows."""
    flat = x.reshape((-1, x.shape[-1]))
    orders = np.tile(np.arange(rows), (len(flat), 1))
    for pivots, order in zip(flat, orders, strict=True):
        for step, other in enumerate(pivots):
            order[step], order[other] = order[other], order[step]
    return orders.reshape((*x.shape[:-1], rows))


exchanges = constant(
    _exchanges_kernel,
    name="exchanges of rows",
    batch=batch_as_stack,
    samples=lambda draw: [((np.array([2, 0, 1]),), {})],
)
_order = constant(
    _order_kernel,
    name="order of rows",
    batch=batch_as_stack,
    samples=lambda draw: [((np.array([2, 2, 2]),), {"rows": 3})],
)


def order_of_rows(pivots: Any) -> Any:
    """The order of the rows of a matrix that `lu_factor` has exchanged by these pivots."""
    pivots = as_value(pivots)
    return _order(pivots, rows=pivots.shape[-1])


def _pivot_kernel(x: Any) -> Any:
    from scipy import linalg

    flat = x.reshape((-1, *x.shape[-2:]))
    orders = [linalg.qr(matrix, mode="r", pivoting=True, check_finite=False)[1] for matrix in flat]
    return np.array(orders, np.int32).reshape((*x.shape[:-2], x.shape[-1]))


order_of_columns = constant(
    _pivot_kernel,
    name="order of columns of qr",
    batch=batch_as_stack,
    samples=lambda draw: [((draw(3, 3),), {}), ((draw(2, 2, 3),), {})],
)


def _balance_kernel(x: Any, permute: bool, scale: bool) -> tuple[Any, Any]:
    from scipy import linalg

    flat = x.reshape((-1, *x.shape[-2:]))
    found = [linalg.matrix_balance(a, permute=permute, scale=scale, separate=True)[1] for a in flat]
    scaling = np.array([each[0] for each in found], float).reshape(x.shape[:-1])
    order = np.array([each[1] for each in found], np.intp).reshape(x.shape[:-1])
    return scaling, order


balance = constant(
    _balance_kernel,
    name="scaling of matrix_balance",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [((draw(3, 3),), {"permute": True, "scale": True})],
)
