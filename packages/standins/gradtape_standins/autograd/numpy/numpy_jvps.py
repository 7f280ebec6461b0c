"""Tools for the forward rules of primitives that broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape_standins import missing_names
from gradtape_standins.autograd.box_conversion import getval


def broadcast(x: Any, target: Any) -> Any:
    """`x` stretched to the shape of `target`, and made complex if that is.

    >>> broadcast(np.array(1.0), np.zeros(2))
    array([1., 1.])
    """
    stretched = np.broadcast_to(x, np.broadcast_shapes(np.shape(x), np.shape(target)))
    return stretched + 0j if np.iscomplexobj(getval(target)) and not np.iscomplexobj(getval(x)) else stretched


__getattr__ = missing_names.missing(__name__)
