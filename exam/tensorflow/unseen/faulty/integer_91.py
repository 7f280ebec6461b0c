# expect: GT201 because GT207 or GT209
# cause: the prediction is cast to whole numbers of stars before it is compared
# wrong: all(g is None for g in grads)
# cure: tf.cast(tf.cast(model(x) * 5.0, tf.int32), tf.float32) -> model(x) * 5.0
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, activation="sigmoid")])
x = tf.random.normal((16, 4))
stars = tf.cast(tf.random.uniform((16, 1), 0, 6, tf.int32), tf.float32)
with tf.GradientTape() as tape:
    rated = tf.cast(tf.cast(model(x) * 5.0, tf.int32), tf.float32)  # <- here
    loss = tf.reduce_mean((rated - stars) ** 2)
grads = tape.gradient(loss, model.trainable_variables)  # <- asked
