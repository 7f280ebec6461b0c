"""When a gradient is None, and gradients at the edges of domains."""

import tensorflow as tf

a = tf.Variable(3)
b = tf.Variable(3.0)
with tf.GradientTape(persistent=True) as t:
    y1 = tf.cast(a, tf.float32) * b
    y2 = b * tf.constant(2.0)
    y3 = tf.constant(2.0)
    y5 = b.numpy() * b
    y6 = tf.cast(b, tf.float64) * 2
    y7 = tf.cast(b, tf.int32)
    y8 = tf.equal(b, 3.0)
    y9 = tf.math.floor(b)
print(t.gradient(y1, [a, b]))
print(t.gradient(y2, b), t.gradient(y3, b))
print(t.gradient(y5, b), t.gradient(y6, b), t.gradient(y9, b))
print(t.gradient(y7, b))
print(t.gradient(y8, b))
print(t.gradient([y1, y2], b), t.gradient({"a": y1}, {"b": b}), t.gradient(y1, (b,)))
del t
c = tf.constant([1.0, 2.0])
with tf.GradientTape() as t:
    s = tf.reduce_sum(c * c)
print(t.gradient(s, c))
c2 = tf.Variable(c) + 0.0
with tf.GradientTape() as t:
    s = c2 * 2
print(t.gradient(s, c2))
with tf.GradientTape() as t:
    t.watch(c2)
    s = c2 * 2
print(t.gradient(s, c2))
with tf.GradientTape() as t:
    t.watch(c)
    d = c * 2
    c = c + 1
    s = tf.reduce_sum(d * c)
print(t.gradient(s, c))
v = tf.Variable(1.0, trainable=False)
with tf.GradientTape() as t:
    y = v * 2
print(t.gradient(y, v))
with tf.GradientTape() as t:
    t.watch(v)
    y = v * 2
print(t.gradient(y, v))


@tf.function
def f(x):
    return x**2


with tf.GradientTape() as t:
    y = f(b)
print(t.gradient(y, b))
with tf.GradientTape() as t:
    for _ in range(3):
        b.assign(b * 2)
    y = b * b
print(t.gradient(y, b), b)
st = tf.Variable(0.0)
w = tf.Variable(2.0)
with tf.GradientTape() as t:
    st.assign_add(w * 3)
    y = st + w
print(t.gradient(y, [w, st]))
z = tf.Variable(tf.zeros([2]))
with tf.GradientTape() as t:
    n = tf.norm(z)
g = t.gradient(n, z)
print(g)
with tf.GradientTape() as t:
    n = z / z
print(t.gradient(n, z))
with tf.GradientTape() as t:
    y = tf.pow(z, 0.5)
print(t.gradient(y, z))
with tf.GradientTape() as t:
    y = tf.nn.relu(z) + tf.abs(z) + tf.maximum(z, 0.0)
print(t.gradient(y, z))
print(
    tf.constant(2) ** 3, tf.constant(2.0) ** tf.constant(3.0), 2 ** tf.constant(3), -tf.constant(1), ~tf.constant(True)
)
print(tf.constant(5) / tf.constant(2), tf.constant(5) // tf.constant(2), tf.constant(-5) % tf.constant(3), divmod(7, 2))
print(
    tf.constant([1, 2]) == tf.constant([1, 3]),
    tf.constant(1) == 1,
    tf.constant(1) != tf.constant(1),
    tf.constant(3) > 2,
)
