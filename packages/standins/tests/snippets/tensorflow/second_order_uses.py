"""Newton's method, second derivatives of a network, and gradients of linear algebra."""

import tensorflow as tf


# least squares by newton, rosenbrock by gradient descent
def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


p = tf.Variable([-1.0, 1.0], dtype=tf.float64)
for _ in range(200):
    with tf.GradientTape() as tape:
        loss = rosenbrock(p)
    p.assign_sub(0.001 * tape.gradient(loss, p))
print(loss.numpy().round(5), p.numpy().round(5))


def newton(x):
    with tf.GradientTape() as t2:
        t2.watch(x)
        with tf.GradientTape() as t1:
            t1.watch(x)
            y = rosenbrock(x)
        g = t1.gradient(y, x)
    h = t2.jacobian(g, x)
    return x - tf.linalg.solve(h, g[:, None])[:, 0]


x = tf.constant([-1.0, 1.0], dtype=tf.float64)
for _ in range(5):
    x = newton(x)
print(x)
# second derivative of a network by two tapes
t = tf.constant([[0.5]])
net = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(4, activation="tanh", kernel_initializer="ones"),
        tf.keras.layers.Dense(1, kernel_initializer="ones"),
    ]
)
with tf.GradientTape() as a:
    a.watch(t)
    with tf.GradientTape() as b:
        b.watch(t)
        u = net(t)
    du = b.gradient(u, t)
ddu = a.gradient(du, t)
print(u, du, ddu)
a_ = tf.constant(2.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(a_)
    y = tf.sin(a_)
    z = [y, y * a_]
print([tape.gradient(one, a_) for one in z], tape.gradient(z, a_))
print(tape.jacobian(y, a_))
m = tf.constant([[2.0, 1.0], [1.0, 3.0]])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(m)
    d = tf.linalg.det(m)
    i = tf.linalg.inv(m)
    c = tf.linalg.cholesky(m)
    log = tf.linalg.logdet(m)
    e = tf.linalg.eigvalsh(m)
    s = tf.linalg.svd(m, compute_uv=False)
    tr = tf.linalg.trace(m)
    n = tf.norm(m)
for v in (d, i, c, log, e, s, tr, n):
    print(tape.gradient(v, m))
print(tf.linalg.eigh(m)[0])
