"""Memory saved by running a function again on the way back; nested structures; loops as functions."""

import tensorflow as tf

w = tf.Variable([[0.5, -0.5], [1.0, 0.25]])


@tf.recompute_grad
def layer(x):
    return tf.tanh(x @ w)


x = tf.Variable([[1.0, 2.0]])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(layer(layer(x)))
for g in tape.gradient(y, [x, w]):
    print(g)

v = tf.Variable(1.5)
with tf.GradientTape(persistent=True) as tape:
    powers = tf.scan(lambda total, _: total * v, tf.range(3.0), initializer=1.0)
    (i, product) = tf.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, p * v), (0, tf.constant(2.0)))
    mapped = tf.map_fn(lambda t: t * v, tf.constant([1.0, 2.0]))
    folded = tf.foldl(lambda total, t: total + t * v, tf.constant([1.0, 2.0]))
    chosen = tf.cond(v > 1.0, lambda: v * 3.0, lambda: v * 4.0)
for target in (powers, product, mapped, folded, chosen):
    print(target, tape.gradient(target, v))
print(tf.nest.flatten({"b": 1, "a": [2, 3]}), tf.nest.map_structure(lambda n: n + 1, [1, (2, 3)]))
gathered = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.gather(gathered, [0, 0, 1]) ** 2)
print(tf.convert_to_tensor(tape.gradient(y, gathered)))
