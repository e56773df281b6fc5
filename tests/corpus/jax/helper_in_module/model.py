import jax.numpy as jnp

activation = "tanh"


def activate(x):
    if activation == "tanh":
        return jnp.tanh(x)
    return jnp.sin(x)  # <- cause


def layer(w, x):
    return activate(x @ w)


def forward(w, x):
    return layer(w, x) * 2.0
