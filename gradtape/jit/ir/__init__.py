"""The intermediate representation of `jit`: typed SSA programs, their printed form and source locations.

In: nothing; this is the lowest layer of `jit`. Out: `Program`, `Instruction`, `Value`, `Loop` (`program`), `WhileLoop`
(`while_loop`), and `verify`, which checks the specification at the top of `program`. May import: `gradtape.core`,
`gradtape.errors`.
"""
