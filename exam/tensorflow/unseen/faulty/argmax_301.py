# expect: GT201 because GT209 or GT207
# cause: the reward is picked with a sampled action, and a sample has no gradient by the probabilities
# wrong: grad is None
# cure: loss = -tf.reduce_mean(tf.gather(rewards, arms)) -> chosen = tf.gather(tf.nn.log_softmax(logits[0]), arms)\n    loss = -tf.reduce_mean(chosen * tf.gather(rewards, arms))
import tensorflow as tf

tf.random.set_seed(0)
rewards = tf.constant([0.1, 0.5, 0.9])
logits = tf.Variable([[0.0, 0.0, 0.0]])
with tf.GradientTape() as tape:
    arms = tf.random.categorical(logits, 20)[0]  # <- here
    loss = -tf.reduce_mean(tf.gather(rewards, arms))
grad = tape.gradient(loss, logits)  # <- asked
