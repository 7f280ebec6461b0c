"""The operations of neural networks as functions of arrays and tensors, under the names that PyTorch has for them.

Images and signals are laid out (examples, channels, ...). What PyTorch calls `dim` is `axis` here, and `dropout` draws
from a NumPy generator.

>>> import numpy as np, gradtape as gt
>>> images, weight = np.ones((2, 1, 8, 8)), np.ones((4, 1, 3, 3))
>>> loss = lambda weight: gt.nn.functional.conv2d(images, weight, padding="same").sum()
>>> gt.grad(loss)(weight).shape
(4, 1, 3, 3)
"""

from gradtape.ops.activations import (
    celu,
    elu,
    gelu,
    glu,
    logsigmoid,
    mish,
    selu,
    silu,
    softmin,
    softplus,
    softsign,
    tanhshrink,
)
from gradtape.ops.attention import scaled_dot_product_attention
from gradtape.ops.convolution import conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d
from gradtape.ops.cross_entropy import cross_entropy, nll_loss
from gradtape.ops.distances import cosine_embedding_loss, cosine_similarity, pairwise_distance, triplet_margin_loss
from gradtape.ops.elementwise import tanh
from gradtape.ops.labels import one_hot
from gradtape.ops.layers import bilinear, dropout, dropout1d, dropout2d, dropout3d, embedding, linear
from gradtape.ops.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    gaussian_nll_loss,
    hinge_embedding_loss,
    hinge_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mae_loss,
    margin_ranking_loss,
    mse_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
)
from gradtape.ops.normalisation import batch_norm, group_norm, instance_norm, layer_norm, normalize, rms_norm
from gradtape.ops.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from gradtape.ops.rectifiers import (
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    prelu,
    relu6,
    softshrink,
    threshold,
)
from gradtape.ops.softmax import log_softmax, logsumexp, relu, sigmoid, softmax

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "group_norm",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "hinge_loss",
    "huber_loss",
    "instance_norm",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "logsumexp",
    "mae_loss",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pairwise_distance",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "triplet_margin_loss",
]
