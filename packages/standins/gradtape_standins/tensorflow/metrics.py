"""`tf.metrics`: another name for `tf.keras.metrics`."""

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.keras.metrics import *  # noqa: F403

__getattr__ = missing(__name__)
