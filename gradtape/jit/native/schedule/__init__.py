"""Scheduling of native code: fusion into loop nests, memory layout, cache tiling, and the verifier of both.

In: lowered instructions. Out: a plan of loop nests and calls, with the place of every value in memory. `verify` checks
the lowered instructions and the plan in the checking modes.
"""
