"""`tf.version`: the version of TensorFlow whose behaviour is stood in for."""

from gradtape_standins.missing_names import missing

VERSION = "2.21.0"

__all__ = ["VERSION"]
__getattr__ = missing(__name__)
