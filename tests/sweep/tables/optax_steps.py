"""Losses and optimizers of optax."""

from plan import Recipe

IMPORTS = "import optax"

LOSSES = {
    "x: f32[b,4]; y: f32[b,4]": """
        l2: optax.l2_loss(x, y).mean()
        squared: optax.squared_error(x, y).mean()
        huber: optax.huber_loss(x, y).mean()
        log_cosh: optax.log_cosh(x, y).mean()
        cosine: optax.cosine_similarity(x, y).mean()
        cosine_distance: optax.cosine_distance(x, y)
        sigmoid: optax.sigmoid_binary_cross_entropy(x, y).mean()
        softmax: optax.softmax_cross_entropy(x, y).mean()
        kl: optax.losses.kl_divergence(x, y).mean()
        hinge: optax.losses.hinge_loss(x, y).mean()
        smooth: optax.softmax_cross_entropy(x, optax.smooth_labels(y, 0.1)).mean()
        ntxent: optax.losses.ntxent(x, jnp.arange(x.shape[0]) % 2)
        grad_huber: jax.grad(lambda x: optax.huber_loss(x, y).mean())(x)
        grad_softmax: jax.grad(lambda x: optax.softmax_cross_entropy(x, y).mean())(x)
        ranking: optax.losses.ranking_softmax_loss(x, y)
        focal: optax.losses.sigmoid_focal_loss(x, y).mean()
        triplet: optax.losses.triplet_margin_loss(x, y, x + y)
    """,
    "x: f32[b,5]; labels: i32[b]": """
        integer: optax.softmax_cross_entropy_with_integer_labels(x, labels).mean()
        integer_sum: optax.softmax_cross_entropy_with_integer_labels(x, labels).sum()
        grad_integer: jax.grad(lambda x: optax.softmax_cross_entropy_with_integer_labels(x, labels).mean())(x)
        poly: optax.losses.poly_loss_cross_entropy(x, jax.nn.one_hot(labels, 5)).mean()
        multiclass_hinge: optax.losses.multiclass_hinge_loss(x, labels).mean()
        perceptron: optax.losses.multiclass_perceptron_loss(x, labels).mean()
        vmap_integer: jax.vmap(optax.softmax_cross_entropy_with_integer_labels)(x, labels)
        accuracy: (x.argmax(-1) == labels).mean(), optax.softmax_cross_entropy_with_integer_labels(x, labels).mean()
    """,
    "x: f32[b,l,5]; labels: i32[b,l]": """
        tokens: optax.softmax_cross_entropy_with_integer_labels(x, labels).mean()
        tokens_next: optax.softmax_cross_entropy_with_integer_labels(x[:, :-1], labels[:, 1:]).mean()
        tokens_masked: (optax.softmax_cross_entropy_with_integer_labels(x, labels) * (labels > 0)).sum() / (labels > 0).sum()
        tokens_grad: jax.grad(lambda x: optax.softmax_cross_entropy_with_integer_labels(x, labels).mean())(x)
        ctc: optax.ctc_loss(x, jnp.zeros(x.shape[:2]), labels, (jnp.arange(x.shape[1]) > 2) * jnp.ones((x.shape[0], 1))).mean()
    """,
}

OPTIMIZERS = """
    sgd: optax.sgd(0.1)
    momentum: optax.sgd(0.1, momentum=0.9, nesterov=True)
    adam: optax.adam(1e-3)
    adamw: optax.adamw(1e-3, weight_decay=0.01)
    adagrad: optax.adagrad(0.1)
    rmsprop: optax.rmsprop(1e-3)
    lamb: optax.lamb(1e-3)
    lars: optax.lars(0.1)
    lion: optax.lion(1e-4)
    adafactor: optax.adafactor(1e-3)
    adabelief: optax.adabelief(1e-3)
    nadam: optax.nadam(1e-3)
    radam: optax.radam(1e-3)
    yogi: optax.yogi(1e-3)
    adadelta: optax.adadelta(0.1)
    novograd: optax.novograd(1e-3)
    sm3: optax.sm3(0.1)
    clipped: optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    clipped_values: optax.chain(optax.clip(1.0), optax.sgd(0.1))
    scheduled: optax.adam(optax.cosine_decay_schedule(1e-3, 100))
    warmed_up: optax.sgd(optax.warmup_cosine_decay_schedule(0.0, 0.1, 10, 100))
    accumulated: optax.MultiSteps(optax.adam(1e-3), 4)
    averaged: optax.chain(optax.sgd(0.1), optax.ema(0.99))
    noisy: optax.noisy_sgd(0.1)
    centralised: optax.chain(optax.centralize(), optax.sgd(0.1))
    masked: optax.masked(optax.sgd(0.1), {'w': True, 'b': False})
    lookahead_free: optax.chain(optax.scale_by_adam(), optax.add_decayed_weights(1e-4), optax.scale(-0.1))
    finite: optax.apply_if_finite(optax.sgd(0.1), 3)
    injected: optax.inject_hyperparams(optax.adam)(learning_rate=1e-3)
    adaptive_clip: optax.chain(optax.adaptive_grad_clip(0.01), optax.sgd(0.1))
"""

STEP = """
def loss(params):
    return jnp.mean((x @ params['w'] + params['b']) ** 2)
grads = jax.grad(loss)(params)
updates, state = optimizer.update(grads, state, params)
return optax.apply_updates(params, updates), state
"""


def recipes():
    for arguments, bodies in LOSSES.items():
        for line in bodies.strip().splitlines():
            name, body = line.strip().split(": ", 1)
            # With one step there is no next token; CTC takes no label then.
            skip = ("l_6_1",) if name in ("tokens_next", "ctc") else ()
            yield Recipe(f"loss_{name}", arguments, body, dtypes=("x",), skip=skip)
    for line in OPTIMIZERS.strip().splitlines():
        name, made = line.strip().split(": ", 1)
        init = "params = made(lambda key: {'w': jnp.zeros((4, 3)), 'b': jnp.zeros(3)})"
        state = "state = made(lambda key: optimizer.init(params))"
        yield Recipe(f"step_{name}", f"x: f32[b,4]; {init}; {state}".replace("x: f32[b,4]; ", "") + "; x: f32[b,4]", STEP,
                     f"optimizer = {made}", sizes=(("b", 0), ("b", 1)), skip=("f32_f16",))
        # The parameters of a wider model, and their state with them.
        yield Recipe(f"update_{name}",
                     "params := {'w': array('f32', 4, 3), 'b': array('f32', 3)} => {'w': array('f32', 4, 5), 'b': array('f32', 5)}; " + state,
                     "updates, state = optimizer.update(params, state, params)\nreturn optax.apply_updates(params, updates), state",
                     f"optimizer = {made}", change="wider")


RECIPES = list(recipes())
