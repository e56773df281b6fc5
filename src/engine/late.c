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

// Whether the options say what the flag does: "xla_a=true" is there as "xla_a=1". `is_first`: the
// client may copy XLA's flags as late as at its first compile; then a value in another form counts.
static bool says(keel_str_t options, keel_str_t flag, bool is_first) {
    const char *equals = memchr(flag.data, '=', flag.size);
    if (!equals) return false;
    keel_str_t line, name = {flag.data, (size_t)(equals - flag.data) + 1};
    keel_str_t value = {equals + 1, flag.size - name.size};
    if (keel_str_is(value, "true")) value = KEEL_STR("1");
    if (keel_str_is(value, "false")) value = KEEL_STR("0");
    while (keel_str_line(&options, &line)) {
        if (!keel_str_starts(line, name)) continue;
        keel_str_t own = {line.data + name.size, line.size - name.size};
        bool is_switch = own.size == 1 && (*own.data == '0' || *own.data == '1');
        return keel_str_equal(own, value) || (is_first && !is_switch);
    }
    return is_first;
}

static bool is_in_options(keel_str_t changes, keel_bytes_t options, bool is_first) {
    keel_buffer_t canonical, assignment, readable, names;
    bool understood, found = false;
    keel_buffer_initialize(&canonical, 0);
    keel_buffer_initialize(&assignment, 0);
    keel_buffer_initialize(&readable, 0);
    keel_buffer_initialize(&names, 0);
    keel_str_t first = {changes.data, strcspn(changes.data, " ")};
    keel_status_t status = keel_key_options(options, KEEL_BACKEND_CPU, &canonical, &assignment,
                                            &readable, &understood);
    if (!status) status = keel_key_spell_out(keel_bytes_str(keel_buffer_bytes(&readable)), &names);
    if (!status) found = says(keel_bytes_str(keel_buffer_bytes(&names)), first, is_first);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&canonical);
    keel_buffer_deinitialize(&assignment);
    keel_buffer_deinitialize(&readable);
    keel_buffer_deinitialize(&names);
    return found;
}

typedef struct look_t {
    keel_bytes_t options;
    bool is_first; // compile of the process
} look_t;

static void look_at(keel_engine_t *engine, const client_t *client, keel_component_t component,
                    const char *what, keel_str_t now, const look_t *look) {
    const char *before = client->backend.values[component];
    keel_buffer_t change;
    keel_buffer_initialize(&change, 1 << 16);
    late_changes(keel_str(before ? before : ""), now, &change);
    keel_status_t status = keel_buffer_status(&change);
    keel_str_t text = keel_str(keel_buffer_cstr(&change));
    bool is_late = !status && text.size;
    if (is_late && component == KEEL_COMPONENT_XLA_FLAGS)
        is_late = !is_in_options(text, look->options, look->is_first);
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

static keel_status_t compare(keel_engine_t *engine, const client_t *client, const look_t *look,
                             keel_buffer_t *text) {
    unsigned backends = keel_key_backends(client->platform);
    KEEL_TRY(keel_key_flags(getenv("XLA_FLAGS"), text));
    look_at(engine, client, KEEL_COMPONENT_XLA_FLAGS, "XLA_FLAGS",
            keel_bytes_str(keel_buffer_bytes(text)), look);
    text->size = 0;
    if (backends & KEEL_BACKEND_TPU) KEEL_TRY(keel_key_flags(getenv("LIBTPU_INIT_ARGS"), text));
    look_at(engine, client, KEEL_COMPONENT_LIBTPU_FLAGS, "LIBTPU_INIT_ARGS",
            keel_bytes_str(keel_buffer_bytes(text)), look);
    return NULL;
}

void late_look(keel_engine_t *engine, const client_t *client, keel_bytes_t options) {
    static _Atomic uint64_t looked_at;
    uint64_t hash = hash_environment();
    uint64_t before = atomic_exchange(&looked_at, hash);
    if (before == hash) return;
    const look_t look = {options, !before};
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_status_ignore(compare(engine, client, &look, &text));
    keel_buffer_deinitialize(&text);
}
