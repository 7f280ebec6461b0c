"""`torch.nn`: modules, layers and losses, which are gradtape's own under PyTorch's names."""

# ruff: noqa: F401, F403  (all names that are here are torch.nn's; __all__ is made of them)

from __future__ import annotations

from gradtape_standins.missing_names import missing
from gradtape_standins.torch.nn import functional, init, modules, parameter, utils
from gradtape_standins.torch.nn.containers import (
    DataParallel,
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
    Sequential,
)
from gradtape_standins.torch.nn.convolutions import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from gradtape_standins.torch.nn.function_layers import (
    CELU,
    ELU,
    GELU,
    GLU,
    SELU,
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    AlphaDropout,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    Flatten,
    GroupNorm,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    Identity,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
    LeakyReLU,
    LocalResponseNorm,
    LogSigmoid,
    LogSoftmax,
    LPPool1d,
    LPPool2d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    RMSNorm,
    RReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softmax2d,
    Softmin,
    Softplus,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
    Unflatten,
)
from gradtape_standins.torch.nn.layers import Bilinear, Embedding, EmbeddingBag, Linear
from gradtape_standins.torch.nn.lazy import *
from gradtape_standins.torch.nn.losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CosineSimilarity,
    CrossEntropyLoss,
    CTCLoss,
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MarginRankingLoss,
    MSELoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    NLLLoss,
    PairwiseDistance,
    PoissonNLLLoss,
    SmoothL1Loss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from gradtape_standins.torch.nn.losses import Loss as _Loss
from gradtape_standins.torch.nn.module import Module
from gradtape_standins.torch.nn.padding import *
from gradtape_standins.torch.nn.parameter import Buffer, Parameter, UninitializedParameter
from gradtape_standins.torch.nn.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from gradtape_standins.torch.nn.transformers import (
    MultiheadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)

__all__ = sorted(name for name in globals() if not name.startswith("_") and name not in ("annotations", "missing"))
__getattr__ = missing(__name__)
