"""`tf.initializers`: another name for `tf.keras.initializers`."""

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.keras.initializers import *  # noqa: F403

__getattr__ = missing(__name__)
