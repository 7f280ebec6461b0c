"""Functions with a derivative of their own: custom_vjp, custom_jvp, custom_gradient, and checkpoint, which recomputes.

A call becomes one operation. Its rule is flat: lists of arrays in, lists of arrays out; what is not an array (strings,
None, integers, functions) and the nesting of the arguments stay in a `Template`. Each rule is written for one direction
and transposed for the other, and `Batched` is the rule of a batch, so that every transform meets the user's rule and
never the code it stands for.
"""

from gradtape.transforms.custom.checkpoint import checkpoint
from gradtape.transforms.custom.functions import custom_jvp, custom_vjp
from gradtape.transforms.custom.gradient import custom_gradient

__all__ = ["checkpoint", "custom_gradient", "custom_jvp", "custom_vjp"]
