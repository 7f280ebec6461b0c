"""Loops as operations: `scan` and `fori_loop`. They are differentiated within a given memory, and compiled as loops."""

from gradtape.loops.scan import fori_loop, scan

__all__ = ["fori_loop", "scan"]
