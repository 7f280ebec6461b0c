"""Doctests of the modules that are for one library are collected where that library is installed."""

from importlib.util import find_spec

collect_ignore_glob = [
    f"gradtape/watching/{library}/*" for library in ("torch", "tensorflow", "jax") if find_spec(library) is None
]
