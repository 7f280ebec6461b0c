"""`tf.losses`: another name for `tf.keras.losses`."""

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.keras.losses import *  # noqa: F403

__getattr__ = missing(__name__)
