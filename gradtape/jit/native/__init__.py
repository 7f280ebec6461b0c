"""Native code for groups of instructions.

expression.py    vectors of lanes that read like formulas
pairs.py         sums of two floats, for extra digits
angles.py        sine and cosine of huge numbers
vectormath.py    exp, log, sin ... on vectors;  vectorspecial.py: erf, erfc
fit.py           computes coefficients.py
compiler.py      LLVM IR to functions in memory
elementwise.py   how each operation is emitted
expanding.py     instructions that become several smaller ones
planning.py      groups to loop nests, products and loops;  places.py: where values lie in memory
loops.py         loops over vectors;  reducing.py: sums;  nests.py: the code of a nest
products.py      which matrix products;  multiplying.py: their code;  blas.py: where BLAS is
filling.py       adding up at positions
blocks.py        nests, products and loops together
groups.py        blocks to callables;  calls.py: without Python in between
threads.py       large loops over several cores
preparing.py     programs as native code likes them
backend.py       all of it, as the runner of programs wants it
"""
