"""Stand-ins in all processes of Python that are started from this one: workers of pytest-xdist, scripts in tests.

A process inherits its environment. `ENVIRONMENT` names the libraries, and at the head of PYTHONPATH is a directory with
a `sitecustomize`. Python imports that when it starts, and it installs the stand-ins before anything else is imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gradtape
from gradtape_standins import import_hook

ENVIRONMENT = "GRADTAPE_STAND_IN"
"""The environment variable with the names of the libraries that are stood in for, separated by commas."""
STARTUP = str(Path(__file__).with_name("startup"))
"""The directory with the `sitecustomize` of such processes."""


@contextmanager
def standing_in_everywhere(*libraries: str) -> Iterator[None]:
    """`standing_in`, in this process and in those of Python that are started from it within the block.

    >>> import subprocess, sys
    >>> from gradtape_standins.child_processes import standing_in_everywhere
    >>> with standing_in_everywhere("autograd"):
    ...     told = subprocess.check_output([sys.executable, "-c", "import autograd; print(autograd.__name__)"])
    >>> told.decode().strip()
    'gradtape_standins.autograd'
    """
    before = {name: os.environ.get(name) for name in (ENVIRONMENT, "PYTHONPATH")}
    roots = sorted({str(Path(module).parents[1]) for module in (gradtape.__file__, __file__)})  # installed or not
    paths = [path for path in (before["PYTHONPATH"] or "").split(os.pathsep) if path not in ("", STARTUP, *roots)]
    with import_hook.standing_in(*libraries):
        os.environ[ENVIRONMENT] = ",".join(libraries or import_hook.LIBRARIES)
        os.environ["PYTHONPATH"] = os.pathsep.join([STARTUP, *paths, *roots])
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def install() -> None:
    """Install the stand-ins that the environment names, for the rest of this process."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        import_hook.standing_in(*import_hook.chosen(named)).__enter__()


def missing_here() -> list[str]:
    """The libraries that the environment names, and that are not stood in for in this process."""
    named = os.environ.get(ENVIRONMENT)
    wanted = import_hook.chosen(named) if named else ()
    return [library for library in wanted if not any(library in block for block in import_hook.active)]
