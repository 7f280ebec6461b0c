# expect: GT314 or GT118
# cause: the loss is a class, which is given labels and predictions in place of being made first
# wrong: raises Exception
# cure: keras.losses.SparseCategoricalCrossentropy(y, probabilities) -> keras.losses.SparseCategoricalCrossentropy()(y, probabilities)
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
x, y = tf.random.normal((12, 4)), tf.random.uniform((12,), 0, 3, tf.int32)
layer = keras.layers.Dense(3, activation="softmax")
with tf.GradientTape() as tape:
    probabilities = layer(x)
    loss = keras.losses.SparseCategoricalCrossentropy(y, probabilities)  # <- here
grads = tape.gradient(loss, layer.trainable_variables)  # <- here
