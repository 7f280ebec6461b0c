"""Tracing: one call of the user's function, recorded as a program.

In: a function and its arguments. Out: a `Program` with the guards that it relies on. `call` runs the function once on
the tracers of `tracers`; `tracer` is the interpreter that records each operation, `fast_path` its short form for the
common ones; `loops` finds Python loops while they run. May import: `jit.ir`, `jit.guards`, `gradtape.core`.
"""
