"""Optimisation passes: pure functions from a `Program` to a `Program` that computes the same.

`simplify` holds the rewriting passes and their order; `unstack` removes stacks of slices; `reroll` finds repeated
instructions and makes loops of them. May import: `jit.ir`, `gradtape.core`, `gradtape.ops`.
"""
