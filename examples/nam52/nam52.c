// Trains NAM52 on a text.
//
//   KEEL_PLUGIN=cpu ./nam52 notes.txt --config tiny --mtp 1 --steps 200
//
// Two programs, whatever the depth of MTP and however the optional fields come and go: one makes
// the first weights, one trains. A checkpoint adds the one that copies it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nam52.h"

typedef struct options_t {
    const char *text, *config, *accident, *set, *load, *save, *dump;
    long steps, mtp, log_every, save_every;
} options_t;

// ---- for tests: each block alone ---------------------------------------------------------------

// The gradients of sum(y * x) and of the block's own losses, for each kind of block.
static keel_status_t dump_block(training_t *t, int which, keel_tree_t *out,
                                const fields_t *fields) {
    const model_t *m = &t->model;
    const int rank = which / 4;
    keel_tensor_t own[16], g[17], y;
    char name[64], pattern[16];
    size_t count = 0;
    extras_t extras = {0};
    snprintf(pattern, sizeof pattern, "L%02d.%c.*", which, "AEMG"[which % 4]);
    masks_t masks = model_masks(m, fields);
    keel_tensor_t x = rms(keel_take(weight(m, "emb.tok"), fields->tokens)), from = x;
    if (which % 4 != 3) from = rms(x);
    keel_tree_enter(m->tree, "L%02d.%c", which, "AEMG"[which % 4]);
    if (which % 4 == 0)
        y = attention(m, from, &masks, config_is_sparse(&m->config, rank), &extras);
    else if (which % 4 == 1)
        y = experts(m, from, &masks, rank, &extras);
    else if (which % 4 == 2)
        y = mamba(m, from, &masks);
    else
        y = engram(m, from, &masks, rank);
    keel_tree_leave(m->tree);
    keel_tensor_t loss = keel_sum(keel_multiply(y, keel_sin(y)), keel_all_axes(y));
    keel_tensor_t more[] = {extras.balance, extras.z, extras.indexer};
    for (size_t i = 0; i < 3; ++i)
        if (!keel_is_empty(more[i])) loss = keel_add(loss, more[i]);
    const char *names[16];
    for (size_t i = 0; i < keel_tree_count(m->tree); ++i) {
        const keel_leaf_t leaf = keel_tree_leaf(m->tree, i);
        if (leaf.is_state || !keel_is_named(&leaf, pattern)) continue;
        names[count] = leaf.name;
        own[count++] = leaf.tensor;
    }
    own[count] = weight(m, "emb.tok");
    keel_gradients(loss, own, count + 1, g);
    snprintf(name, sizeof name, "%.5s.y", pattern);
    keel_tree_put(out, name, keel_keep(y), 1);
    snprintf(name, sizeof name, "%.5s.loss", pattern);
    keel_tree_put(out, name, keel_keep(loss), 1);
    for (size_t i = 0; i <= count; ++i) {
        snprintf(name, sizeof name, "%.5s.d.%s", pattern, i < count ? names[i] : "emb.tok");
        keel_tree_put(out, name, keel_keep(g[i]), 1);
    }
    return keel_step_end(m->keel);
}

