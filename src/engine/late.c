#include "engine/late.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/once.h"

extern char **environ;

// ---- what changed ------------------------------------------------------------------------------

static bool has_line(keel_str_t text, keel_str_t line) {
    keel_str_t one;
    while (keel_str_line(&text, &one))
        if (keel_str_equal(one, line)) return true;
    return false;
}

static void put_missing(keel_str_t from, keel_str_t in, keel_buffer_t *out) {
    keel_str_t line;
    while (keel_str_line(&from, &line)) {
        if (!line.size || has_line(in, line)) continue;
        keel_buffer_text(out, out->size ? " " : "");
        keel_buffer_str(out, line);
    }
}

void late_changes(keel_str_t before, keel_str_t now, keel_buffer_t *out) {
    put_missing(now, before, out);
    if (out->size || keel_str_equal(before, now)) return;
    keel_buffer_text(out, "unset");
    put_missing(before, now, out);
}

// ---- one component -----------------------------------------------------------------------------

// The client's own copy of XLA's flags is made at its first compile or earlier: a new flag that
// the compile options have did come in time.
static bool is_in_options(keel_str_t change, keel_bytes_t options) {
    keel_buffer_t canonical, assignment, readable, names;
    bool understood, found = false;
    keel_buffer_initialize(&canonical, 0);
    keel_buffer_initialize(&assignment, 0);
    keel_buffer_initialize(&readable, 0);
    keel_buffer_initialize(&names, 0);
    keel_status_t status =
        keel_key_options(options, &canonical, &assignment, &readable, &understood);
    if (!status) status = keel_key_spell_out(keel_bytes_str(keel_buffer_bytes(&readable)), &names);
    const char *equals = memchr(change.data, '=', change.size);
    char *name = NULL;
    if (!status && equals)
        status = keel_strdup((keel_str_t){change.data, (size_t)(equals - change.data)}, &name);
    if (!status && name)
        found = keel_str_contains(keel_bytes_str(keel_buffer_bytes(&names)), name);
    keel_status_ignore(status);
    keel_free(name);
    keel_buffer_deinitialize(&canonical);
    keel_buffer_deinitialize(&assignment);
    keel_buffer_deinitialize(&readable);
    keel_buffer_deinitialize(&names);
    return found;
}

static void look_at(keel_engine_t *engine, const client_t *client, keel_component_t component,
                    const char *what, keel_str_t now, keel_bytes_t options) {
    const char *before = client->backend.values[component];
    keel_buffer_t change;
    keel_buffer_initialize(&change, 1 << 16);
    late_changes(keel_str(before ? before : ""), now, &change);
    keel_status_t status = keel_buffer_status(&change);
    keel_str_t text = keel_bytes_str(keel_buffer_bytes(&change));
    bool is_late = !status && text.size &&
                   (component != KEEL_COMPONENT_XLA_FLAGS || !is_in_options(text, options));
    if (is_late && once_first(engine->once, ONCE_LATE, keel_str_bytes(text))) {
        keel_log_line("%s was set after the client was made, so it has no effect: %.*s; set it "
                      "before the first use of a device",
                      what, KEEL_STR_ARGS(text));
        keel_journal_late(engine->journal, what, keel_buffer_cstr(&change));
    }
    keel_status_ignore(status);
    keel_buffer_deinitialize(&change);
}

// ---- the environment ---------------------------------------------------------------------------

static uint64_t hash_environment(void) {
    uint64_t hash = 0;
    for (char **at = environ; at && *at; ++at)
        hash = hash * 31 + keel_quick_hash(keel_str_bytes(keel_str(*at)));
    return hash;
}

static keel_status_t compare(keel_engine_t *engine, const client_t *client, keel_bytes_t options,
                             keel_buffer_t *text) {
    unsigned backends = keel_key_backends(client->platform);
    KEEL_TRY(keel_key_flags(getenv("XLA_FLAGS"), text));
    look_at(engine, client, KEEL_COMPONENT_XLA_FLAGS, "XLA_FLAGS",
            keel_bytes_str(keel_buffer_bytes(text)), options);
    text->size = 0;
    if (backends & KEEL_BACKEND_TPU) KEEL_TRY(keel_key_flags(getenv("LIBTPU_INIT_ARGS"), text));
    look_at(engine, client, KEEL_COMPONENT_LIBTPU_FLAGS, "LIBTPU_INIT_ARGS",
            keel_bytes_str(keel_buffer_bytes(text)), options);
    text->size = 0;
    KEEL_TRY(keel_key_environment(backends, text));
    look_at(engine, client, KEEL_COMPONENT_ENVIRONMENT, "an environment variable",
            keel_bytes_str(keel_buffer_bytes(text)), options);
    return NULL;
}

void late_look(keel_engine_t *engine, const client_t *client, keel_bytes_t options) {
    static _Atomic uint64_t looked_at;
    uint64_t hash = hash_environment();
    if (atomic_exchange(&looked_at, hash) == hash) return;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_status_ignore(compare(engine, client, options, &text));
    keel_buffer_deinitialize(&text);
}
