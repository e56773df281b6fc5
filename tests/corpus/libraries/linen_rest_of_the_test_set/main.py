# cause: shape
# subject: batch['image']
# old: f32[16,10]
# new: f32[4,10]
# advice: pad | drop
# reason: the test set has 36 rows and is read 16 at a time; the labels of the short batch are short too

import jax
import numpy as np

from dataset import Split
from evaluator import Evaluator, init

params = init(jax.random.key(0))
test = Split(np.ones((36, 10), np.float32), np.zeros(36, np.int32))
accuracy = Evaluator(params).accuracy(test.batches(16))  # <- call
print(accuracy)
