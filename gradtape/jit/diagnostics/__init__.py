"""What `jit` says about itself: why it retraced, why a gradient is zero or NaN, where the time goes.

`retrace_reasons` words why a function was traced again or not compiled; `explain_call` runs the uncompiled function
once to obtain the findings of a compiled call, with `rollback` to undo what it changed; `timeline` is the
profiler.
"""
