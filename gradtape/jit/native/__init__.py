"""The native backend: groups of instructions of a `jit` program, compiled to machine code through LLVM.

lower      which instructions are native (the registry), and their decomposition into the native IR
schedule   fusion into loop nests, memory layout, tiling, blocks of rows, workspace; the verifier of all of it
llvm_ir    LLVM IR as text: types, values, functions and the builder
emit       LLVM IR of loop nests and calls
math       vector functions: exp, log, sin, erf, gamma
runtime    compiling, linking, calling, threads, BLAS
backend    what `jit.runtime` asks of native code
"""
