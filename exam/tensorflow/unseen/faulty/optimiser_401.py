# expect: GT314 or GT306 or GT512
# says: zip
# cause: apply_gradients is given the gradients without their variables
# wrong: raises Exception
# cure: optimizer.apply_gradients(grads) -> optimizer.apply_gradients(zip(grads, model.trainable_variables))
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()
x, y = tf.random.normal((16, 3)), tf.random.normal((16, 1))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((model(x) - y) ** 2)
grads = tape.gradient(loss, model.trainable_variables)
optimizer.apply_gradients(grads)  # <- here
