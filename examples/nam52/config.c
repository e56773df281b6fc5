// The configurations, and what of one cannot be.
#include "nam52.h"

#include <stdlib.h>
#include <string.h>

static const config_t configs[] = {
    {.name = "tiny",
     .vocabulary = 320,
     .width = 128,
     .blocks = 8,
     .length = 128,
     .rows = 4,
     .micro_batches = 2,
     .heads = 4,
     .groups = 2,
     .head = 32,
     .sparse_from = 1,
     .sparse_except = 0,
     .index_heads = 4,
     .index_width = 16,
     .keys = 32,
     .near = 8,
     .experts = 8,
     .top = 2,
     .expert_width = 64,
     .shared_width = 64,
     .inner = 256,
     .mamba_head = 32,
     .state = 16,
     .mamba_groups = 2,
     .chunk = 32,
     .hash_heads = 4,
     .hash_width = 8,
     .first_prime = 1009,
     .mtp_width = 256,
     .rate = 2e-3,
     .warmup = 5,
     .end = 30},
    {.name = "small",
     .vocabulary = 16384,
     .width = 512,
     .blocks = 12,
     .length = 512,
     .rows = 8,
     .micro_batches = 2,
     .heads = 8,
     .groups = 4,
     .head = 64,
     .sparse_from = 1,
     .sparse_except = 2,
     .index_heads = 4,
     .index_width = 32,
     .keys = 128,
     .near = 32,
     .experts = 16,
     .top = 4,
     .expert_width = 256,
     .shared_width = 256,
     .inner = 1024,
     .mamba_head = 64,
     .state = 64,
     .mamba_groups = 2,
     .chunk = 128,
     .hash_heads = 8,
     .hash_width = 16,
     .first_prime = 4093,
     .mtp_width = 1536,
     .rate = 3e-4,
     .warmup = 100,
     .end = 100000},
    {.name = "nam52",
     .vocabulary = 65536,
     .width = 2048,
     .blocks = 52,
     .length = 2048,
     .rows = 8,
     .micro_batches = 4,
     .heads = 16,
     .groups = 8,
     .head = 128,
     .sparse_from = 1,
     .sparse_except = 4,
     .index_heads = 8,
     .index_width = 64,
     .keys = 512,
     .near = 128,
     .experts = 64,
     .top = 6,
     .expert_width = 512,
     .shared_width = 1024,
     .inner = 4096,
     .mamba_head = 128,
     .state = 128,
     .mamba_groups = 8,
     .chunk = 256,
     .hash_heads = 8,
     .hash_width = 64,
     .first_prime = 33413,
     .mtp_width = 5632,
     .rate = 3e-4,
     .warmup = 100,
     .end = 100000},
};

config_t config_of(const char *name) {
    for (size_t i = 0; i < sizeof configs / sizeof *configs; ++i)
        if (!strcmp(configs[i].name, name)) return configs[i];
    return (config_t){0};
}

keel_status_t config_set(config_t *config, const char *setting) {
    const struct {
        const char *name;
        int *value;
    } numbers[] = {
        {"length", &config->length},     {"rows", &config->rows},       {"blocks", &config->blocks},
        {"heads", &config->heads},       {"groups", &config->groups},   {"head", &config->head},
        {"keys", &config->keys},         {"experts", &config->experts}, {"top", &config->top},
        {"capacity", &config->capacity}, {"inner", &config->inner},     {"chunk", &config->chunk}};
    const size_t size = strcspn(setting, "=");
    for (size_t i = 0; setting[size] && i < sizeof numbers / sizeof *numbers; ++i) {
        char *end;
        if (strlen(numbers[i].name) != size || memcmp(numbers[i].name, setting, size) != 0)
            continue;
        *numbers[i].value = (int)strtol(setting + size + 1, &end, 10);
        if (end != setting + size + 1 && !*end) return NULL;
    }
    return keel_status_make(KEEL_INVALID, "--set %s: not the name of a number and a number",
                            setting);
}

static keel_status_t divides(const char *what, int whole, const char *by, int part) {
    if (part > 0 && whole > 0 && whole % part == 0) return NULL;
    return keel_status_make(KEEL_INVALID, "%s: %s %d does not divide %d", what, by, part, whole);
}

static keel_status_t at_most(const char *what, int number, const char *of, int most) {
    if (number > 0 && number <= most) return NULL;
    return keel_status_make(KEEL_INVALID, "%s is %d, and must be from 1 to %s, %d", what, number,
                            of, most);
}

keel_status_t config_check(const config_t *c) {
    KEEL_TRY(divides("blocks come in fours", c->blocks, "4, which", 4));
    KEEL_TRY(at_most("blocks", c->blocks, "the most", MAX_BLOCKS));
    KEEL_TRY(divides("heads", c->heads, "the number of key heads", c->groups));
    KEEL_TRY(divides("head width", c->head, "2, as halves turn,", 2));
    KEEL_TRY(divides("length", c->length, "the chunk", c->chunk));
    KEEL_TRY(divides("inner width", c->inner, "the Mamba head", c->mamba_head));
    KEEL_TRY(divides("Mamba heads", c->inner / c->mamba_head, "their groups", c->mamba_groups));
    KEEL_TRY(at_most("sparse keys", c->keys, "the length", c->length));
    KEEL_TRY(at_most("top", c->top, "the experts", c->experts));
    if (c->capacity < 0)
        return keel_status_make(KEEL_INVALID,
                                "capacity is %d, and must be above 0, or 0 for what %d tokens need",
                                c->capacity, c->rows * c->length);
    KEEL_TRY(at_most("hashes", 2 * c->hash_heads, "the most", MAX_HASHES));
    if (c->mtp < 0 || c->mtp > MAX_MTP || c->mtp >= c->length)
        return keel_status_make(KEEL_INVALID,
                                "MTP depth is %d, and must be from 0 to %d and below the length %d",
                                c->mtp, MAX_MTP, c->length);
    return NULL;
}

int config_is_sparse(const config_t *config, int rank) {
    return rank >= config->sparse_from &&
           !(config->sparse_except && rank % config->sparse_except == 0);
}

int64_t config_capacity(const config_t *config) {
    if (config->capacity) return config->capacity;
    return keel_capacity((int64_t)config->rows * config->length, config->experts, config->top,
                         1.25);
}
