"""The runtime: executables, their cache, the schedule of native groups, and the shortest way into them.

In: an optimised `Program`. Out: a callable. `backends` chooses native code or NumPy; `schedule` orders instructions
into steps, `buffers` assigns memory, and `runner` generates the straight-line function that runs the steps, `loops` the
one that repeats the body of a loop.
`executable` is a compiled program with its guards; `cache` keeps the executables of one function; `fast_entry` plans
native calls, without Python code; `printing` shows a program with its schedule. May import: `jit.ir`, `jit.guards`, and
`jit.native` when it compiles.
"""
