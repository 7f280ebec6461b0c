"""What docs/coverage.md is made from: a call of every function, and the reasons why some have no derivative.

A call is a line of NumPy code with `x` (a matrix), `v` and `u` (vectors) in it. It is run on arrays and on tensors, and
what it differentiates to is compared with finite differences: nobody has to claim what works. What has no derivative by
nature is listed here with the reason, and the page is refused if such a function turns out to have one.
"""

from __future__ import annotations

CALLS = {
    # ufuncs: np.name(v) or np.name(v, u) unless another call is given
    "np.arccos": "np.arccos(v / 2)",
    "np.arccosh": "np.arccosh(1 + v)",
    "np.arcsin": "np.arcsin(v / 2)",
    "np.arctanh": "np.arctanh(v / 2)",
    "np.bitwise_and": "np.bitwise_and(v > 1, u > 1)",
    "np.bitwise_count": "np.bitwise_count((9 * v).astype(int))",
    "np.bitwise_or": "np.bitwise_or(v > 1, u > 1)",
    "np.bitwise_xor": "np.bitwise_xor(v > 1, u > 1)",
    "np.gcd": "np.gcd((9 * v).astype(int), 6)",
    "np.invert": "np.invert(v > 1)",
    "np.isnat": "np.isnat(v)",
    "np.lcm": "np.lcm((9 * v).astype(int), 6)",
    "np.ldexp": "np.ldexp(v, [1, 2, 3])",
    "np.left_shift": "np.left_shift((9 * v).astype(int), 2)",
    "np.matmul": "np.matmul(x, v)",
    "np.matvec": "np.matvec(x, v)",
    "np.right_shift": "np.right_shift((9 * v).astype(int), 2)",
    "np.vecmat": "np.vecmat(v, x)",
    # np.name(x) unless another call is given
    "np.allclose": "np.allclose(v, u)",
    "np.append": "np.append(v, u)",
    "np.apply_along_axis": "np.apply_along_axis(lambda row: row * row[0], 1, x)",
    "np.apply_over_axes": "np.apply_over_axes(np.sum, x, [0, 1])",
    "np.arange": "np.arange(3.0, like=v)",
    "np.argpartition": "np.argpartition(v, 1)",
    "np.array": "np.array([[v, u], [u, v]], like=v)",
    "np.array_equal": "np.array_equal(v, u)",
    "np.array_equiv": "np.array_equiv(v, u)",
    "np.array_split": "np.array_split(x, 2)",
    "np.asanyarray": "np.asanyarray([v, u], like=v)",
    "np.asarray": "np.asarray([v, u], like=v)",
    "np.ascontiguousarray": "np.ascontiguousarray(v, like=v)",
    "np.asfortranarray": "np.asfortranarray(x, like=x)",
    "np.astype": "np.astype(x, np.complex128)",
    "np.average": "np.average(x, 0, weights=v)",
    "np.bincount": "np.bincount([0, 1, 1], weights=v)",
    "np.block": "np.block([[x, x], [x, x]])",
    "np.broadcast_arrays": "np.broadcast_arrays(x, v)",
    "np.broadcast_to": "np.broadcast_to(v, (2, 3))",
    "np.busday_count": "np.busday_count(v, u)",
    "np.busday_offset": "np.busday_offset(v, u)",
    "np.can_cast": "np.can_cast(v, 'float32')",
    "np.choose": "np.choose([0, 1, 0], [v, u])",
    "np.clip": "np.clip(x, 0.3, v)",
    "np.column_stack": "np.column_stack([v, u])",
    "np.compress": "np.compress([True, False, True], x, 0)",
    "np.concatenate": "np.concatenate([v, u])",
    "np.convolve": "np.convolve(v, u)",
    "np.copyto": "y = v * 1.0; np.copyto(y, u, where=[True, False, True]); y",
    "np.correlate": "np.correlate(v, u, 'full')",
    "np.cross": "np.cross(v, u)",
    "np.cumulative_prod": "np.cumulative_prod(v, include_initial=True)",
    "np.cumulative_sum": "np.cumulative_sum(v, include_initial=True)",
    "np.delete": "np.delete(x, 1, 0)",
    "np.digitize": "np.digitize(v, [0.5, 1.0])",
    "np.dot": "np.dot(x, v)",
    "np.dsplit": "np.dsplit(x[None], 3)",
    "np.dstack": "np.dstack([v, u])",
    "np.einsum": "np.einsum('ij,j,k->ik', x, v, u)",
    "np.einsum_path": "np.einsum_path('ij,j->i', x, v)[0]",
    "np.empty": "np.shape(np.empty(3, like=v))",
    "np.empty_like": "np.shape(np.empty_like(v))",
    "np.expand_dims": "np.expand_dims(v, 0)",
    "np.extract": "np.extract([True, False, True], v)",
    "np.eye": "np.eye(3, like=v)",
    "np.fill_diagonal": "y = x * 1.0; np.fill_diagonal(y, v); y",
    "np.frombuffer": "np.frombuffer(b'\\x01\\x02', dtype=np.uint8, like=v)",
    "np.fromfile": "import os; np.fromfile(os.devnull, like=v)",
    "np.fromfunction": "np.fromfunction(lambda i: v[0] * i, (3,), like=v)",
    "np.fromiter": "np.fromiter([v[0], u[1]], float, like=v)",
    "np.fromstring": "np.fromstring('1 2', sep=' ', like=v)",
    "np.full": "np.full((2, 3), v, like=v)",
    "np.full_like": "np.full_like(x, v)",
    "np.genfromtxt": "import io; np.genfromtxt(io.StringIO('1 2'), like=v)",
    "np.geomspace": "np.geomspace(v, 5 * u, 4)",
    "np.gradient": "np.gradient(x, axis=0)",
    "np.histogram": "np.histogram([0.2, 0.4, 1.3], bins=2, weights=v)[0]",
    "np.histogram2d": "np.histogram2d([0.2, 0.4, 1.3], [0.1, 0.7, 0.9], bins=2, weights=v)[0]",
    "np.histogramdd": "np.histogramdd(np.array([[0.2], [0.4], [1.3]]), bins=2, weights=v)[0]",
    "np.hsplit": "np.hsplit(x, 3)",
    "np.hstack": "np.hstack([v, u])",
    "np.identity": "np.identity(3, like=v)",
    "np.imag": "np.imag(x * (1 + 2j))",
    "np.inner": "np.inner(x, v)",
    "np.insert": "np.insert(v, [0, 2], u[:2])",
    "np.interp": "np.interp(v, [0.0, 1.0, 2.0], u)",
    "np.intersect1d": "np.intersect1d(v, u)",
    "np.isclose": "np.isclose(v, u)",
    "np.isin": "np.isin(v, u)",
    "np.ix_": "np.ix_(v > 1, u > 1)",
    "np.kron": "np.kron(x, v)",
    "np.lexsort": "np.lexsort((v, u))",
    "np.lib.scimath.logn": "np.emath.logn(3, v)",
    "np.lib.scimath.power": "np.emath.power(v, 2)",
    "np.lib.stride_tricks.sliding_window_view": "np.lib.stride_tricks.sliding_window_view(x, 2, 1)",
    "np.linalg.cholesky": "np.linalg.cholesky(x @ x.T)",
    "np.linalg.cross": "np.linalg.cross(v, u)",
    "np.linalg.eig": "np.abs(np.linalg.eig(x)[0])",
    "np.linalg.eigh": "np.linalg.eigh(x + x.T)[0]",
    "np.linalg.eigvals": "np.abs(np.linalg.eigvals(x))",
    "np.linalg.eigvalsh": "np.linalg.eigvalsh(x + x.T)",
    "np.linalg.lstsq": "np.linalg.lstsq(x, v)[0]",
    "np.linalg.matmul": "np.linalg.matmul(x, x)",
    "np.linalg.matrix_power": "np.linalg.matrix_power(x, 3)",
    "np.linalg.multi_dot": "np.linalg.multi_dot([x, x, v])",
    "np.linalg.outer": "np.linalg.outer(v, u)",
    "np.linalg.solve": "np.linalg.solve(x, v)",
    "np.linalg.svd": "np.linalg.svd(x)[1]",
    "np.linalg.tensordot": "np.linalg.tensordot(x, v, axes=1)",
    "np.linalg.tensorinv": "np.linalg.tensorinv(x, ind=1)",
    "np.linalg.tensorsolve": "np.linalg.tensorsolve(x, v)",
    "np.linalg.vecdot": "np.linalg.vecdot(x, v)",
    "np.linspace": "np.linspace(v, u, 4)",
    "np.loadtxt": "import io; np.loadtxt(io.StringIO('1 2'), like=v)",
    "np.logspace": "np.logspace(v, u, 4)",
    "np.may_share_memory": "np.may_share_memory(v, u)",
    "np.meshgrid": "np.meshgrid(v, u)",
    "np.moveaxis": "np.moveaxis(x, 0, 1)",
    "np.nanpercentile": "np.nanpercentile(x, 30, axis=0)",
    "np.nanquantile": "np.nanquantile(x, 0.3, axis=0)",
    "np.ones": "np.ones(3, like=v)",
    "np.outer": "np.outer(v, u)",
    "np.packbits": "np.packbits(v > 1)",
    "np.pad": "np.pad(x, 2, 'linear_ramp')",
    "np.partition": "np.partition(x, 1)",
    "np.percentile": "np.percentile(x, 30, axis=0)",
    "np.piecewise": "np.piecewise(v, [v > 0.6], [lambda t: t * t, lambda t: 3 * t])",
    "np.place": "y = v * 1.0; np.place(y, [True, False, True], u); y",
    "np.poly": "np.poly(v)",
    "np.polyadd": "np.polyadd(v, u)",
    "np.polyder": "np.polyder(v)",
    "np.polydiv": "np.polydiv(v, u[:2])",
    "np.polyfit": "np.polyfit(v, u, 1)",
    "np.polyint": "np.polyint(v)",
    "np.polymul": "np.polymul(v, u)",
    "np.polysub": "np.polysub(v, u)",
    "np.polyval": "np.polyval(v, u)",
    "np.put": "y = v * 1.0; np.put(y, [0, 2], u); y",
    "np.put_along_axis": "y = x * 1.0; np.put_along_axis(y, np.array([[0], [2], [1]]), u[:, None], 1); y",
    "np.putmask": "y = v * 1.0; np.putmask(y, np.array([True, False, True]), u); y",
    "np.quantile": "np.quantile(x, 0.3, axis=0)",
    "np.ravel_multi_index": "np.ravel_multi_index((v > 1, u > 1), (2, 2))",
    "np.repeat": "np.repeat(v, 2)",
    "np.require": "np.require(v, like=v)",
    "np.reshape": "np.reshape(x, (9,))",
    "np.resize": "np.resize(v, (2, 4))",
    "np.roll": "np.roll(x, 1)",
    "np.rollaxis": "np.rollaxis(x, 1)",
    "np.roots": "np.roots(v * [1.0, 5.0, 1.0])",
    "np.save": "import io; np.save(io.BytesIO(), v)",
    "np.savetxt": "import io; np.savetxt(io.StringIO(), v)",
    "np.savez": "import io; np.savez(io.BytesIO(), v)",
    "np.savez_compressed": "import io; np.savez_compressed(io.BytesIO(), v)",
    "np.searchsorted": "np.searchsorted([0.5, 1.0], v)",
    "np.select": "np.select([v > 1, v > 0.5], [v * v, u])",
    "np.setdiff1d": "np.setdiff1d(v, u)",
    "np.setxor1d": "np.setxor1d(v, u)",
    "np.shares_memory": "np.shares_memory(v, u)",
    "np.split": "np.split(x, 3)",
    "np.squeeze": "np.squeeze(v[None])",
    "np.stack": "np.stack([v, u])",
    "np.swapaxes": "np.swapaxes(x, 0, 1)",
    "np.take": "np.take(v, [2, 0, 2])",
    "np.take_along_axis": "np.take_along_axis(x, np.array([[2], [0], [1]]), 1)",
    "np.tensordot": "np.tensordot(x, v, 1)",
    "np.tile": "np.tile(v, 2)",
    "np.tri": "np.tri(3, like=v)",
    "np.trim_zeros": "np.trim_zeros(v)",
    "np.union1d": "np.union1d(v, u)",
    "np.unpackbits": "np.unpackbits((9 * v).astype(np.uint8))",
    "np.unravel_index": "np.unravel_index(np.argmax(x), (3, 3))",
    "np.unwrap": "np.unwrap(9 * v)",
    "np.vander": "np.vander(v)",
    "np.vdot": "np.vdot(v, u)",
    "np.vsplit": "np.vsplit(x, 3)",
    "np.vstack": "np.vstack([v, u])",
    "np.where": "np.where([True, False, True], v, u)",
    "np.zeros": "np.zeros(3, like=v)",
    "np.polynomial.polynomial.polygrid2d": "np.polynomial.polynomial.polygrid2d(v, u, x)",
    "np.polynomial.polynomial.polyval2d": "np.polynomial.polynomial.polyval2d(v, u, x)",
    "np.polynomial.polynomial.polyvalnd": "np.polynomial.polynomial.polyvalnd((v, u), x)",
    # of NumPy's Fourier transforms, the ones that take something else than x
    "np.fft.fftfreq": "np.fft.fftfreq(3)",
    "np.fft.rfftfreq": "np.fft.rfftfreq(3)",
    # of scipy.special, those whose arguments are not between 0 and 1.5
    "scipy.special.betainc": "special.betainc(v, u, v / 3)",
    "scipy.special.betaincc": "special.betaincc(v, u, v / 3)",
    "scipy.special.betainccinv": "special.betainccinv(v, u, v / 3)",
    "scipy.special.betaincinv": "special.betaincinv(v, u, v / 3)",
    "scipy.special.erfcinv": "special.erfcinv(v)",
    "scipy.special.erfinv": "special.erfinv(v / 2)",
    "scipy.special.gammainccinv": "special.gammainccinv(v, u / 2)",
    "scipy.special.gammaincinv": "special.gammaincinv(v, u / 2)",
    "scipy.special.iv": "special.iv(2.5, v)",
    "scipy.special.ive": "special.ive(2.5, v)",
    "scipy.special.jn": "special.jn(2, v)",
    "scipy.special.jv": "special.jv(2.5, v)",
    "scipy.special.kn": "special.kn(2, v)",
    "scipy.special.kv": "special.kv(2.5, v)",
    "scipy.special.kve": "special.kve(2.5, v)",
    "scipy.special.log_softmax": "gt.special.log_softmax(x, 1)",
    "scipy.special.logit": "special.logit(v / 2)",
    "scipy.special.logsumexp": "gt.special.logsumexp(x, 1)",
    "scipy.special.multigammaln": "gt.special.multigammaln(2 + v, 2)",
    "scipy.special.ndtri": "special.ndtri(v / 2)",
    "scipy.special.polygamma": "gt.special.polygamma(2, v)",
    "scipy.special.sinc": "special.sinc(v)",
    "scipy.special.softmax": "gt.special.softmax(x, 1)",
    "scipy.special.yn": "special.yn(2, v)",
    "scipy.special.yv": "special.yv(2.5, v)",
    "scipy.special.zeta": "gt.special.zeta(2.5, u)",
}

