# cause: retrace
# advice: once
# reason: the handler of each request maps the model over the rows and jits that

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Ranker(eqx.Module):
    users: jax.Array
    items: eqx.nn.Embedding
    mix: eqx.nn.MLP

    def __init__(self, key):
        a, b, c = jax.random.split(key, 3)
        self.users = jax.random.normal(a, (5, 4))
        self.items = eqx.nn.Embedding(7, 4, key=b)
        self.mix = eqx.nn.MLP(8, 1, 8, 1, key=c)

    def __call__(self, user, item):
        return self.mix(jnp.concatenate([self.users[user], self.items(item)]))[0]


class Service:
    def __init__(self, model):
        self.model = model
        self.handled = 0

    def scores(self, user, items):
        users = np.full(len(items), user, np.int32)
        ranked = eqx.filter_jit(jax.vmap(self.model))(users, items)  # <- cause
        self.handled += 1
        return np.asarray(ranked)

    def best(self, user, items):
        return items[self.scores(user, items).argmax()]


def requests(rng, count):
    for _ in range(count):
        yield int(rng.integers(0, 5)), rng.integers(0, 7, 6).astype(np.int32)


service = Service(eqx.filter_jit(Ranker)(jax.random.key(0)))
for user, items in requests(np.random.default_rng(2), 4):
    print(user, service.best(user, items))
