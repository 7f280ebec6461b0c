"""gradtape: a gradient tape for NumPy code that keeps shapes honest and explains itself."""

from gradtape import ops
from gradtape.config import config
from gradtape.core.backward import enable_grad, gradients, no_grad
from gradtape.core.forward import ForwardAccumulator
from gradtape.core.tape import GradientTape
from gradtape.core.tensor import Tensor, Variable, tensor
from gradtape.errors import *
from gradtape.ops import *
from gradtape.transforms import grad, hessian, hvp, jacfwd, jacobian, jacrev, jvp, linearize, value_and_grad, vjp, vmap
