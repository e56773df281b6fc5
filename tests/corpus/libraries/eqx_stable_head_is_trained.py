# cause: stable
# reason: the body is frozen by partition, the head trained; the loss is a function of both

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Net(eqx.Module):
    body: eqx.nn.MLP
    head: eqx.nn.Linear

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.body = eqx.nn.MLP(4, 6, 6, 1, key=first)
        self.head = eqx.nn.Linear(6, 2, key=second)

    def __call__(self, x):
        return self.head(jax.nn.relu(self.body(x)))


model = eqx.filter_jit(Net)(jax.random.key(0))
spec = jax.tree.map(lambda _: False, model)
spec = eqx.tree_at(lambda m: (m.head.weight, m.head.bias), spec, (True, True))
optimizer = optax.adam(1e-2)
opt_state = optimizer.init(eqx.filter(model, spec))


@eqx.filter_jit
def train_step(model, opt_state, x, y):
    trained, frozen = eqx.partition(model, spec)

    @eqx.filter_value_and_grad
    def loss_fn(trained):
        return jnp.mean((jax.vmap(eqx.combine(trained, frozen))(x) - y) ** 2)

    loss, grads = loss_fn(trained)
    updates, opt_state = optimizer.update(grads, opt_state, trained)
    return eqx.apply_updates(model, updates), opt_state, loss


@eqx.filter_jit
def evaluate(model, x, y):
    return jnp.abs(jax.vmap(model)(x) - y).max()


rng = np.random.default_rng(0)
for step in range(5):
    x = rng.normal(size=(6, 4)).astype(np.float32)
    y = x[:, :2]
    model, opt_state, loss = train_step(model, opt_state, x, y)
    print(float(loss), float(evaluate(model, x, y)))
