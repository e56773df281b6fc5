# cause: edit
# subject: HIDDEN
# old: HIDDEN = 8
# new: HIDDEN = 12
# program: jit_train_step
# run: write 8
# run: train
# run: write 12
# run: train
# reason: the width of the hidden layer is edited at the top of the training script

import pathlib
import runpy
import sys

SCRIPT = pathlib.Path("train_mlp.py")
TEXT = '''"""Trains a small perceptron."""
import flax.linen as nn
import jax
import numpy as np
import optax

RATE = 1e-3
HIDDEN = {hidden}
CLASSES = 3


class Perceptron(nn.Module):
    hidden: int
    classes: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.classes)(nn.relu(nn.Dense(self.hidden)(x)))


model = Perceptron(HIDDEN, CLASSES)
optimizer = optax.adam(RATE)


def loss_fn(params, x, labels):
    logits = model.apply(params, x)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@jax.jit
def train_step(params, opt_state, x, labels):
    grads = jax.grad(loss_fn)(params, x, labels)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


def main():
    x, labels = np.ones((6, 4), np.float32), np.arange(6) % CLASSES
    params = jax.jit(model.init)(jax.random.key(0), x)
    opt_state = jax.jit(optimizer.init)(params)
    for _ in range(3):
        params, opt_state = train_step(params, opt_state, x, labels)


if __name__ == "__main__":
    main()
'''

if sys.argv[1] == "write":
    SCRIPT.write_text(TEXT.format(hidden=sys.argv[2]))
else:
    runpy.run_path(str(SCRIPT), run_name="__main__")
