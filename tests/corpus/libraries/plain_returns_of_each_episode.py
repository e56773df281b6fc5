# cause: shape
# pattern: eager
# and
# cause: shape
# pattern: eager
# and
# cause: shape
# pattern: eager
# and
# cause: shape
# pattern: eager
# advice: Jit the function
# reason: the returns of each episode are computed outside jit, in as many places as it has steps

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-2)
HORIZON = 32


@jax.jit
def update(params, opt_state, observations, actions, returns, mask):
    def loss_fn(params):
        logits = jnp.tanh(observations @ params["one"]) @ params["two"]
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), actions[:, None], axis=1)[:, 0]
        return -jnp.sum(chosen * returns * mask) / jnp.sum(mask)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def normalized(rewards):
    return jax.nn.standardize(jnp.cumsum(jnp.flip(rewards)))  # <- cause, cause 2, cause 3, cause 4


def padded(array, fill=0):
    result = np.full((HORIZON, *array.shape[1:]), fill, array.dtype)
    result[:len(array)] = array
    return result


def episode(rng, length):
    return (rng.normal(size=(length, 4)).astype(np.float32), rng.integers(0, 2, length).astype(np.int32),
            rng.normal(size=length).astype(np.float32))


def main():
    rng = np.random.default_rng(0)
    params = {"one": np.full((4, 8), 0.1, np.float32), "two": np.full((8, 2), 0.1, np.float32)}
    opt_state = jax.jit(optimizer.init)(params)
    for length in (9, 14, 11, 17, 23, 12, 20):
        observations, actions, rewards = episode(rng, length)
        returns = np.asarray(normalized(rewards))
        params, opt_state, loss = update(params, opt_state, padded(observations), padded(actions),
                                         padded(returns), padded(np.ones(length, np.float32)))
        print(length, float(loss))


main()
