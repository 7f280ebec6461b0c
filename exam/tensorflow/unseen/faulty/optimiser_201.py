# expect: GT512 or GT513 or GT314 or GT306
# cause: the pairs are the wrong way round: apply_gradients takes (gradient, variable)
# wrong: raises Exception
# cure: zip(model.trainable_variables, grads) -> zip(grads, model.trainable_variables)
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
x, y = tf.random.normal((16, 3)), tf.random.normal((16, 1))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(model(x) - y))
grads = tape.gradient(loss, model.trainable_variables)
optimizer.apply_gradients(zip(model.trainable_variables, grads))  # <- here
