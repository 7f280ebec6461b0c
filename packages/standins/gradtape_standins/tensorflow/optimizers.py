"""`tf.optimizers`: another name for `tf.keras.optimizers`."""

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.keras.optimizers import *  # noqa: F403

__getattr__ = missing(__name__)
