# expect: GT308
# cause: the tape is asked once to print the gradient and a second time to apply it
# wrong: raises RuntimeError
# cure: tf.GradientTape() as -> tf.GradientTape(persistent=True) as
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
layer = keras.layers.Dense(2)
x = tf.random.normal((8, 3))
optimizer = keras.optimizers.SGD(0.1)
with tf.GradientTape() as tape:  # <- here
    loss = tf.reduce_mean(layer(x) ** 2)
print([float(tf.norm(g)) for g in tape.gradient(loss, layer.trainable_variables)])  # <- here
optimizer.apply_gradients(zip(tape.gradient(loss, layer.trainable_variables), layer.trainable_variables))  # <- here
