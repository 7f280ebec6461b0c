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
    "cosine_transforms": "",
    "covariance": "corrcoef cov",
    "cross_entropy": "",
    "decompositions": "",
    "determinants": "",
    "distributions": "",
    "insertion": "delete insert resize sliding_window_view",
    "emath": "",
    "fft": "",
    "filters": "",
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
    "splines": "",
    "svd": "",
    "sparse_products": "",
    "sparse_eigen": "",
    "sparse_methods": "",
    "structured_systems": "",
    "similarity": "",
    "pivots": "",
    "polar": "",
    "ldl": "",
    "riccati": "",
    "special": "",
    "eigen": "",
    "nan_reductions": "cumulative_prod cumulative_sum nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin "
    "nanprod nanstd nansum nanvar",
    "triangular": "",
    "cholesky_gradient": "",
    "shared_factors": "",
    "ufuncs": "",
}
"""Modules of `gradtape.ops` in the order in which they are imported, with the names that `gradtape` itself has of them.

The others are reached through NumPy's functions, or through a namespace such as `gradtape.nn`."""

SPECIAL_CHAPTERS = {
    "airy_functions": "airy airye itairy",
    "bessel_relatives": "bei beip ber berp besselpoly h1vp h2vp hankel1 hankel1e hankel2 hankel2e it2i0k0 it2j0y0 "
    "it2struve0 iti0k0 itj0y0 itmodstruve0 itstruve0 ivp jve jvp kei keip kelvin ker kerp kvp lmbda modstruve "
    "riccati_jn riccati_yn spherical_in spherical_jn spherical_kn spherical_yn struve yve yvp",
    "combinatorics": "binom comb factorial factorial2 factorialk perm",
    "distribution_functions": "bdtr bdtrc bdtri bdtrik bdtrin btdtria btdtrib chdtr chdtrc chdtri chdtriv fdtr fdtrc "
    "fdtri fdtridfd gdtr gdtrc gdtria gdtrib gdtrix nbdtr nbdtrc nbdtri nbdtrik nbdtrin nrdtrimn nrdtrisd pdtr pdtrc "
    "pdtri pdtrik stdtr stdtridf stdtrit",
    "elliptic": "agm ellipe ellipeinc ellipj ellipk ellipkinc ellipkm1 elliprc elliprd elliprf elliprg elliprj",
    "equations": "mathieu_a mathieu_b mathieu_cem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 "
    "mathieu_sem obl_ang1 obl_ang1_cv obl_cv obl_rad1 pbdn_seq pbdv pbdv_seq pbvv pbvv_seq pbwa pro_ang1 pro_ang1_cv "
    "pro_cv pro_rad1",
    "faddeeva": "dawsn fresnel modfresnelm modfresnelp owens_t voigt_profile wofz",
    "hypergeometric": "hyp0f1 hyp1f1 hyp2f1 hyperu log_wright_bessel wright_bessel",
    "integrals": "expn lambertw shichi sici spence wrightomega",
    "kolmogorov_smirnov": "kolmogi kolmogorov smirnov smirnovi",
    "legendre_functions": "assoc_legendre_p assoc_legendre_p_all legendre_p legendre_p_all lpmv sph_harm_y "
    "sph_harm_y_all sph_legendre_p sph_legendre_p_all",
    "noncentral": "chndtr chndtridf chndtrinc chndtrix nctdtr nctdtridf nctdtrinc nctdtrit",
    "orthogonal_polynomials": "assoc_laguerre eval_chebyc eval_chebys eval_chebyt eval_chebyu eval_gegenbauer "
    "eval_genlaguerre eval_hermite eval_hermitenorm eval_jacobi eval_laguerre eval_legendre eval_sh_chebyt "
    "eval_sh_chebyu eval_sh_jacobi eval_sh_legendre",
    "transforms": "boxcox boxcox1p cosdg cotdg diric huber inv_boxcox inv_boxcox1p powm1 pseudo_huber radian round "
    "sindg softplus tandg tklmbda",
    "zeta_functions": "zetac",
}
"""Modules of `gradtape.ops.special` that are imported when one of their names is first used, with these names."""

NAMESPACES = {
    "array_api": "gradtape.array_api",
    "bridges": "gradtape.bridges",
    "distributed": "gradtape.distributed",
    "fft": "gradtape.ops.fft",
    "implicit": "gradtape.transforms.implicit",
    "linalg": "gradtape.linalg",
    "nn": "gradtape.nn",
    "numpy": "gradtape.numpy",
    "optim": "gradtape.optim",
    "optimize": "gradtape.optimize",
    "quadrature": "gradtape.quadrature",
    "random": "gradtape.random",
    "scipy": "gradtape.scipy",
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
    "gradtape.watching": "watch",
    "gradtape.watching.notebook": "load_ipython_extension",
    "gradtape.training": "EarlyStopping fit",
    "gradtape.loops": "fori_loop scan while_loop",
    "gradtape.odes": "odeint",
    "gradtape.quadrature": "quad",
    "gradtape.numpy_dispatch.interchange": "from_dlpack from_torch to_torch",
}

MODULE_OF = {name: f"gradtape.ops.{chapter}" for chapter, names in OPS_CHAPTERS.items() for name in names.split()}
MODULE_OF |= {name: module for module, names in _FUNCTIONS.items() for name in names.split()}
"""The module of each function and class of `gradtape` that is imported when first used."""
