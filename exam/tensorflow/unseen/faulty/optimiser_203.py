# expect: GT212 or GT201 or GT202 because GT212 or GT202
# cause: variables has the moving averages of the normalisation as well, which have no gradient
# wrong: raises TypeError
# cure: tape.gradient(loss, model.variables) -> tape.gradient(loss, model.trainable_variables)
# cure: zip(model.variables, grads) -> zip(model.trainable_variables, grads)
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((4,)), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
x, y = tf.random.normal((20, 4)), tf.random.normal((20, 1))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
grads = tape.gradient(loss, model.variables)  # <- here
for variable, grad in zip(model.variables, grads):  # <- here
    variable.assign(variable - 0.1 * grad)  # <- here
