# expect: GT201 because GT211 or GT202 or GT203 or GT204
# cause: the model is called before the tape is opened; only the loss is computed inside
# wrong: all(g is None for g in grads)
# cure: predictions - y -> model(x) - y
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
x, y = tf.random.normal((20, 4)), tf.random.normal((20, 1))
model.build((None, 4))
predictions = model(x)  # <- here
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(predictions - y))
grads = tape.gradient(loss, model.trainable_variables)  # <- asked