BY_NATURE = {
    "Truths come out: there is nothing between yes and no": """
        np.all np.allclose np.any np.array_equal np.array_equiv np.can_cast np.equal np.greater np.greater_equal
        np.isclose np.iscomplex np.iscomplexobj np.isfinite np.isin np.isinf np.isnan np.isneginf np.isposinf np.isreal
        np.isrealobj np.less np.less_equal np.logical_and np.logical_not np.logical_or np.logical_xor
        np.may_share_memory np.not_equal np.shares_memory np.signbit
    """,
    "Positions and counts come out, which are whole numbers": """
        np.argmax np.argmin np.argpartition np.argsort np.argwhere np.bitwise_and np.bitwise_count np.bitwise_or
        np.bitwise_xor np.count_nonzero np.diag_indices_from np.digitize np.flatnonzero np.gcd np.invert np.ix_ np.lcm
        np.left_shift np.lexsort np.linalg.matrix_rank np.nanargmax np.nanargmin np.nonzero np.packbits
        np.ravel_multi_index np.right_shift np.searchsorted np.tril_indices_from np.triu_indices_from np.unpackbits
        np.unravel_index
    """,
    "Steps: flat wherever there is a slope": """
        np.around np.ceil np.fix np.floor np.floor_divide np.heaviside np.rint np.round np.sign np.spacing np.trunc
        scipy.special.gammasgn scipy.special.round
    """,
    "About the form of arrays, not their numbers": """
        np.common_type np.einsum_path np.min_scalar_type np.ndim np.result_type np.shape np.size
    """,
    "New arrays whose numbers do not depend on any other": """
        np.arange np.empty np.empty_like np.eye np.fft.fftfreq np.fft.rfftfreq np.frombuffer np.fromfile np.fromstring
        np.genfromtxt np.identity np.loadtxt np.ones np.ones_like np.tri np.zeros np.zeros_like
    """,
    "Text and files: the value is written out, and stays as it was": """
        np.array2string np.array_repr np.array_str np.save np.savetxt np.savez np.savez_compressed
    """,
    "Words and dates: no numbers, so no tensor holds them": """
        np.busday_count np.busday_offset np.datetime_as_string np.is_busday np.isnat
    """,
    "Structured arrays: a tensor has one dtype for all its elements": """
        np.lib.recfunctions.append_fields np.lib.recfunctions.apply_along_fields
        np.lib.recfunctions.assign_fields_by_name np.lib.recfunctions.drop_fields
        np.lib.recfunctions.find_duplicates np.lib.recfunctions.join_by np.lib.recfunctions.merge_arrays
        np.lib.recfunctions.rec_append_fields np.lib.recfunctions.rec_drop_fields np.lib.recfunctions.rec_join
        np.lib.recfunctions.recursive_fill_fields np.lib.recfunctions.rename_fields
        np.lib.recfunctions.repack_fields np.lib.recfunctions.require_fields np.lib.recfunctions.stack_arrays
        np.lib.recfunctions.structured_to_unstructured np.lib.recfunctions.unstructured_to_structured
    """,
}

