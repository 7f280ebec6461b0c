"""Optimisation passes: pure functions from a `Program` to a `Program` that computes the same in fewer or cheaper steps.

The same means: to the last bit, with NaN, infinities and signed zeros where they were. `x * 1` is `x`, but `x + 0` is
not (-0.0 + 0 is 0), `x - 0` is, and `x * 0` is left alone. There are three exceptions: `use_stable_forms`, which puts
an operation that is at least as accurate everywhere in the place of two, sums with zero in `slice_sums`, `row_buffers`,
`merge_writes`, `forward_writes` and `joined_parts`, where -0.0 stays so, and the same factors in another form in
`share_factors`, `triangles` and `cholesky_parts`, where solutions are rounded otherwise, as are the derivatives of
reciprocals by `square_reciprocals`. (`sparse_rows` adds in another order, and BLAS may do so with the larger products
of `flat_products`. `factor_sums` multiplies after large sums instead of before: `0 * inf + 1 * inf` is an infinity
then, and no NaN.)

`PASSES` and `LAST_PASSES` are their order and `optimise` runs them. `rewrite` is the engine that most of them use;
`reroll` makes loops of repeated instructions, `row_buffers`, `uniform_rows` and `forward_writes` take writes out of
them, `recompute` keeps what is cheap from being stacked, and `stack_cosines` stacks what the forward loop computes at
little cost. May import: `jit.ir`, `gradtape.core`, `gradtape.ops`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.jit.ir.program import Program
from gradtape.jit.passes.cholesky_parts import split_cholesky_gradients
from gradtape.jit.passes.constants import fold_constants
from gradtape.jit.passes.cse import share_stacks, share_subexpressions
from gradtape.jit.passes.dce import drop_dead
from gradtape.jit.passes.factor_sums import factor_sums
from gradtape.jit.passes.flat_products import flatten_products
from gradtape.jit.passes.forward_writes import forward_writes
from gradtape.jit.passes.identities import drop_identities
from gradtape.jit.passes.joined_parts import join_parts
from gradtape.jit.passes.layouts import cancel_layouts, keep_broadcasts_virtual
from gradtape.jit.passes.licm import hoist_invariants
from gradtape.jit.passes.merge_writes import merge_writes
from gradtape.jit.passes.recompute import recompute_stacked
from gradtape.jit.passes.reroll.find import FoundLoops, Listing, reroll_loops
from gradtape.jit.passes.row_buffers import carry_rows
from gradtape.jit.passes.share_factors import share_factors
from gradtape.jit.passes.slice_sums import add_to_slices
from gradtape.jit.passes.slice_walks import walk_whole_arrays
from gradtape.jit.passes.sparse_rows import order_by_rows
from gradtape.jit.passes.stable_forms import square_reciprocals, use_stable_forms
from gradtape.jit.passes.stack_cosines import stack_cosines
from gradtape.jit.passes.triangles import use_triangles
from gradtape.jit.passes.uniform_rows import share_rows
from gradtape.jit.passes.unstack import collapse_stacks

Pass = Callable[[Program], Program]

PASSES: tuple[Pass, ...] = (
    hoist_invariants,
    drop_identities,
    cancel_layouts,
    collapse_stacks,
    use_stable_forms,
    square_reciprocals,
    fold_constants,
    keep_broadcasts_virtual,
    share_subexpressions,
    drop_dead,
)
"""The passes, in the order in which they are run; all of them again as long as the program shrinks."""

LAST_PASSES: tuple[Pass, ...] = (
    forward_writes,
    share_stacks,
    walk_whole_arrays,
    recompute_stacked,
    stack_cosines,
    use_triangles,
    share_factors,
    split_cholesky_gradients,
    order_by_rows,
    join_parts,
    flatten_products,
    cancel_layouts,
    factor_sums,
)
"""The passes that are run once, when loops have been made."""

ROUNDS_AT_MOST = 6
LONG = 4000
"""Instructions of a program, from which its repetitions are made loops before it is optimised to the end."""
MUCH_SHORTER = 20
"""How many times shorter it has to become by that; otherwise parts of the loops were missed as they were written."""


def optimise(
    program: Program, after: Callable[[Program], Any] | None = None, loops: FoundLoops | None = None
) -> Program:
    """`program` after all passes; `after`, such as `verify`, is called with what each of them made.

    `loops` are those that were found while it was traced.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> step = jit(lambda x: -(-x) * 1.0 + np.exp(x) * np.exp(x))
    >>> _ = step(np.ones(3))
    >>> len(step.traced), len(step.program)
    (7, 3)
    """
    if loops is not None:
        from gradtape.jit.passes.reroll.build import build_loops

        program = build_loops(loops.listing.extend(program) or Listing(program), sorted(loops.stretches))
    if len(program) > LONG:  # a long loop is found as it was written, and then there is little left to optimise
        short = _make_loops(drop_dead(program))
        program = short if len(short) * MUCH_SHORTER < len(program) else program
    for _ in range(ROUNDS_AT_MOST):
        before = len(program)
        for run_pass in PASSES:
            program = run_pass(program)
            if after is not None:
                after(program)
        if len(program) == before:
            break
        if len(program) > LONG:  # what is left to do is done to loops, of which there is less
            program = _make_loops(program)
    program = _make_loops(merge_writes(add_to_slices(_make_loops(program))))
    for run_pass in LAST_PASSES:
        program = run_pass(program)
    if after is not None:
        after(program)
    return program


def _make_loops(program: Program) -> Program:
    """Repetitions as loops, of which arrays that are written row by row are replaced by their rows.

    After that the same instructions may be around loops that differed before by the row they write to.
    """
    for _ in range(ROUNDS_AT_MOST):
        before = program
        program = share_rows(carry_rows(reroll_loops(program)))
        if program is before:
            break
    return program
