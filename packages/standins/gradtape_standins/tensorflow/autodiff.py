"""`tf.autodiff`: both modes of differentiation."""

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.tape import ForwardAccumulator, GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]
__getattr__ = missing(__name__)
