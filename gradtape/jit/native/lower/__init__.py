"""Lowering: which instructions have a native form, and their decomposition into the instructions of the native IR.

In: a scheduled group of `jit.ir` instructions. Out: instructions of `ir`, which only native code knows. `support` is
the registry: one `lowering` for each family of operations. `prepare`, `inline_kernel`, `decompose` and `labels` replace
instructions that have no native form by those that have one; `virtual_scatter` keeps gradients of slices from being
materialised; `short_axes`, with `columns` and `column_access`, takes arrays with a short last axis apart. `matmul`,
`conv`, `pool`, `factor` and `scan` hold the conditions of the operations whose code is in the `emit` file of the same
name; they are separate so that LLVM is loaded late.
"""