// The first batch, each block on its first micro-batch; then the weights before and after a step.
static keel_status_t dump_blocks(training_t *t, const char *path, keel_tree_t *out) {
    const int last = t->model.config.blocks < 8 ? t->model.config.blocks : 8;
    for (int which = 0; which < last; ++which) {
        fields_t fields;
        loader_seek(t->loader, 0);
        loader_next(t->loader, 0);
        step_inputs(t);
#define FIELD(name)                                                                                \
    if (!which) keel_tree_put(out, #name, keel_keep(t->inputs.name), 1);                           \
    fields.name = keel_squeeze(keel_slice(t->inputs.name, 0, 0, 1), 0);
        FIELDS(FIELD)
#undef FIELD
        KEEL_TRY(dump_block(t, which, out, &fields));
    }
    loader_seek(t->loader, 0);
    return keel_checkpoint_save(out, path, 0);
}

static keel_status_t dump(training_t *t, const char *path) {
    keel_tree_t *out;
    KEEL_TRY(keel_tree_create(t->model.keel, &out));
    keel_status_t status = dump_blocks(t, path, out);
    keel_tree_free(out);
    return status;
}

// ---- training ----------------------------------------------------------------------------------

static double seconds(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static keel_status_t print_metrics(const training_t *t, long step, double since, long steps) {
    const config_t *c = &t->model.config;
    float loss, next;
    KEEL_TRY(keel_read(t->loss, &loss, sizeof loss));
    KEEL_TRY(keel_read(t->next, &next, sizeof next));
    const double tokens = (double)steps * c->micro_batches * c->rows * c->length;
    printf("step %5ld  loss %.6f  next token %.6f  %.0f tokens/s  %llu programs\n", step,
           (double)loss, (double)next, tokens / (seconds() - since),
           (unsigned long long)keel_context_figures(t->model.keel).programs);
    fflush(stdout);
    return NULL;
}

static keel_status_t train(training_t *t, const options_t *options, long first) {
    double since = seconds();
    long printed = first;
    for (long step = first; step < options->steps; ++step) {
        const long done = step + 1;
        KEEL_TRY(t->accidents ? accidents_step(t, step) : step_train(t, step));
        if (done == first + 1 || done % options->log_every == 0 || done == options->steps) {
            KEEL_TRY(print_metrics(t, done, since, done - printed));
            since = seconds();
            printed = done;
        }
        if (options->save && options->save_every && done % options->save_every == 0)
            KEEL_TRY(keel_checkpoint_save(t->model.tree, options->save, 0));
    }
    return options->save ? keel_checkpoint_save(t->model.tree, options->save, 0) : NULL;
}

// ---- set-up ------------------------------------------------------------------------------------

// Decay is for matrices, but not for embeddings, tables and convolutions.
static int is_undecayed(const keel_leaf_t *leaf, const void *unused) {
    return !keel_is_matrix(leaf, unused) || keel_is_named(leaf, "emb.*") ||
           keel_is_named(leaf, "*.tab") || keel_is_named(leaf, "*.conv");
}

static keel_status_t make_optimizer(training_t *t) {
    const config_t *c = &t->model.config;
    keel_optimizer_options_t adamw = KEEL_ADAMW(0);
    adamw.rate = KEEL_COSINE_RATE(c->rate, c->warmup, c->end, 0.1);
    adamw.beta2 = 0.95;
    adamw.decay = 0.1;
    adamw.clip = 1;
    KEEL_TRY(keel_optimizer_create(t->model.tree, &adamw, &t->optimizer));
    keel_optimizer_scale(t->optimizer, is_undecayed, NULL, 1, 0);
    keel_optimizer_scale(t->optimizer, keel_is_named, "*.tab", 5, 1);
    return NULL;
}

// Where a run that is loaded goes on.
static keel_status_t resume(training_t *t, const char *path, long *first) {
    int32_t step, place;
    KEEL_TRY(keel_checkpoint_load(t->model.tree, path, NULL, NULL));
    KEEL_TRY(keel_read(keel_tree_get(t->model.tree, "optimizer.step"), &step, sizeof step));
    KEEL_TRY(keel_read(t->place, &place, sizeof place));
    loader_seek(t->loader, (uint64_t)place);
    *first = step;
    return NULL;
}

static keel_status_t set_up(training_t *t, const options_t *o, long *first) {
    model_t *m = &t->model;
    const keel_context_options_t options = {.name = "nam52"};
    KEEL_TRY(config_check(&m->config));
    KEEL_TRY(keel_context_create(&options, &m->keel));
    KEEL_TRY(keel_tree_create(m->keel, &m->tree));
    model_add(m);
    t->loss = keel_tree_state(m->tree, "metrics.loss", KEEL_F32, KEEL_SCALAR, KEEL_FILL(0));
    t->next = keel_tree_state(m->tree, "metrics.next", KEEL_F32, KEEL_SCALAR, KEEL_FILL(0));
    t->place = keel_tree_state(m->tree, "metrics.place", KEEL_I32, KEEL_SCALAR, KEEL_FILL(0));
    printf("%llu parameters\n",
           (unsigned long long)keel_tree_elements(m->tree, keel_is_parameter, NULL));
    fflush(stdout);
    if (!o->text) return NULL;
    KEEL_TRY(loader_open(&m->config, o->text, &t->loader));
    printf("entropy of single tokens: %.4f\n", loader_entropy(t->loader));
    KEEL_TRY(make_optimizer(t));
    KEEL_TRY(loader_fields(&m->config, m->keel, &t->batch));
    KEEL_TRY(accidents_create(t));
    if (o->load) return resume(t, o->load, first);
    keel_tree_initialize(m->tree, 0);
    return keel_step_end(m->keel);
}

static keel_status_t run(training_t *t, const options_t *options) {
    long first = 0;
    if (options->set) KEEL_TRY(config_set(&t->model.config, options->set));
    if (options->accident) KEEL_TRY(accidents_named(options->accident, &t->model.accidents));
    KEEL_TRY(set_up(t, options, &first));
    if (!options->text) return NULL;
    if (options->dump) KEEL_TRY(dump(t, options->dump));
    return train(t, options, first);
}

// ---- options -----------------------------------------------------------------------------------

static int set_option(options_t *options, const char *name, const char *value) {
    const struct {
        const char *name, **value;
    } words[] = {{"--config", &options->config}, {"--accident", &options->accident},
                 {"--set", &options->set},       {"--load", &options->load},
                 {"--save", &options->save},     {"--dump", &options->dump}};
    const struct {
        const char *name;
        long *value;
    } numbers[] = {{"--steps", &options->steps},
                   {"--mtp", &options->mtp},
                   {"--log-every", &options->log_every},
                   {"--save-every", &options->save_every}};
    char *end;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (!strcmp(name, words[i].name)) return (*words[i].value = value) != NULL;
    for (size_t i = 0; value && i < sizeof numbers / sizeof *numbers; ++i) {
        if (strcmp(name, numbers[i].name) != 0) continue;
        *numbers[i].value = strtol(value, &end, 10);
        return end != value && !*end && *numbers[i].value >= 0;
    }
    return 0;
}

static int parse(int count, char **arguments, options_t *options) {
    int at = 1;
    if (at < count && arguments[at][0] != '-') options->text = arguments[at++];
    for (; at < count; ++at) {
        char *value = strchr(arguments[at], '='); // --name=value, or the value comes next
        if (value)
            *value++ = 0;
        else
            value = at + 1 < count ? arguments[at + 1] : NULL;
        if (!set_option(options, arguments[at], value)) return 0;
        at += value == arguments[at + 1];
    }
    return options->log_every > 0;
}

int main(int count, char **arguments) {
    options_t options = {.config = "tiny", .steps = 20, .log_every = 10};
    training_t t = {0};
    if (parse(count, arguments, &options)) t.model.config = config_of(options.config);
    if (!t.model.config.name) {
        fprintf(stderr,
                "usage: nam52 [TEXT] [--config tiny|small|nam52] [--mtp 0] [--steps 20]\n"
                "             [--log-every 10] [--save FILE] [--save-every 0] [--load FILE]\n"
                "             [--dump FILE] [--set heads=4] [--accident NAME[,NAME...]|all]\n"
                "Without a text it says how many parameters there are.\n");
        return 2;
    }
    t.model.config.mtp = (int)options.mtp;
    keel_status_t status = run(&t, &options);
    accidents_free(t.accidents);
    keel_batch_free(t.batch);
    keel_optimizer_free(t.optimizer);
    keel_tree_free(t.model.tree);
    keel_context_free(t.model.keel);
    loader_close(t.loader);
    if (!status) return 0;
    fprintf(stderr, "nam52: %s\n", keel_status_message(status));
    keel_status_ignore(status);
    return 1;
}
