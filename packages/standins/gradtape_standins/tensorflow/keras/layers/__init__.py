"""`tf.keras.layers`: layers whose variables have Keras' names, shapes and order."""

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.keras.layers import (
    attention,
    convolutional,
    core,
    merging,
    noise,
    normalization,
    padding,
    preprocessing,
    recurrent,
)
from gradtape_standins.tensorflow.keras.layers.attention import *  # noqa: F403
from gradtape_standins.tensorflow.keras.layers.base import Layer
from gradtape_standins.tensorflow.keras.layers.convolutional import *  # noqa: F403
from gradtape_standins.tensorflow.keras.layers.core import *  # noqa: F403
from gradtape_standins.tensorflow.keras.layers.merging import *  # noqa: F403
from gradtape_standins.tensorflow.keras.layers.noise import *  # noqa: F403
from gradtape_standins.tensorflow.keras.layers.normalization import *  # noqa: F403
from gradtape_standins.tensorflow.keras.layers.padding import *  # noqa: F403
from gradtape_standins.tensorflow.keras.layers.preprocessing import *  # noqa: F403
from gradtape_standins.tensorflow.keras.layers.recurrent import *  # noqa: F403

__all__ = ["Layer"]
__all__ += attention.__all__
__all__ += convolutional.__all__
__all__ += core.__all__
__all__ += merging.__all__
__all__ += noise.__all__
__all__ += normalization.__all__
__all__ += padding.__all__
__all__ += preprocessing.__all__
__all__ += recurrent.__all__
__getattr__ = missing(__name__)
