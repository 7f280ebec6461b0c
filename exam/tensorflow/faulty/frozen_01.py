# expect: GT201 because GT212
# cause: the threshold was made with trainable=False, so the tape does not watch it
# wrong: grad is None
# cure: trainable=False -> trainable=True
import tensorflow as tf

temperatures = tf.constant([12.0, 18.0, 21.0, 25.0, 30.0])
uses_ac = tf.constant([0.0, 0.0, 0.0, 1.0, 1.0])
threshold = tf.Variable(15.0, trainable=False, name="threshold")  # <- here


def negative_log_likelihood():
    logits = (temperatures - threshold) / 3.0
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=uses_ac, logits=logits))


for i in range(20):
    with tf.GradientTape() as tape:
        nll = negative_log_likelihood()
    grad = tape.gradient(nll, threshold)  # <- asked
    if grad is None:
        break
    threshold.assign_sub(2.0 * grad)
print(threshold.numpy())
