"""Native code for groups of instructions.

expression.py    vectors of lanes that read like formulas
pairs.py         sums of two floats, for extra digits
angles.py        sine and cosine of huge numbers
vectormath.py    exp, log, sin ... on vectors;  vectorspecial.py: erf, erfc
fit.py           computes coefficients.py
compiler.py      LLVM IR to functions in memory
elementwise.py   how each operation is emitted
loops.py         groups to loop nests
groups.py        loop nests to callables;  calls.py: without Python in between
threads.py       large loops over several cores
backend.py       all of it, as the runner of programs wants it
"""
