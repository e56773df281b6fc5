# cause: stable
# reason: the guide's loop, with a model that is made eagerly

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class RNN(eqx.Module):
    hidden_size: int
    cell: eqx.nn.GRUCell
    linear: eqx.nn.Linear
    bias: jax.Array

    def __init__(self, in_size, out_size, hidden_size, *, key):
        ckey, lkey = jax.random.split(key)
        self.hidden_size = hidden_size
        self.cell = eqx.nn.GRUCell(in_size, hidden_size, key=ckey)
        self.linear = eqx.nn.Linear(hidden_size, out_size, use_bias=False, key=lkey)
        self.bias = jnp.zeros(out_size)

    def __call__(self, input):
        def f(carry, inp):
            return self.cell(inp, carry), None

        out, _ = jax.lax.scan(f, jnp.zeros((self.hidden_size,)), input)
        return jax.nn.sigmoid(self.linear(out) + self.bias)


@eqx.filter_value_and_grad
def compute_loss(model, x, y):
    pred = jax.vmap(model)(x)
    return -jnp.mean(y * jnp.log(pred) + (1 - y) * jnp.log(1 - pred))


@eqx.filter_jit
def make_step(model, x, y, opt_state):
    loss, grads = compute_loss(model, x, y)
    updates, opt_state = optim.update(grads, opt_state)
    return loss, eqx.apply_updates(model, updates), opt_state


model = RNN(2, 1, 5, key=jax.random.PRNGKey(0))
optim = optax.adam(3e-3)
opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
x, y = np.ones((4, 6, 2), np.float32), np.ones((4, 1), np.float32)
for _ in range(3):
    loss, model, opt_state = make_step(model, x, y, opt_state)
print(loss.item())
