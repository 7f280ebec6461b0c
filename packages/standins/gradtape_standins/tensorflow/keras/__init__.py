"""`tf.keras`: layers, models, losses, metrics and optimisers, over gradtape's `nn` and `optim`."""

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.keras import (
    activations,
    backend,
    callbacks,
    constraints,
    initializers,
    layers,
    losses,
    metrics,
    models,
    ops,
    optimizers,
    random,
    regularizers,
    saving,
    utils,
)
from gradtape_standins.tensorflow.keras.layers.base import Layer
from gradtape_standins.tensorflow.keras.losses import Loss
from gradtape_standins.tensorflow.keras.metric import Metric
from gradtape_standins.tensorflow.keras.models import Functional, Model, Sequential
from gradtape_standins.tensorflow.keras.optimizers import Optimizer
from gradtape_standins.tensorflow.keras.symbolic import Input, KerasTensor
from gradtape_standins.tensorflow.keras.variables import Variable

__all__ = ["Functional", "Input", "KerasTensor", "Layer", "Loss", "Metric", "Model", "Optimizer"]
__all__ += ["Sequential", "Variable", "activations", "backend"]
__all__ += ["callbacks", "constraints", "initializers", "layers", "losses", "metrics", "models", "ops"]
__all__ += ["optimizers", "random", "regularizers", "saving", "utils"]

_DATA = (
    "it would have to be downloaded.\n"
    "  fix: load the data yourself, as NumPy arrays; scikit-learn has small sets (sklearn.datasets)"
)
__getattr__ = missing(__name__, reasons={"datasets": _DATA, "applications": _DATA, "preprocessing": _DATA})
