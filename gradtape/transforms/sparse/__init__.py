"""Sparse Jacobians and Hessians: find the pattern, colour it, and make as many passes as there are colours.

1. *Pattern.* The function runs once. Along its recorded graph every element is given the set of source elements that it
   depends on: rows of a boolean sparse matrix. An elementwise operation joins its operands' rows; `matmul` and `einsum`
   follow the elements of the other operand that are not zero; any other operation of the table is asked, by sending
   infinities through its own derivative rule and looking where they come out. What cannot be told apart counts as
   depending on everything: a pattern may have too many entries, never too few.
2. *Colours.* Columns with no row in common can share one forward pass, rows with no column in common one pass back;
   whichever needs fewer. The columns of a Hessian share by a star colouring, which knows that the matrix is symmetric.
3. *Passes.* All colours go through the recorded graph as one batch, and the entries are read off.
"""

from gradtape.transforms.sparse.derivative import PatternError, SparseDerivative, sparse_hessian, sparse_jacobian

__all__ = ["PatternError", "SparseDerivative", "sparse_hessian", "sparse_jacobian"]
