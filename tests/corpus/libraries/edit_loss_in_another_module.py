# cause: edit
# old: return jnp.mean(error**2)
# new: return jnp.mean(jnp.abs(error))
# program: jit_update
# run: write error**2
# run: train
# run: write jnp.abs(error)
# run: train
# reason: the loss in the module beside the script is edited between the two trainings

import pathlib
import sys

FILE = pathlib.Path("losses.py")
if sys.argv[1] == "write":
    FILE.write_text(f"""import jax.numpy as jnp


def smoothness(values):
    return jnp.mean((values[1:] - values[:-1])**2)


def regression(predicted, wanted):
    error = predicted - wanted
    return jnp.mean({sys.argv[2]})
""")
    sys.exit()

sys.path.insert(0, str(FILE.resolve().parent))

import haiku as hk  # noqa: E402
import jax  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402
import losses as losses  # noqa: E402

net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([10, 1], activation=jax.nn.tanh)(x)[:, 0]))
optimizer = optax.rmsprop(1e-3)


def objective(params, x, y):
    predicted = net.apply(params, x)
    return losses.regression(predicted, y) + 0.1 * losses.smoothness(predicted)


@jax.jit
def update(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(objective)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    x = np.linspace(-2, 2, 40, dtype=np.float32).reshape(20, 2)
    y = np.cos(x).sum(axis=1)
    params = jax.jit(net.init)(jax.random.key(0), x)
    opt_state = jax.jit(optimizer.init)(params)
    for _ in range(4):
        params, opt_state, loss = update(params, opt_state, x, y)
    print(float(loss))


main()
