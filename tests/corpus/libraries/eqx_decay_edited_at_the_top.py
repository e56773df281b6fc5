# cause: edit
# old: DECAY = 0.01
# new: DECAY = 0.001
# program: jit_train_step
# run: 0.01
# run: 0.001
# reason: a number at the top of the training script's module is edited between the runs

import pathlib
import sys

import equinox as eqx
import jax
import numpy as np

pathlib.Path("penalised_training.py").write_text(f"""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

RATE = 0.05
DECAY = {sys.argv[1]}
optimizer = optax.sgd(RATE)


def penalty(model):
    return DECAY * sum(jnp.sum(leaf ** 2) for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_array)))


@eqx.filter_jit
def train_step(model, opt_state, x, y):
    def loss_fn(model):
        predicted = jax.vmap(model)(x)
        return jnp.mean((predicted - y) ** 2) + penalty(model)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss
""")
sys.path.insert(0, str(pathlib.Path.cwd()))
import penalised_training as training  # noqa: E402

model = eqx.nn.MLP(3, 1, 6, 1, key=jax.random.key(0))
opt_state = training.optimizer.init(eqx.filter(model, eqx.is_inexact_array))
x, y = np.ones((4, 3), np.float32), np.zeros((4, 1), np.float32)
for _ in range(3):
    model, opt_state, loss = training.train_step(model, opt_state, x, y)
print(float(loss))
