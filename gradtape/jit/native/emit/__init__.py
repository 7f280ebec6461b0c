"""Emission of LLVM IR: a plan of loop nests and calls becomes the functions of one module.

`block` emits a whole plan, `nest` one fused loop nest with the reductions of `reduction`, on the vectors of `vectors`
and the loops of `loops`; `elementwise` is the table of elementwise emitters. The other files emit the calls: `matmul`,
`conv`, `pool`, `factor`, `scan`, `scatter_add`, `callback`. `memory_checks` instruments all accesses in checking mode.
"""
