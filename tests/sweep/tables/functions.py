"""Functions of jax.lax, jax.scipy, jax.random, jax.image, jax.numpy.linalg and control flow."""

from plan import Recipe

IMPORTS = "import jax.scipy as jsp"

BODIES = {
    "x: f32[n]": """
        scan_sum: jax.lax.scan(lambda c, v: (c + v, c), 0.0, x)
        scan_pair: jax.lax.scan(lambda c, v: ((c[0] * 0.9 + v, c[1] + 1), c[0]), (0.0, 0), x)
        scan_reverse: jax.lax.scan(lambda c, v: (c * 0.9 + v, c), 0.0, x, reverse=True)
        scan_length: jax.lax.scan(lambda c, _: (jnp.roll(c, 1) * 0.5, None), x, length=4)[0]
        scan_unrolled: jax.lax.scan(lambda c, v: (c + v, c), 0.0, x, unroll=2)
        scan_grad: jax.grad(lambda x: jax.lax.scan(lambda c, v: (jnp.tanh(c + v), c), 0.0, x)[0])(x)
        while_sum: jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1]
        while_data: jax.lax.while_loop(lambda v: v.sum() < 100.0, lambda v: v * 2, x)
        fori: jax.lax.fori_loop(0, 3, lambda i, v: v + i, x)
        fori_length: jax.lax.fori_loop(0, x.shape[0], lambda i, s: s + x[i], 0.0)
        fori_array: jax.lax.fori_loop(0, x.shape[0], lambda i, v: v.at[i].mul(2.0), x)
        cond: jax.lax.cond(x[0] > 0, lambda v: v * 2, lambda v: v - 1, x)
        switch: jax.lax.switch(x.astype(int)[0], [lambda v: v, lambda v: v * 2, jnp.sin], x)
        map: jax.lax.map(lambda v: v ** 2 + 1, x)
        map_batched: jax.lax.map(lambda v: jnp.sin(v), x, batch_size=2)
        associative_sum: jax.lax.associative_scan(jnp.add, x)
        reduce_window: jax.lax.reduce_window(x, 0.0, jax.lax.add, (3,), (1,), 'SAME')
        reduce_precision: jax.lax.reduce_precision(x, 5, 10)
        cumlogsumexp: jax.lax.cumlogsumexp(x)
        rev: jax.lax.rev(x, (0,)) * 2
        dynamic_slice: jax.lax.dynamic_slice(x, (1,), (1,))
        dynamic_update: jax.lax.dynamic_update_slice(x, jnp.ones(1), (0,))
        expand: jax.lax.expand_dims(x, (0,)) * 2
        broadcast: jax.lax.broadcast(x, (3,)) * 2
        sort_pairs: jax.lax.sort((x, jnp.arange(x.shape[0])), num_keys=1)
        top_one: jax.lax.top_k(x, 1)
        approx_max: jax.lax.approx_max_k(x, 1)
        stop_gradient: jax.grad(lambda x: (x * jax.lax.stop_gradient(x)).sum())(x)
        erf_inv: jax.lax.erf_inv(x)
        polygamma: jsp.special.digamma(x)
        gammaln: jsp.special.gammaln(x)
        xlogy: jsp.special.xlogy(x, x)
        entr: jsp.special.entr(x).sum()
        logit: jsp.special.logit(x)
        betainc: jsp.special.betainc(1.5, 2.0, x)
        norm_logpdf: jsp.stats.norm.logpdf(x).sum()
        norm_cdf: jsp.stats.norm.cdf(x, 0.3, 2.0)
        t_logpdf: jsp.stats.t.logpdf(x, 3.0).sum()
        gamma_logpdf: jsp.stats.gamma.logpdf(x, 2.0)
        beta_logpdf: jsp.stats.beta.logpdf(x, 2.0, 3.0)
        rankdata: jsp.stats.rankdata(x)
        convolve_scipy: jsp.signal.convolve(x, jnp.ones(3), mode='same')
        fftconvolve: jsp.signal.fftconvolve(x, jnp.ones(3), mode='same')
        detrend: jsp.signal.detrend(x, type='constant')
        dct: jsp.fft.dct(x)
        map_coordinates: jsp.ndimage.map_coordinates(x, [jnp.array([0.5, 0.7])], order=1)
        trapezoid_scipy: jsp.integrate.trapezoid(x)
        resize: jax.image.resize(x, (9,), 'linear')
        resize_double: jax.image.resize(x, (x.shape[0] * 2,), 'nearest')
        hvp: jax.jvp(jax.grad(lambda v: (v ** 3).sum()), (x,), (x,))[1]
        linearize: jax.linearize(jnp.sin, x)[0]
        custom: jax.nn.relu(x).sum()
        newton: jax.lax.fori_loop(0, 3, lambda i, v: v - (v ** 2 - 2) / (2 * v), x)
        bisect: jax.lax.scan(lambda c, _: (jnp.where(c ** 2 > x, c * 0.5, c * 1.5), None), x + 1, length=4)[0]
    """,
    "key: u32[2]; x: f32[n]": """
        normal_like: x + jax.random.normal(key, x.shape)
        uniform_like: x * jax.random.uniform(key, x.shape)
        dropout: jnp.where(jax.random.bernoulli(key, 0.7, x.shape), x / 0.7, 0.0)
        permutation: jax.random.permutation(key, x)
        choice: jax.random.choice(key, x)
        choice_some: jax.random.choice(key, x, (3,))
        categorical: jax.random.categorical(key, x)
        gumbel: x + jax.random.gumbel(key, x.shape)
        split_rows: jax.vmap(lambda k, v: v + jax.random.normal(k))(jax.random.split(key, x.shape[0]), x)
        exponential: x * jax.random.exponential(key, x.shape)
        randint: x * jax.random.randint(key, x.shape, 0, 5)
        poisson_free: x + jax.random.laplace(key, x.shape)
        truncated: x + jax.random.truncated_normal(key, -1.0, 1.0, x.shape)
        dirichlet: jax.random.dirichlet(key, x + 1)
        gamma: jax.random.gamma(key, x + 1)
        beta: jax.random.beta(key, x + 1, x + 2)
        bernoulli: jax.random.bernoulli(key, x)
        rademacher: x * jax.random.rademacher(key, x.shape, jnp.float32)
        bootstrap: x[jax.random.randint(key, x.shape, 0, x.shape[0])].mean()
        mask_tokens: jnp.where(jax.random.uniform(key, x.shape) < 0.15, -1.0, x)
        noise_scan: jax.lax.scan(lambda c, k: (c + jax.random.normal(k, c.shape), None), x, jax.random.split(key, 3))[0]
    """,
    "x: f32[n,4]": """
        scan_rows: jax.lax.scan(lambda c, v: (c + v, (c * v).sum()), jnp.zeros(4), x)
        scan_matrix: jax.lax.scan(lambda c, v: (jnp.tanh(c @ jnp.ones((4, 4)) + v), c), jnp.zeros(4), x)[1]
        map_rows: jax.lax.map(lambda v: jnp.sort(v), x)
        vmap_cond: jax.vmap(lambda v: jax.lax.cond(v[0] > 0, lambda u: u * 2, lambda u: u, v))(x)
        vmap_while: jax.vmap(lambda v: jax.lax.while_loop(lambda c: c.sum() < 20.0, lambda c: c * 2, v))(x)
        vmap_fori: jax.vmap(lambda v: jax.lax.fori_loop(0, 3, lambda i, c: c * 0.5 + v, v))(x)
        associative_rows: jax.lax.associative_scan(jnp.add, x, axis=1)
        dot_general: jax.lax.dot_general(x, x, (((1,), (1,)), ((), ())))
        conv: jax.lax.conv_general_dilated(x[None], jnp.ones((3, 4, 2)), (1,), 'SAME', dimension_numbers=('NHC', 'HIO', 'NHC'))
        conv_backward: jax.grad(lambda w: jax.lax.conv_general_dilated(x[None], w, (1,), 'SAME', dimension_numbers=('NHC', 'HIO', 'NHC')).sum())(jnp.ones((3, 4, 2)))
        reduce_max_window: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (2, 1), (1, 1), 'SAME')
        slice_in_dim: jax.lax.slice_in_dim(x, 0, 1) * 2
        index_in_dim: jax.lax.dynamic_index_in_dim(x, 0, keepdims=False) * 2
        gather_rows: x[jnp.array([0, 0])] * 2
        scatter_max: jnp.zeros((3, 4)).at[jnp.arange(x.shape[0]) % 3].max(x)
        eye_added: x @ x.T + 0.1 * jnp.eye(x.shape[0])
        expm_free: jnp.linalg.matrix_power(x.T @ x, 3)
        multi_dot: jnp.linalg.multi_dot([x, jnp.ones((4, 3)), jnp.ones((3, 2))])
        norm_frobenius: jnp.linalg.norm(x)
        normalise: x / jnp.linalg.norm(x, axis=1, keepdims=True)
        power_iteration: jax.lax.fori_loop(0, 3, lambda i, v: x.T @ (x @ v) / 10.0, jnp.ones(4))
        conjugate_gradient: jsp.sparse.linalg.cg(lambda v: x.T @ (x @ v) + v, jnp.ones(4))[0]
        logsumexp_weights: jsp.special.logsumexp(x, axis=0, b=0.5)
        softplus_sum: jax.nn.softplus(x).sum()
        mvn: jsp.stats.norm.logpdf(x, x.mean(0), x.std(0) + 1.0).sum()
        kmeans: x[jnp.argmin(((x[:, None] - x[None, :2]) ** 2).sum(-1), axis=1)].mean(0)
        knn: jax.lax.top_k(-((x[:, None] - x[None]) ** 2).sum(-1), 1)[1]
        pagerank: jax.lax.fori_loop(0, 5, lambda i, r: 0.85 * (x @ (x.T @ r)) + 0.15, jnp.ones(x.shape[0]))
        rbf: jnp.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(-1))
        pca_power: (lambda c: jax.lax.fori_loop(0, 4, lambda i, v: c.T @ (c @ v), jnp.ones(4)))(x - x.mean(0))
        windows: jax.vmap(lambda i: jax.lax.dynamic_slice_in_dim(x, i, 1))(jnp.arange(x.shape[0]))
        grad_accumulate: jax.lax.scan(lambda g, v: (g + jax.grad(lambda w: ((v * w).sum() - 1.0) ** 2)(jnp.ones(4)), None), jnp.zeros(4), x)[0]
        per_example: jax.vmap(jax.grad(lambda w, v: ((v * w).sum() - 1.0) ** 2), (None, 0))(jnp.ones(4), x)
        linear_fit: jax.grad(lambda w: jnp.mean((x @ w - x[:, 0]) ** 2))(jnp.ones(4))
        logistic: jax.value_and_grad(lambda w: -jnp.mean(jax.nn.log_sigmoid(x @ w)))(jnp.ones(4))
        tree_map: jax.tree.map(lambda v: v * 2, {'a': x, 'b': x[0]})
        recurrence: jax.lax.scan(lambda c, v: (0.5 * c + v, 0.5 * c + v), jnp.zeros(4), x)[1].mean()
    """,
    "x: f32[b,s,s,3]": """
        resize_image: jax.image.resize(x, (x.shape[0], 8, 8, 3), 'bilinear')
        resize_cubic: jax.image.resize(x, (x.shape[0], 9, 9, 3), 'cubic')
        resize_double: jax.image.resize(x, (x.shape[0], x.shape[1] * 2, x.shape[2] * 2, 3), 'nearest')
        flip_image: x[:, :, ::-1] * 2
        crop: x[:, 1:-1, 1:-1] * 2
        crop_centre: x[:, 2:6, 2:6] * 2
        pool: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID')
        patches: x.reshape(x.shape[0], x.shape[1] // 2, 2, x.shape[2] // 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(x.shape[0], -1, 12)
        conv_same: jax.lax.conv_general_dilated(x, jnp.ones((3, 3, 3, 2)), (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
        conv_valid: jax.lax.conv_general_dilated(x, jnp.ones((3, 3, 3, 2)), (2, 2), 'VALID', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
        normalise_image: (x - x.mean((1, 2), keepdims=True)) / (x.std((1, 2), keepdims=True) + 1e-3)
        blur: jax.vmap(lambda v: jsp.signal.convolve2d(v[..., 0], jnp.ones((3, 3)) / 9, mode='same'))(x)
        gradient_image: x[:, 1:] - x[:, :-1]
        total_variation: jnp.abs(x[:, 1:] - x[:, :-1]).sum() + jnp.abs(x[:, :, 1:] - x[:, :, :-1]).sum()
        grey: x @ jnp.array([0.3, 0.6, 0.1])
        histogram_image: jax.vmap(lambda v: jnp.histogram(v, 4, (0.0, 1.0))[0])(x)
        grid: jnp.stack(jnp.meshgrid(jnp.arange(x.shape[1]), jnp.arange(x.shape[2])), -1)[None, ..., :1] * x
        upsample_backward: jax.grad(lambda x: (jax.image.resize(x, (x.shape[0], x.shape[1] * 2, x.shape[2] * 2, 3), 'linear') ** 2).sum())(x)
        cutout: x.at[:, 1:3, 1:3].set(0.0)
        translate: jax.image.scale_and_translate(x, x.shape, (1, 2), jnp.array([1.0, 1.0]), jnp.array([0.5, 0.5]), 'linear')
        pad_image: jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), mode='reflect')
        rotate: jnp.rot90(x, axes=(1, 2)) * 2
    """,
    "x: f32[b,l,4]; lengths: i32[b]": """
        mask_lengths: jnp.where(jnp.arange(x.shape[1])[None, :, None] < lengths[:, None, None], x, 0.0)
        mean_lengths: (x * (jnp.arange(x.shape[1]) < lengths[:, None])[..., None]).sum(1) / jnp.maximum(lengths, 1)[:, None]
        last_valid: jnp.take_along_axis(x, jnp.maximum(lengths - 1, 0)[:, None, None], 1)
        last_by_row: jax.vmap(lambda v, n: v[n - 1])(x, lengths)
        attend: jax.nn.softmax(jnp.where(jnp.arange(x.shape[1])[None, None] < lengths[:, None, None], jnp.einsum('bqd,bkd->bqk', x, x), -1e9))
        scan_masked: jax.lax.scan(lambda c, t: (jnp.where((t[1] < lengths)[:, None], c + t[0], c), None), jnp.zeros_like(x[:, 0]), (x.swapaxes(0, 1), jnp.arange(x.shape[1])))[0]
        loss_masked: jnp.sum(jnp.square(x).mean(-1) * (jnp.arange(x.shape[1]) < lengths[:, None])) / lengths.sum()
    """,
    "cache: f32[2,16,4]; x: f32[2,l,4]; at: i32[]": """
        cache_write: jax.lax.dynamic_update_slice(cache, x, (0, at, 0))
        cache_attend: jax.nn.softmax(jnp.einsum('bqd,bkd->bqk', x, jax.lax.dynamic_update_slice(cache, x, (0, at, 0)))) @ cache
        cache_positions: x + jnp.sin(at + jnp.arange(x.shape[1]))[:, None]
        cache_masked: jnp.where(jnp.arange(16) <= at + jnp.arange(x.shape[1])[:, None], jnp.einsum('bqd,bkd->bqk', x, cache), -1e9)
    """,
}

HALVES = ("f32_bf16", "f32_f16")  # where two operands must be of one dtype
SKIP = {name: HALVES for name in ("cache_write", "cache_attend", "conv", "conv_backward", "conv_same", "conv_valid",
                                  "dynamic_update", "norm_cdf", "noise_scan")}


def recipes():
    for arguments, bodies in BODIES.items():
        for line in bodies.strip().splitlines():
            name, body = line.strip().split(": ", 1)
            kinds = ("x",) if ";" in arguments else None
            yield Recipe(f"fn_{name}" if "b,s" not in arguments else f"image_{name}", arguments, body,
                         skip=SKIP.get(name, ()), dtypes=kinds)


RECIPES = list(recipes())
