"""The runtime: executables, their cache, the schedule of native groups, and the shortest way into them.

In: an optimised `Program`. Out: a callable. `runner` schedules instructions into groups, assigns buffers and generates
the straight-line function that runs them; `backends` chooses native code or NumPy; `executable` is a compiled program
with its guards; `cache` keeps the executables of one function; `fast_entry` skips Python on repeated calls;
`disk_cache` keeps object code between processes.
"""
