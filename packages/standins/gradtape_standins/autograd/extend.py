"""How autograd is extended: primitives and their rules, and vector spaces."""

from gradtape_standins import missing_names
from gradtape_standins.autograd.core import (
    JVPNode,
    SparseObject,
    VJPNode,
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
)
from gradtape_standins.autograd.spaces import VSpace, vspace
from gradtape_standins.autograd.tracer import Box, notrace_primitive, primitive, register_notrace

__all__ = [
    "Box",
    "JVPNode",
    "SparseObject",
    "VJPNode",
    "VSpace",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "defjvp_argnums",
    "defvjp",
    "defvjp_argnum",
    "defvjp_argnums",
    "notrace_primitive",
    "primitive",
    "register_notrace",
    "vspace",
]

__getattr__ = missing_names.missing(__name__)
