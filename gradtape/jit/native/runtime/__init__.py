"""The runtime of native code: LLVM, native functions as Python callables, threads, and the addresses of BLAS.

`llvm` compiles and links modules, `function` is a compiled group of instructions, `entry` the METH_FASTCALL entry that
reads array headers itself, `call` the native `__call__` of compiled functions, `abi` the layouts of objects that both
rely on, `pool` divides large loops among threads (`pool_code` is its machine code), `threads` says which loops are
large, `blas` finds BLAS and LAPACK in SciPy, `disk_cache` keeps object code between processes.
"""
