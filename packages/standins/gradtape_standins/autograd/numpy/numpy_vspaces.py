"""The vector spaces of arrays; see `gradtape.standins.autograd.spaces`."""

from gradtape.standins import names
from gradtape.standins.autograd.spaces import ArrayVSpace, ComplexArrayVSpace, ContainerVSpace, VSpace, vspace

__all__ = ["ArrayVSpace", "ComplexArrayVSpace", "ContainerVSpace", "VSpace", "vspace"]

__getattr__ = names.missing(__name__)
