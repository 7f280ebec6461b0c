"""How NumPy code reaches gradtape: `__array_function__` and `__array_ufunc__`, operators and methods, DLPack, and
bridges that are installed when another library is imported.
"""
