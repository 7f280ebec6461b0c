"""`tf.keras.layers`: layers whose variables have Keras' names, shapes and order."""

from gradtape.standins.names import missing
from gradtape.standins.tensorflow.keras.layers import convolutional, core, normalization, recurrent
from gradtape.standins.tensorflow.keras.layers.base import Layer
from gradtape.standins.tensorflow.keras.layers.convolutional import *  # noqa: F403
from gradtape.standins.tensorflow.keras.layers.core import *  # noqa: F403
from gradtape.standins.tensorflow.keras.layers.normalization import *  # noqa: F403
from gradtape.standins.tensorflow.keras.layers.recurrent import *  # noqa: F403

__all__ = ["Layer"]
__all__ += convolutional.__all__
__all__ += core.__all__
__all__ += normalization.__all__
__all__ += recurrent.__all__
__getattr__ = missing(__name__)
