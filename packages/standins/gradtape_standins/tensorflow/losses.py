"""`tf.losses`: another name for `tf.keras.losses`."""

from gradtape.standins.names import missing
from gradtape.standins.tensorflow.keras.losses import *  # noqa: F403

__getattr__ = missing(__name__)
