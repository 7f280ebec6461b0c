"""Native code for groups of instructions.

building.py      instructions, but for arithmetic whose result is known
expression.py    vectors of lanes that read like formulas
pairs.py         sums of two floats, for extra digits
angles.py        sine and cosine of huge numbers
vectormath.py    exp, log, sin ... on vectors;  vectorspecial.py: erf, erfc
fit.py           computes coefficients.py
compiler.py      LLVM IR to functions in memory
elementwise.py   how each operation is emitted
expanding.py     instructions that become several smaller ones
kinds.py         which instructions there are, and which are native
planning.py      groups to loop nests, products and loops;  places.py: where values lie in memory
windows.py       gradients of slices that are read, and never made
tiles.py         large elementwise loops, a few hundred elements at a time
loops.py         loops over vectors;  reducing.py: sums;  nests.py: the code of a nest
products.py      which matrix products;  multiplying.py: their code;  blas.py: where BLAS is
convolutions.py  which convolutions;  convolving.py: their code
pools.py         which poolings;  pooling.py: their code
filling.py       adding up at positions
blocks.py        nests, calls, loops and tiles together
groups.py        blocks to callables;  calls.py: without Python in between
threads.py       large loops over several cores
preparing.py     programs as native code likes them
backend.py       all of it, as the runner of programs wants it
"""
