"""`tf.optimizers`: another name for `tf.keras.optimizers`."""

from gradtape.standins.names import missing
from gradtape.standins.tensorflow.keras.optimizers import *  # noqa: F403

__getattr__ = missing(__name__)
