"""Tests of gt.optimize, and of SciPy's own optimisers with gradtape's derivatives."""
