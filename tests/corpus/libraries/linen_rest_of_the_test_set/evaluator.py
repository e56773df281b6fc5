import flax.linen as nn
import jax
import numpy as np


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.relu(nn.Dense(8)(x)))


def init(key):
    return jax.jit(Classifier().init)(key, np.ones((1, 10), np.float32))


@jax.jit
def count_correct(params, batch):
    logits = Classifier().apply(params, batch["image"])
    return (logits.argmax(-1) == batch["label"]).sum()


class Evaluator:
    def __init__(self, params):
        self.params = params

    def accuracy(self, batches):
        correct = rows = 0
        for batch in batches:
            correct += int(count_correct(self.params, batch))  # <- cause
            rows += len(batch["label"])
        return correct / rows
