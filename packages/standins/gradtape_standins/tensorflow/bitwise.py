"""`tf.bitwise`: operations on the bits of integers."""

from __future__ import annotations

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.tensor import binary, unary

bitwise_and = binary(gt.bitwise_and, "bitwise_and", "Bits that both have.", kinds="iu")
bitwise_or = binary(gt.bitwise_or, "bitwise_or", "Bits that one of them has.", kinds="iu")
bitwise_xor = binary(gt.bitwise_xor, "bitwise_xor", "Bits that exactly one has.", kinds="iu")
left_shift = binary(gt.bitwise_left_shift, "left_shift", "Bits moved up.", kinds="iu")
right_shift = binary(gt.bitwise_right_shift, "right_shift", "Bits moved down.", kinds="iu")
invert = unary(gt.invert, "invert", "All bits turned round.", kinds="iu")

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]
__getattr__ = missing(__name__)
