"""The stand-in for `autograd.misc`: flattening, optimisers, tracers and fixed points."""

from gradtape_standins import missing_names
from gradtape_standins.autograd.misc.flatten import flatten
from gradtape_standins.autograd.misc.tracers import const_graph

__all__ = ["const_graph", "flatten"]

__getattr__ = missing_names.missing(__name__, submodules=("fixed_points", "optimizers", "tracers"))
