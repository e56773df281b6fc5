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

static void put(keel_str_t line, keel_buffer_t *out) {
    keel_buffer_text(out, out->size ? " " : "");
    keel_buffer_str(out, line);
}

// Whether the options say what the flag does: "xla_a=true" is there as "xla_a=1". In the first
// compile, a value in another form counts. How many devices a CPU has is never theirs to say.
static bool says(const late_options_t *options, keel_str_t flag) {
    const char *equals = memchr(flag.data, '=', flag.size);
    if (!equals) return false;
    keel_str_t line, lines = options->lines;
    keel_str_t name = {flag.data, (size_t)(equals - flag.data) + 1};
    keel_str_t value = {equals + 1, flag.size - name.size};
    if (keel_str_is(name, "xla_force_host_platform_device_count=")) return false;
    if (keel_str_is(value, "true")) value = KEEL_STR("1");
    if (keel_str_is(value, "false")) value = KEEL_STR("0");
    while (keel_str_line(&lines, &line)) {
        if (!keel_str_starts(line, name)) continue;
        keel_str_t own = {line.data + name.size, line.size - name.size};
        bool is_switch = own.size == 1 && (*own.data == '0' || *own.data == '1');
        return keel_str_equal(own, value) || (options->is_first && !is_switch);
    }
    return options->is_first;
}

void late_changes(keel_str_t before, keel_str_t now, const late_options_t *options,
                  keel_buffer_t *out) {
    keel_str_t line, rest = now;
    bool any = false;
    while (keel_str_line(&rest, &line)) {
        if (!line.size || has_line(before, line)) continue;
        if (!options || !says(options, line)) put(line, out);
        any = true;
    }
    if (any) return;
    for (rest = before; keel_str_line(&rest, &line);) {
        if (!line.size || has_line(now, line)) continue;
        if (!out->size) keel_buffer_text(out, "unset");
        put(line, out);
    }
}

// ---- one variable ------------------------------------------------------------------------------

static keel_status_t name_options(keel_bytes_t options, keel_buffer_t *out) {
    keel_buffer_t canonical, assignment, readable;
    bool understood;
    keel_buffer_initialize(&canonical, 0);
    keel_buffer_initialize(&assignment, 0);
    keel_buffer_initialize(&readable, 0);
    keel_status_t status = keel_key_options(options, KEEL_BACKEND_CPU, &canonical, &assignment,
                                            &readable, &understood);
    if (!status) status = keel_key_spell_out(keel_bytes_str(keel_buffer_bytes(&readable)), out);
    keel_buffer_deinitialize(&canonical);
    keel_buffer_deinitialize(&assignment);
    keel_buffer_deinitialize(&readable);
    return status;
}

static void look_at(keel_engine_t *engine, const char *variable, const keel_buffer_t *before,
                    const late_options_t *options) {
    keel_buffer_t now, change;
    keel_buffer_initialize(&now, 0);
    keel_buffer_initialize(&change, 1 << 16);
    keel_status_t status = keel_key_flags_given(getenv(variable), &now);
    if (!status)
        late_changes(keel_bytes_str(keel_buffer_bytes(before)),
                     keel_bytes_str(keel_buffer_bytes(&now)), options, &change);
    if (!status) status = keel_buffer_status(&change);
    if (!status && change.size && once_first(engine->once, ONCE_LATE, keel_buffer_bytes(&change))) {
        keel_log_line("%s was set after the client was made, so it has no effect: %s; set it "
                      "before the first use of a device",
                      variable, keel_buffer_cstr(&change));
        keel_journal_late(engine->journal, variable, keel_buffer_cstr(&change));
    }
    keel_status_ignore(status);
    keel_buffer_deinitialize(&now);
    keel_buffer_deinitialize(&change);
}

// ---- the environment ---------------------------------------------------------------------------

static uint64_t hash_environment(void) {
    uint64_t hash = 0;
    for (char **at = environ; at && *at; ++at)
        hash = hash * 31 + keel_quick_hash(keel_str_bytes(keel_str(*at)));
    return hash;
}

static bool is_of_tpu(const client_t *client) {
    return (keel_key_backends(client->platform) & KEEL_BACKEND_TPU) != 0;
}

void late_begin(client_t *client) {
    keel_buffer_initialize(&client->flags, 0);
    keel_buffer_initialize(&client->libtpu_flags, 0);
    keel_status_ignore(keel_key_flags_given(getenv("XLA_FLAGS"), &client->flags));
    keel_status_ignore(keel_key_flags_given(getenv("LIBTPU_INIT_ARGS"), &client->libtpu_flags));
}

void late_look(keel_engine_t *engine, const client_t *client, keel_bytes_t options) {
    static _Atomic uint64_t looked_at;
    uint64_t hash = hash_environment();
    uint64_t before = atomic_exchange(&looked_at, hash);
    if (before == hash) return;
    keel_buffer_t names;
    keel_buffer_initialize(&names, 0);
    keel_status_t status = name_options(options, &names);
    const late_options_t named = {keel_bytes_str(keel_buffer_bytes(&names)), !before};
    if (!status) look_at(engine, "XLA_FLAGS", &client->flags, &named);
    if (!status && is_of_tpu(client))
        look_at(engine, "LIBTPU_INIT_ARGS", &client->libtpu_flags, NULL);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&names);
}
