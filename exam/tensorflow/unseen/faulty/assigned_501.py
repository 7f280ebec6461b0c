# expect: GT201 because GT206
# cause: the state variable is assigned inside the tape, and the gradient does not go through assign
# wrong: raises ValueError
# cure: position.assign(position + dt * (push + gravity)) -> moved = position + dt * (push + gravity)
# cure: tf.reduce_sum((position - goal) ** 2) -> tf.reduce_sum((moved - goal) ** 2)
import tensorflow as tf

push = tf.Variable([0.1, 0.2])
position = tf.Variable([0.0, 0.0], trainable=False)
goal, gravity, dt = tf.constant([1.0, 1.0]), tf.constant([0.0, -0.1]), 0.1
optimizer = tf.keras.optimizers.SGD(0.5)

for _ in range(3):
    position.assign(tf.zeros(2))
    with tf.GradientTape() as tape:
        position.assign(position + dt * (push + gravity))  # <- here
        loss = tf.reduce_sum((position - goal) ** 2)
    grad = tape.gradient(loss, push)  # <- asked
    optimizer.apply_gradients([(grad, push)])  # <- asked
