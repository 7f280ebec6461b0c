"""Stand-ins: other libraries' names and conventions over what gradtape does.

`import gradtape_standins.torch as torch` and a snippet about gradients runs here; `gradtape run --stand-in script.py`
spares even that edit. Nothing is computed in a second way: a stand-in is names, defaults, spelling and error classes.

>>> from gradtape_standins import autograd
>>> autograd.grad(lambda x: x**3)(2.0)
np.float64(12.0)
"""

import os
from importlib import metadata

import gradtape

try:
    __version__ = metadata.version("gradtape-standins")
except metadata.PackageNotFoundError:  # a checkout on the path, which has one version
    __version__ = gradtape.__version__

if gradtape.__version__ != __version__:  # checked before other imports, which might fail for no obvious reason
    raise ImportError(
        f"gradtape_standins {__version__} needs gradtape {__version__}, and gradtape is {gradtape.__version__}\n"
        f"  fix: pip install --upgrade gradtape[standins]",
        name=__name__,
    )

from gradtape.extend import register_own_package

register_own_package(__name__, os.path.dirname(os.path.abspath(__file__)))

from gradtape_standins.import_hook import LIBRARIES, standing_in  # noqa: E402

__all__ = ["LIBRARIES", "standing_in"]
