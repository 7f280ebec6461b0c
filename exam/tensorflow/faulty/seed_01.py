# expect: GT301
# cause: output_gradients has one value where the target has 20 x 20
# wrong: raises InvalidArgumentError
# cure: output_gradients=tf.constant([1.0]) -> output_gradients=tf.ones((20, 20))
import tensorflow as tf

tf.random.set_seed(0)
params = tf.Variable(tf.random.normal((400,)))

with tf.GradientTape() as tape:
    field = tf.reshape(params, (20, 20))
    image = tf.reshape(tf.tanh(field), (20, 20))

sensitivity = tape.gradient(image, params, output_gradients=tf.constant([1.0]))  # <- here
print(sensitivity.shape)
