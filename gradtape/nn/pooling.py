"""Pooling as layers: the arguments are those of the functions in `gt.nn.functional`."""

from __future__ import annotations

from gradtape.nn import functional
from gradtape.nn.basic import Wrapped


class MaxPool1d(Wrapped):
    """The largest number of each window of signals (examples, channels, length).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.MaxPool1d(2)(np.ones((1, 1, 4))).shape
    (1, 1, 2)
    """

    _function = staticmethod(functional.max_pool1d)


class AvgPool1d(Wrapped):
    """The mean of each window of signals (examples, channels, length).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.AvgPool1d(2)(np.ones((1, 1, 4))).shape
    (1, 1, 2)
    """

    _function = staticmethod(functional.avg_pool1d)


class AdaptiveMaxPool1d(Wrapped):
    """The largest numbers of as many windows of signals (examples, channels, length) as are asked for.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.AdaptiveMaxPool1d(1)(np.ones((1, 1, 4))).shape
    (1, 1, 1)
    """

    _function = staticmethod(functional.adaptive_max_pool1d)


class AdaptiveAvgPool1d(Wrapped):
    """The means of as many windows of signals (examples, channels, length) as are asked for.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.AdaptiveAvgPool1d(1)(np.ones((1, 1, 4))).shape
    (1, 1, 1)
    """

    _function = staticmethod(functional.adaptive_avg_pool1d)


class MaxPool2d(Wrapped):
    """The largest number of each window of images (examples, channels, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.MaxPool2d(2)(np.ones((1, 1, 4, 4))).shape
    (1, 1, 2, 2)
    """

    _function = staticmethod(functional.max_pool2d)


class AvgPool2d(Wrapped):
    """The mean of each window of images (examples, channels, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.AvgPool2d(2)(np.ones((1, 1, 4, 4))).shape
    (1, 1, 2, 2)
    """

    _function = staticmethod(functional.avg_pool2d)


class AdaptiveMaxPool2d(Wrapped):
    """The largest numbers of as many windows of images (examples, channels, height, width) as are asked for.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.AdaptiveMaxPool2d(1)(np.ones((1, 1, 4, 4))).shape
    (1, 1, 1, 1)
    """

    _function = staticmethod(functional.adaptive_max_pool2d)


class AdaptiveAvgPool2d(Wrapped):
    """The means of as many windows of images (examples, channels, height, width) as are asked for.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.AdaptiveAvgPool2d(1)(np.ones((1, 1, 4, 4))).shape
    (1, 1, 1, 1)
    """

    _function = staticmethod(functional.adaptive_avg_pool2d)


class MaxPool3d(Wrapped):
    """The largest number of each window of volumes (examples, channels, depth, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.MaxPool3d(2)(np.ones((1, 1, 4, 4, 4))).shape
    (1, 1, 2, 2, 2)
    """

    _function = staticmethod(functional.max_pool3d)


class AvgPool3d(Wrapped):
    """The mean of each window of volumes (examples, channels, depth, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.AvgPool3d(2)(np.ones((1, 1, 4, 4, 4))).shape
    (1, 1, 2, 2, 2)
    """

    _function = staticmethod(functional.avg_pool3d)


class AdaptiveMaxPool3d(Wrapped):
    """The largest numbers of as many windows of volumes (examples, channels, depth, height, width) as are asked for.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.AdaptiveMaxPool3d(1)(np.ones((1, 1, 4, 4, 4))).shape
    (1, 1, 1, 1, 1)
    """

    _function = staticmethod(functional.adaptive_max_pool3d)


class AdaptiveAvgPool3d(Wrapped):
    """The means of as many windows of volumes (examples, channels, depth, height, width) as are asked for.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.AdaptiveAvgPool3d(1)(np.ones((1, 1, 4, 4, 4))).shape
    (1, 1, 1, 1, 1)
    """

    _function = staticmethod(functional.adaptive_avg_pool3d)
