# DINO: the teacher's outputs are centred and stopped, its weights follow by an average, the centre is a variable
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(10)


def head():
    return tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(8, "gelu"), tf.keras.layers.Dense(5)])


student, teacher = head(), head()
teacher.set_weights(student.get_weights())
teacher.trainable = False
centre = tf.Variable(tf.zeros((1, 5)), trainable=False)
optimizer = tf.keras.optimizers.AdamW(1e-3)
for _ in range(3):
    x = tf.random.normal((14, 6))
    views = x + 0.1 * tf.random.normal((14, 6)), x + 0.1 * tf.random.normal((14, 6))
    with tf.GradientTape() as tape:
        out = teacher(views[0])
        goal = tf.stop_gradient(tf.nn.softmax((out - centre) / 0.04, axis=-1))
        log_p = tf.nn.log_softmax(student(views[1]) / 0.1, axis=-1)
        loss = -tf.reduce_mean(tf.reduce_sum(goal * log_p, axis=-1))
    gradients = tape.gradient(loss, student.trainable_variables)
    gradients, _ = tf.clip_by_global_norm(gradients, 3.0)
    optimizer.apply_gradients(zip(gradients, student.trainable_variables))
    centre.assign(0.9 * centre + 0.1 * tf.reduce_mean(out, axis=0, keepdims=True))
    for t, s in zip(teacher.weights, student.weights):
        t.assign(0.99 * t + 0.01 * s)
assert np.isfinite(float(loss))
