"""The vector spaces of arrays; see `gradtape_standins.autograd.spaces`."""

from gradtape_standins import missing_names
from gradtape_standins.autograd.spaces import ArrayVSpace, ComplexArrayVSpace, ContainerVSpace, VSpace, vspace

__all__ = ["ArrayVSpace", "ComplexArrayVSpace", "ContainerVSpace", "VSpace", "vspace"]

__getattr__ = missing_names.missing(__name__)