AUTOGRAD = """
    np.absolute np.add np.amax np.amin np.angle np.append np.arccos np.arccosh np.arcsin np.arcsinh np.arctan np.arctan2
    np.arctanh np.array np.array_split np.astype np.atleast_1d np.atleast_2d np.atleast_3d np.broadcast_to np.clip
    np.column_stack np.concatenate np.conjugate np.cos np.cosh np.cross np.cumsum np.deg2rad np.degrees np.diag
    np.diagonal np.diff np.divide np.dot np.dsplit np.einsum np.exp np.exp2 np.expand_dims np.expm1 np.fabs np.fliplr
    np.flipud np.fmax np.fmin np.full np.gradient np.hsplit np.hstack np.hypot np.imag np.inner np.kron np.linspace
    np.log np.log10 np.log1p np.log2 np.logaddexp np.logaddexp2 np.matmul np.max np.maximum np.mean np.min np.minimum
    np.moveaxis np.multiply np.nan_to_num np.negative np.outer np.pad np.partition np.power np.prod np.rad2deg
    np.radians np.ravel np.real np.real_if_close np.reciprocal np.remainder np.repeat np.reshape np.roll np.rollaxis
    np.rot90 np.select np.sin np.sinc np.sinh np.sort np.split np.sqrt np.square np.squeeze np.stack np.std np.subtract
    np.sum np.swapaxes np.tan np.tanh np.tensordot np.tile np.trace np.transpose np.tril np.triu np.var np.vsplit
    np.vstack np.where
    np.fft.fft np.fft.fft2 np.fft.fftn np.fft.fftshift np.fft.ifft np.fft.ifft2 np.fft.ifftn np.fft.ifftshift
    np.fft.irfft np.fft.irfft2 np.fft.irfftn np.fft.rfft np.fft.rfft2 np.fft.rfftn
    np.linalg.cholesky np.linalg.det np.linalg.eig np.linalg.eigh np.linalg.inv np.linalg.norm np.linalg.pinv
    np.linalg.slogdet np.linalg.solve np.linalg.svd
    scipy.special.beta scipy.special.betainc scipy.special.betaln scipy.special.digamma scipy.special.erf
    scipy.special.erfc scipy.special.erfcinv scipy.special.erfinv scipy.special.expit scipy.special.gamma
    scipy.special.gammainc scipy.special.gammaincc scipy.special.gammaln scipy.special.i0 scipy.special.i1
    scipy.special.iv scipy.special.ive scipy.special.j0 scipy.special.j1 scipy.special.jn scipy.special.logit
    scipy.special.logsumexp scipy.special.multigammaln scipy.special.polygamma scipy.special.psi scipy.special.rgamma
    scipy.special.y0 scipy.special.y1 scipy.special.yn
"""
"""The functions that autograd 1.9.1 has a reverse rule for, read from its table of rules."""
