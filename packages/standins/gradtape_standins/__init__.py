"""Stand-ins: other libraries' names and conventions over what gradtape does.

`import gradtape.standins.torch as torch` and a snippet about gradients runs here; `gradtape run --stand-in script.py`
spares even that edit. Nothing is computed in a second way: a stand-in is names, defaults, spelling and error classes.

>>> from gradtape.standins import autograd
>>> autograd.grad(lambda x: x**3)(2.0)
np.float64(12.0)
"""

from gradtape.standins.importing import LIBRARIES, standing_in

__all__ = ["LIBRARIES", "standing_in"]
