// The variables of the environment that belong into a key (variables.h).
#include <stdlib.h>
#include <unistd.h>

#include "key/variables.h"

extern char **environ;

const keel_variable_t keel_variables[] = {
#define ANY (KEEL_BACKEND_CPU | KEEL_BACKEND_GPU | KEEL_BACKEND_TPU)
#define CPU KEEL_BACKEND_CPU
#define GPU KEEL_BACKEND_GPU
#define TPU KEEL_BACKEND_TPU
#define ROW(name, backends, use, why) {name, backends, KEEL_VARIABLE_##use, why},
    KEEL_VARIABLES(ROW)
#undef ROW
#undef ANY
#undef CPU
#undef GPU
#undef TPU
};
const size_t keel_variable_count = sizeof keel_variables / sizeof *keel_variables;

// How much of the name the row gives; 0 if it does not fit. A whole name is one more.
static size_t fit(const char *row, keel_str_t name) {
    size_t size = strlen(row);
    if (row[size - 1] != '*') return keel_str_is(name, row) ? size + 1 : 0;
    return name.size >= --size && memcmp(name.data, row, size) == 0 ? size : 0;
}

const keel_variable_t *keel_variable_find(keel_str_t name) {
    const keel_variable_t *found = NULL;
    size_t most = 0;
    for (size_t i = 0; i < keel_variable_count; ++i) {
        size_t fits = fit(keel_variables[i].name, name);
        if (fits > most) most = fits, found = &keel_variables[i];
    }
    return found;
}

bool keel_key_has_variable(keel_str_t name, unsigned backends) {
    const keel_variable_t *row = keel_variable_find(name);
    return row && row->backends & backends && row->use <= KEEL_VARIABLE_UNKNOWN;
}

static int by_text(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

// An unknown variable may be a secret: unless its value is a short word, only its digest is kept.
static bool is_plain(const char *value) {
    enum { LONGEST = 24 };
    size_t size =
        strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,-");
    return !value[size] && size <= LONGEST;
}

static void put_variable(keel_buffer_t *out, const char *text) {
    const char *value = strchr(text, '=') + 1;
    keel_str_t name = {text, (size_t)(value - text - 1)};
    const keel_variable_t *row = keel_variable_find(name);
    keel_buffer_append(out, text, name.size + 1);
    if (row->use == KEEL_VARIABLE_KEYED || is_plain(value)) {
        for (; *value; ++value) {
            if (*value == '\n' || *value == '\\') keel_buffer_byte(out, '\\');
            keel_buffer_byte(out, *value == '\n' ? 'n' : (uint8_t)*value);
        }
    } else {
        char hex[KEEL_DIGEST_HEX];
        keel_digest_t digest = keel_digest(keel_str_bytes(keel_str(value)));
        keel_digest_hex(&digest, hex);
        keel_buffer_format(out, "#%s", hex);
    }
    keel_buffer_byte(out, '\n');
}

keel_status_t keel_key_environment(unsigned backends, keel_buffer_t *canonical) {
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        ++count;
    const char **list;
    KEEL_TRY(keel_calloc(count + 1, sizeof *list, (void **)&list));
    for (size_t i = 0; i < count; ++i) {
        const char *equals = strchr(environ[i], '=');
        if (equals && keel_key_has_variable((keel_str_t){environ[i], (size_t)(equals - environ[i])},
                                            backends))
            list[kept++] = environ[i];
    }
    qsort(list, kept, sizeof *list, by_text);
    for (size_t i = 0; i < kept; ++i)
        put_variable(canonical, list[i]);
    keel_free(list);
    return keel_buffer_status(canonical);
}

unsigned keel_key_backends(const char *platform) {
    static const struct {
        const char *platform;
        unsigned backends;
    } known[] = {{"cpu", KEEL_BACKEND_CPU},
                 {"tpu", KEEL_BACKEND_TPU},
                 {"cuda", KEEL_BACKEND_GPU},
                 {"rocm", KEEL_BACKEND_GPU}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (strcmp(platform, known[i].platform) == 0) return known[i].backends;
    return KEEL_BACKEND_CPU | KEEL_BACKEND_GPU | KEEL_BACKEND_TPU;
}
