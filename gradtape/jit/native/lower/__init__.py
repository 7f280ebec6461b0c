"""Lowering: which instructions have a native form, and their decomposition into the instructions of the native IR.

In: a scheduled group of `jit.ir` instructions. Out: instructions of `ir`, which only native code knows. `support` says
what is native; `prepare`, `inline_kernel`, `decompose` and `labels` take apart what is not; `virtual_scatter` keeps
gradients of slices from being materialised. `matmul`, `conv`, `pool`, `factor` and `scan` hold the conditions of the
operations whose code is in the `emit` file of the same name; they are separate so that LLVM is loaded late.
"""
