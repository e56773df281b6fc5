# cause: shape
# pattern: unpadded
# subject: tokens
# advice: full length | Pad
# reason: the prompt with the reply so far is given to the network again for each token

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

WORDS, WIDTH = 32, 16


def network(tokens):
    x = hk.Embed(WORDS, WIDTH)(tokens)
    x = x + hk.get_parameter("places", (64, WIDTH), init=hk.initializers.RandomNormal(0.02))[:tokens.shape[1]]
    mask = jnp.tril(jnp.ones((1, 1, tokens.shape[1], tokens.shape[1]), bool))
    y = hk.LayerNorm(-1, True, True)(x)
    x = x + hk.MultiHeadAttention(2, 8, model_size=WIDTH, w_init=hk.initializers.VarianceScaling())(y, y, y, mask)
    x = x + hk.nets.MLP([32, WIDTH])(hk.LayerNorm(-1, True, True)(x))
    return hk.Linear(WORDS)(x)


model = hk.without_apply_rng(hk.transform(network))


@jax.jit
def next_token(params, tokens, key, temperature):
    logits = model.apply(params, tokens)[:, -1] / temperature
    return jax.random.categorical(key, logits)


class Chat:
    def __init__(self, params):
        self.params = params
        self.key = np.asarray(jax.random.PRNGKey(7))

    def reply(self, prompt, length):
        tokens = np.asarray(prompt, np.int32)[None]
        for place in range(length):
            key = self.key + np.uint32(place)
            token = next_token(self.params, tokens, key, np.float32(0.8))  # <- cause
            tokens = np.concatenate([tokens, np.asarray(token, np.int32)[:, None]], axis=1)
        return tokens[0, len(prompt):].tolist()


params = jax.jit(model.init)(jax.random.key(0), np.zeros((1, 8), np.int32))
chat = Chat(params)
print(chat.reply([4, 9, 2, 17, 5], 6))
