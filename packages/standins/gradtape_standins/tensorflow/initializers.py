"""`tf.initializers`: another name for `tf.keras.initializers`."""

from gradtape_standins.names import missing
from gradtape_standins.tensorflow.keras.initializers import *  # noqa: F403

__getattr__ = missing(__name__)
