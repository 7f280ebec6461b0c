"""Guards: what a compiled program relies on besides the arrays that it is called with.

In: the arguments of a call, and what the function can read. Out: a cache key (`signature`), captured values that are
read again in each call or compared (`captures`, with `holders`, `code_names` and `library_code`), copies of what
captures them, for the length of a trace (`substitute`), what a function can change, to undo that (`snapshot`), states
of random generators (`rng`), and impure reads that are reported (`impure_reads`). May import: `jit.ir`,
`gradtape.core`.
"""
