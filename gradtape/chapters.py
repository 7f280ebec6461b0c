"""The modules of gradtape that are imported when one of their names is first used, to keep `import gradtape` quick.

This is the only list of them. `gradtape.__getattr__` reads it to find a name, and `numpy_dispatch.protocols` to import
every chapter of `gradtape.ops` before it says that a NumPy function has no gradient rule.
"""

OPS_CHAPTERS = {
    "activations": "",
    "attention": "",
    "creation_from": "array asarray block diagflat fromfunction fromiter geomspace logspace tri",
    "selection": "apply_along_axis apply_over_axes choose compress extract piecewise select trim_zeros vectorize",
    "convolution": "",
    "covariance": "corrcoef cov",
    "cross_entropy": "",
    "decompositions": "",
    "determinants": "",
    "distributions": "",
    "insertion": "delete insert resize sliding_window_view",
    "emath": "",
    "fft": "",
    "histograms": "bincount histogram histogram2d histogram_bin_edges histogramdd",
    "labels": "",
    "layers": "",
    "least_squares": "",
    "losses": "",
    "matrix_functions": "",
    "normalisation": "",
    "norms": "",
    "numerics": "convolve correlate ediff1d fix frexp gradient interp iscomplex isreal ldexp nextafter real_if_close "
    "spacing unwrap",
    "inplace": "copyto fill_diagonal place put put_along_axis putmask",
    "padding": "pad",
    "polynomials": "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots vander",
    "pooling": "",
    "introspection": "array_equiv can_cast common_type diag_indices_from einsum_path ix_ may_share_memory "
    "min_scalar_type ravel_multi_index shares_memory tril_indices_from triu_indices_from unravel_index",
    "rectifiers": "",
    "accumulate": "",
    "searching": "argwhere digitize flatnonzero intersect1d isin searchsorted setdiff1d setxor1d union1d unique "
    "unique_all unique_counts unique_inverse unique_values",
    "sorting": "argpartition lexsort nanmedian nanpercentile nanquantile partition sort_complex",
    "svd": "",
    "special": "",
    "eigen": "",
    "nan_reductions": "cumulative_prod cumulative_sum nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin "
    "nanprod nanstd nansum nanvar",
    "ufuncs": "",
}
"""Modules of `gradtape.ops` in the order in which they are imported, with the names that `gradtape` itself has of them.

The others are reached through NumPy's functions, or through a namespace such as `gradtape.nn`."""

NAMESPACES = {
    "array_api": "gradtape.array_api",
    "bridges": "gradtape.bridges",
    "fft": "gradtape.ops.fft",
    "implicit": "gradtape.transforms.implicit",
    "linalg": "gradtape.linalg",
    "nn": "gradtape.nn",
    "optim": "gradtape.optim",
    "optimize": "gradtape.optimize",
    "quadrature": "gradtape.quadrature",
    "random": "gradtape.random",
    "signal": "gradtape.signal",
    "special": "gradtape.ops.special",
    "stats": "gradtape.stats",
}
"""Modules that are attributes of `gradtape`."""

_FUNCTIONS = {
    "gradtape.checking": "GradcheckError GradcheckReport gradcheck",
    "gradtape.transforms.custom": "checkpoint custom_gradient custom_jvp custom_vjp",
    "gradtape.transforms.sparse": "PatternError sparse_hessian sparse_jacobian",
    "gradtape.checking.audit_batch": "audit_batch",
    "gradtape.explain.kernel.check_numerics": "check_numerics",
    "gradtape.explain.emit.listeners": "expect",
    "gradtape.jit": "jit",
    "gradtape.training": "EarlyStopping fit",
    "gradtape.loops": "fori_loop scan",
    "gradtape.odes": "odeint",
    "gradtape.quadrature": "quad",
    "gradtape.numpy_dispatch.interchange": "from_dlpack from_torch to_torch",
}

MODULE_OF = {name: f"gradtape.ops.{chapter}" for chapter, names in OPS_CHAPTERS.items() for name in names.split()}
MODULE_OF |= {name: module for module, names in _FUNCTIONS.items() for name in names.split()}
"""The module of each function and class of `gradtape` that is imported when first used."""
