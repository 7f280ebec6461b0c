"""`tf.keras.regularizers`: penalties on variables, which `layer.losses` collects."""

from __future__ import annotations

from typing import Any

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.elementwise import abs as absolute
from gradtape_standins.tensorflow.elementwise import square
from gradtape_standins.tensorflow.keras.constructor_arguments import KeepsConstructorArguments
from gradtape_standins.tensorflow.reductions import reduce_sum


class L1L2(KeepsConstructorArguments):
    """`l1` times the sum of absolute values plus `l2` times the sum of squares."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1, self.l2 = l1, l2

    def __call__(self, x: Any) -> Any:
        return self.l1 * reduce_sum(absolute(x)) + self.l2 * reduce_sum(square(x))


class L1(L1L2):
    """`l1` times the sum of absolute values."""

    def __init__(self, l1: float = 0.01) -> None:
        super().__init__(l1=l1)


class L2(L1L2):
    """`l2` times the sum of squares."""

    def __init__(self, l2: float = 0.01) -> None:
        super().__init__(l2=l2)


l1, l2, l1_l2 = L1, L2, L1L2


def get(identifier: Any) -> Any:
    """The regulariser of a name, or itself."""
    if not isinstance(identifier, str):
        return identifier
    return {"l1": L1, "l2": L2, "l1_l2": L1L2, "l1l2": L1L2}[identifier.lower()]()


__all__ = ["L1", "L1L2", "L2", "get", "l1", "l1_l2", "l2"]
__getattr__ = missing(__name__)
