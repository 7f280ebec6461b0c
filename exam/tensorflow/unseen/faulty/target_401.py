# expect: GT201 or GT314 because GT202 or GT203 or GT211
# cause: the arguments of tape.gradient are swapped: the loss comes first
# wrong: grads is None
# cure: tape.gradient(model.trainable_variables, loss) -> tape.gradient(loss, model.trainable_variables)
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
x, y = tf.random.normal((16, 3)), tf.random.normal((16, 1))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((model(x) - y) ** 2)
grads = tape.gradient(model.trainable_variables, loss)  # <- here
