"""NumPy's names, wrapped by `gradtape_standins.autograd.wrapping`. They hide Python's own `any`, `sum` and the like."""

import numpy as _np

from gradtape_standins import missing_names
from gradtape_standins.autograd import wrapping as _wrapping

_wrapping.wrap_namespace(vars(_np), globals())
_INTEGERS = {kind: _wrapping.integer_type(kind) for kind in (_np.int8, _np.int16, _np.int32, _np.int64)}
globals().update(
    {name: _INTEGERS[kind] for name, kind in vars(_np).items() if isinstance(kind, type) and kind in _INTEGERS}
)

array_from_args = _wrapping.array_from_args
c_ = _wrapping.Joining(_np.c_)
concatenate_args = _wrapping.concatenate_args
make_diagonal = _wrapping.make_diagonal
metadata = _wrapping.metadata
numpy_version = _np.__version__
r_ = _wrapping.Joining(_np.r_)
row_stack = globals()["vstack"]
where = _wrapping.where
wrap_namespace = _wrapping.wrap_namespace

__getattr__ = missing_names.missing(__name__)
