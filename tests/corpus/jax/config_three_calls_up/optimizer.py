import jax


def decayed(momentum, velocity, grad):
    kept = momentum * velocity  # <- cause
    return kept + grad


def from_config(options):
    def apply(params, velocity, grads):
        velocity = jax.tree.map(lambda v, g: decayed(options["momentum"], v, g), velocity, grads)
        return jax.tree.map(lambda p, v: p - 0.1 * v, params, velocity), velocity
    return apply
