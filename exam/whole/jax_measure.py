"""`finish` for programs of JAX."""

from __future__ import annotations

import random
from typing import Any

import jax
import numpy as np
from measure import Steps


def finish(steps: Steps, *trees: Any) -> None:
    """Print digests of the arrays in trees, and of the random states of NumPy and Python."""
    values = [np.asarray(leaf) for tree in trees for leaf in jax.tree_util.tree_leaves(tree)]
    states = [np.random.get_state()[1], np.array(random.getstate()[1], dtype=np.uint64)]
    steps.finish(values, states)
