# expect: GT201 because GT205 or GT203 or GT211
# cause: the list of Variables is replaced by a list of plain tensors after the first step
# wrong: raises TypeError
# cure: theta = [p - 0.1 * g for p, g in zip(theta, grads)] -> [p.assign_sub(0.1 * g) for p, g in zip(theta, grads)]
import tensorflow as tf

x = tf.linspace(0.0, 1.0, 30)
y = 3.0 * x**2 - x
theta = [tf.Variable(0.0), tf.Variable(0.0)]


def loss_of(params):
    a, b = params
    return tf.reduce_mean((a * x**2 + b * x - y) ** 2)


for _ in range(20):
    with tf.GradientTape() as tape:
        loss = loss_of(theta)
    grads = tape.gradient(loss, theta)  # <- asked
    theta = [p - 0.1 * g for p, g in zip(theta, grads)]  # <- here
