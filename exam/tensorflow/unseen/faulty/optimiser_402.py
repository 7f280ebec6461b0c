# expect: GT314 or GT313
# says: apply_gradients
# cause: the optimizers of Keras 3 have no minimize
# wrong: raises AttributeError
# cure: optimizer.minimize(objective, [x])  # <- here -> with tf.GradientTape() as tape:\n        value = objective()\n    optimizer.apply_gradients([(tape.gradient(value, x), x)])
import keras
import tensorflow as tf

x = tf.Variable(4.0)
optimizer = keras.optimizers.SGD(0.1)


def objective():
    return (x - 1.0) ** 2


for _ in range(10):
    optimizer.minimize(objective, [x])  # <- here
