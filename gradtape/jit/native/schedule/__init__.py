"""Scheduling of native code: fusion into loop nests, memory layout, tiling, blocks of rows, workspace, verifier.

In: lowered instructions. Out: a `FusionPlan` of loop nests and calls, with the layout of every value in memory, and a
`Workspace` for the temporaries. `verify` checks all of them in the checking modes.
"""
