# expect: GT314 or GT303 or GT110 or GT310
# says: fn_output_signature
# cause: map_fn expects results of the type of its elements, which are integers
# wrong: raises Exception
# cure: tf.map_fn(lambda i: tf.reduce_sum(w[i] ** 2), rows) -> tf.map_fn(lambda i: tf.reduce_sum(w[i] ** 2), rows, fn_output_signature=tf.float32)
import tensorflow as tf

tf.random.set_seed(0)
w = tf.Variable(tf.random.normal((5, 3)))
rows = tf.constant([0, 2, 4])
with tf.GradientTape() as tape:
    norms = tf.map_fn(lambda i: tf.reduce_sum(w[i] ** 2), rows)  # <- here
    loss = tf.reduce_sum(norms)
grad = tape.gradient(loss, w)
