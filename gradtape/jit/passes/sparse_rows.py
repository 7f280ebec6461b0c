"""Sparse matrices of constants in the order of their rows, in which native code multiplies them.

The gradient of a product is one with the transpose of the matrix, whose values are in the order of its columns.
"""

from __future__ import annotations

from gradtape.jit.ir.program import Constant, Instruction, Program, Value, frozen_copy


def order_by_rows(program: Program) -> Program:
    """Replace the constant values of products with sparse matrices by those in the order of rows.

    >>> import numpy as np, scipy.sparse, gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> matrix = scipy.sparse.csr_array(np.eye(3))
    >>> step = gt.jit(gt.grad(lambda x: np.sum(np.sin(matrix @ x))))
    >>> products = [i for i in step.lower(np.ones(3)).instructions if i.name == "sparse_matmul"]
    >>> [i.params["pattern"].compressed_rows is not None for i in products]
    [True, True]
    """
    if not any(instruction.name == "sparse_matmul" for instruction in program.instructions):
        return program
    arrays = {constant.value: constant.array for constant in program.constants}
    added: list[Constant] = []
    made: list[Instruction] = []
    next_id = program.next_id()
    for instruction in program.instructions:
        values = instruction.operands[0] if instruction.name == "sparse_matmul" else None
        array = arrays.get(values) if type(values) is Value else None
        found = None if array is None or array.ndim != 1 else instruction.params["pattern"].in_rows()
        if array is not None and found is not None:
            order, pattern = found
            value = Value(next_id, array.shape, array.dtype)
            next_id += 1
            added.append(Constant(value, frozen_copy(array[order])))
            operands = (value, *instruction.operands[1:])
            instruction = instruction.replace(operands=operands, params={**instruction.params, "pattern": pattern})
        made.append(instruction)
    if not added:
        return program
    return program.replace(constants=(*program.constants, *added), instructions=tuple(made))
