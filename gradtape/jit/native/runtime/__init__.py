"""The runtime of native code: LLVM, native functions as Python callables, threads, and the addresses of BLAS.

`llvm` compiles and links modules, `function` is a compiled group of instructions, `entry` the METH_FASTCALL entry that
reads array headers itself, `threads` splits large loops, `blas` finds BLAS and LAPACK in SciPy, `disk_cache` keeps
object code between processes.
"""
