# cause: edit
# old: WIDTH = 12
# new: WIDTH = 20
# program: jit_train_step
# run: write 12
# run: train
# run: write 20
# run: train
# reason: a number in the module of settings is edited between the two trainings

import pathlib
import sys

FILE = pathlib.Path("settings.py")
if sys.argv[1] == "write":
    FILE.write_text(f"""RATE = 0.01
WIDTH = {sys.argv[2]}
CLASSES = 3
""")
    sys.exit()

sys.path.insert(0, str(FILE.resolve().parent))

import flax.linen as nn  # noqa: E402
import jax  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402
import settings as settings  # noqa: E402


class Network(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(settings.WIDTH)(x))
        return nn.Dense(settings.CLASSES)(x)


model = Network()
optimizer = optax.sgd(settings.RATE)


@jax.jit
def train_step(params, opt_state, x, labels):
    def loss_fn(params):
        return optax.softmax_cross_entropy_with_integer_labels(model.apply(params, x), labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 5)).astype(np.float32)
    labels = rng.integers(0, settings.CLASSES, 12).astype(np.int32)
    params = jax.jit(model.init)(jax.random.key(0), x)
    opt_state = jax.jit(optimizer.init)(params)
    for _ in range(3):
        params, opt_state, loss = train_step(params, opt_state, x, labels)
    print(float(loss))


main()
