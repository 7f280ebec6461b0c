# expect: GT211 or GT313 or GT314 or GT312
# cause: the tensor of the traced function is kept in a list, and used outside of it
# wrong: raises Exception
# cure: history.append(loss) -> tf.print(loss)
# cure: sum(history) / len(history) -> 0.5 * step(x)
import tensorflow as tf

w = tf.Variable([1.0, 2.0])
x = tf.constant([3.0, 4.0])
history = []


@tf.function
def step(x):
    loss = tf.reduce_sum((w * x) ** 2)  # <- here
    history.append(loss)  # <- here
    return loss


with tf.GradientTape() as tape:
    step(x)
    mean = sum(history) / len(history)  # <- here
grad = tape.gradient(mean, w)
