# cause: arguments
# pattern: subsets
# program: jit_train_step
# advice: same keys
# reason: each visit has the measurements that were taken, and no others

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

OPTIONAL = {"blood": 5, "imaging": 6, "genes": 7}


class Fusion(eqx.Module):
    base: eqx.nn.Linear
    encoders: dict
    head: eqx.nn.Linear

    def __init__(self, key):
        keys = iter(jax.random.split(key, 2 + len(OPTIONAL)))
        self.base = eqx.nn.Linear(3, 4, key=next(keys))
        self.encoders = {name: eqx.nn.Linear(size, 4, key=next(keys))
                         for name, size in OPTIONAL.items()}
        self.head = eqx.nn.Linear(4, 1, key=next(keys))

    def __call__(self, visit):
        hidden = self.base(visit["vitals"])
        for name, encoder in self.encoders.items():
            if name in visit:
                hidden = hidden + encoder(visit[name])
        return self.head(jax.nn.relu(hidden))[0]


optimizer = optax.sgd(0.01)


@eqx.filter_jit
def train_step(model, opt_state, visits, outcome):
    def loss_fn(model):
        return jnp.mean((jax.vmap(model)(visits) - outcome) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def visits_with(rng, names):
    sizes = {"vitals": 3} | {name: OPTIONAL[name] for name in names}
    return {name: rng.normal(size=(4, size)).astype(np.float32) for name, size in sizes.items()}


rng = np.random.default_rng(0)
model = eqx.filter_jit(Fusion)(jax.random.key(0))
opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
outcome = np.ones(4, np.float32)
for names in ((), ("blood",), ("imaging",), ("blood", "genes"), ("imaging", "genes")):
    visits = visits_with(rng, names)
    model, opt_state, loss = train_step(model, opt_state, visits, outcome)  # <- cause
