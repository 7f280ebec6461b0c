"""Products of a stack of matrices with one matrix as a single product of two matrices.

`x @ w` with x of shape (8, 128, 64) is a product of 1024 rows: BLAS computes that faster than 8 products of 128 rows.
"""

from __future__ import annotations

import math

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Program, Value
from gradtape.jit.passes.rewrite import RewriteContext, rewrite

SHORTEST = 16
"""Columns and terms of a product, from which BLAS computes it as fast as it can."""


def flatten_products(program: Program) -> Program:
    """Replace `matmul(x, w)`, x a stack of matrices and w one matrix, by the product with all rows of the stack.

    >>> import numpy as np, gradtape as gt
    >>> program = gt.jit(lambda x, w: x @ w).lower(np.ones((8, 32, 16)), np.ones((16, 64)))
    >>> [(i.name, i.result.shape) for i in program.instructions]
    [('reshape', (256, 16)), ('matmul', (256, 64)), ('reshape', (8, 32, 64))]
    """

    def rule(instruction: Instruction, context: RewriteContext) -> Value | Instruction | None:
        if instruction.name != "matmul" or instruction.params or len(instruction.values) != 2:
            return None
        x, w = instruction.values
        if x.ndim <= 2 or w.ndim != 2 or min(w.shape) < SHORTEST or x.dtype != w.dtype or x.dtype.char not in "fd":
            return None
        if math.prod(x.shape[:-2]) < 2 or x.shape[-2] < 2:
            return None
        rows = math.prod(x.shape[:-1])
        flat, product = context.new_value((rows, x.shape[-1]), x.dtype), context.new_value((rows, w.shape[1]), x.dtype)
        reshape = TABLE["reshape"]
        context.extra += [
            instruction.replace(op=reshape, operands=(x,), params={"shape": flat.shape}, results=(flat,)),
            instruction.replace(operands=(flat, w), results=(product,)),
        ]
        return instruction.replace(op=reshape, operands=(product,), params={"shape": instruction.result.shape})

    return rewrite(program, rule)
