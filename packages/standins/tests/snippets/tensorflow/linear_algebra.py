"""Linear algebra and its gradients."""

import tensorflow as tf

a = tf.Variable([[4.0, 1.0], [1.0, 3.0]])
b = tf.constant([[1.0], [2.0]])
cases = {
    "inv": lambda: tf.linalg.inv(a),
    "det": lambda: tf.linalg.det(a),
    "logdet": lambda: tf.linalg.logdet(a),
    "cholesky": lambda: tf.linalg.cholesky(a),
    "solve": lambda: tf.linalg.solve(a, b),
    "trace": lambda: tf.linalg.trace(a),
    "norm": lambda: tf.norm(a),
    "matvec": lambda: tf.linalg.matvec(a, [1.0, -1.0]),
    "band": lambda: tf.linalg.band_part(a, 0, -1),
    "diag": lambda: tf.linalg.diag(tf.linalg.diag_part(a)),
    "einsum": lambda: tf.einsum("ij,kj->ik", a, a),
    "tensordot": lambda: tf.tensordot(a, a, axes=2),
    "transposed": lambda: tf.matmul(a, b, transpose_a=True),
    "triangular": lambda: tf.linalg.triangular_solve(a, b, lower=True),
    "eigenvalues": lambda: tf.linalg.eigvalsh(a),
    "singular": lambda: tf.linalg.svd(a, compute_uv=False),
}
for name, function in cases.items():
    with tf.GradientTape() as tape:
        y = function()
    print(name, y.numpy().round(4).tolist(), tape.gradient(y, a).numpy().round(4).tolist())
print(tf.linalg.slogdet(a))
print(tf.linalg.lu(a).p, tf.linalg.matrix_rank(a), tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
z = tf.signal.fft(tf.constant([1.0, 2.0, 3.0, 4.0], dtype=tf.complex64))
print(z, tf.signal.irfft(tf.signal.rfft([1.0, 2.0, 3.0, 4.0])))
