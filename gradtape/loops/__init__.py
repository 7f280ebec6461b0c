"""Loops as operations: `scan`, `fori_loop` and `while_loop`, which are differentiated and compiled as loops."""

from gradtape.loops.scan import fori_loop, scan
from gradtape.loops.while_loop import while_loop

__all__ = ["fori_loop", "scan", "while_loop"]
