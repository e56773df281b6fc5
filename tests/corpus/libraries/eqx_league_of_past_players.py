# cause: arguments
# pattern: growing
# program: jit_play
# reason: the player is measured against all of its past selves, and after each round there is one more

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)


class Player(eqx.Module):
    hidden: eqx.nn.Linear
    out: eqx.nn.Linear

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.hidden = eqx.nn.Linear(4, 6, key=first)
        self.out = eqx.nn.Linear(6, 3, key=second)

    def __call__(self, observation):
        return jax.nn.softmax(self.out(jnp.tanh(self.hidden(observation))))


PAYOFF = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], np.float32)


@eqx.filter_jit
def learn(player, opt_state, opponent, observations):
    def loss_fn(player):
        mine, theirs = jax.vmap(player)(observations), jax.vmap(opponent)(observations)
        return -jnp.mean(jnp.einsum("bi,ij,bj->b", mine, PAYOFF, theirs))

    grads = eqx.filter_grad(loss_fn)(player)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(player, updates), opt_state


@eqx.filter_jit
def play(player, opponents, observations):
    mine = jax.vmap(player)(observations)
    gains = [jnp.mean(jnp.einsum("bi,ij,bj->b", mine, PAYOFF, jax.vmap(opponent)(observations)))
             for opponent in opponents]
    return jnp.stack(gains).min()


rng = np.random.default_rng(0)
player = eqx.filter_jit(Player)(jax.random.key(0))
opt_state = optimizer.init(eqx.filter(player, eqx.is_inexact_array))
league = [player]
for round in range(4):
    observations = rng.normal(size=(5, 4)).astype(np.float32)
    player, opt_state = learn(player, opt_state, league[-1], observations)
    print(round, float(play(player, league, observations)))  # <- cause
    league.append(player)
