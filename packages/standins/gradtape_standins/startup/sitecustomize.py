"""Imported by Python when it starts below `gradtape run --stand-in`: it installs the stand-ins.

A `sitecustomize` of the user's, which this one hides, is run first.
"""

import importlib.util
import os
import sys
from importlib.machinery import PathFinder


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    hidden = PathFinder.find_spec("sitecustomize", sys.path)
    if hidden is not None and hidden.loader is not None:
        module = importlib.util.module_from_spec(hidden)
        sys.modules["sitecustomize"] = module
        hidden.loader.exec_module(module)
    if importlib.util.find_spec("numpy") is None:
        print(
            f"gradtape: {sys.executable} has no NumPy, so that there are no stand-ins in this process",
            file=sys.stderr,
        )
        return
    from gradtape_standins.child_processes import install

    install()


_start()
