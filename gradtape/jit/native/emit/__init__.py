"""Emission of LLVM IR: a plan of loop nests and calls becomes the functions of one module.

`block` emits a whole plan, `nest` one fused loop nest with the reductions of `reduction`, on the vectors of `vectors`
and the loops of `loops`; `elementwise` is the table of elementwise emitters. The other files emit the calls, each by
its function `emit_call`: `matmul`, `conv`, `pool`, `factor`, `scan`, `scatter_add`, `add_rows`, `callback`, and
`inner_block` for loops; `block` loads them by their names in the registry, `lower.support`. `blocked_product` has the
loops of `matmul` for batches of small matrices. `memory_checks` instruments all accesses in checking mode.
"""
