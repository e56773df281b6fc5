#include "analysis/process.h"

#include <string.h>

#include <jansson.h>

static double began(const json_t *start) {
    double when = keel_event_number(start, "began");
    return when > 0 ? when : keel_event_number(start, "t");
}

// ---- the script --------------------------------------------------------------------------------

static keel_status_t name_by_command(const json_t *start, char **out) {
    enum { WORDS = 1024 };
    char *words[WORDS + 1];
    size_t count = 0, index;
    json_t *word;
    json_array_foreach(json_object_get(start, "argv"), index, word) {
        if (!json_is_string(word) || count == WORDS) break;
        words[count++] = (char *)(uintptr_t)json_string_value(word);
    }
    words[count] = NULL;
    return count ? keel_host_script(words, keel_event_text(start, "cwd"), out)
                 : keel_strdup(KEEL_STR(""), out);
}

keel_status_t process_script(const json_t *start, char **out) {
    const char *script = keel_event_text(start, "script");
    return *script && !strchr(script, '/') ? keel_strdup(keel_str(script), out)
                                           : name_by_command(start, out);
}

// ---- components of keys ------------------------------------------------------------------------

typedef struct value_name_t {
    uint64_t component;
    keel_digest_t digest;
} value_name_t;

static keel_status_t add_value(process_t *process, int component, const keel_digest_t *digest,
                               const char *text) {
    const value_name_t name = {(uint64_t)component, *digest};
    keel_str_t kept;
    KEEL_TRY(keel_arena_str(&process->texts, keel_str(text), &kept));
    return keel_map_put(&process->values, keel_bytes(&name, sizeof name),
                        (uint64_t)(uintptr_t)kept.data);
}

const char *process_names(const process_t *process, const keel_digest_t *program) {
    const uint64_t *found =
        keel_map_find(&process->names, keel_bytes(program->bytes, sizeof program->bytes));
    return found ? (const char *)(uintptr_t)*found : NULL;
}

keel_status_t process_note_names(process_t *process, const keel_digest_t *program,
                                 const char *names) {
    keel_str_t kept;
    if (!*names || process_names(process, program)) return NULL;
    KEEL_TRY(keel_arena_str(&process->texts, keel_str(names), &kept));
    return keel_map_put(&process->names, keel_bytes(program->bytes, sizeof program->bytes),
                        (uint64_t)(uintptr_t)kept.data);
}

bool process_callers(const process_t *process, const keel_digest_t *program, uint64_t *out) {
    const uint64_t *found =
        keel_map_find(&process->callers, keel_bytes(program->bytes, sizeof program->bytes));
    if (found) *out = *found;
    return found;
}

keel_status_t process_note_callers(process_t *process, const keel_digest_t *program,
                                   uint64_t callers) {
    uint64_t known;
    if (process_callers(process, program, &known)) return NULL;
    return keel_map_put(&process->callers, keel_bytes(program->bytes, sizeof program->bytes),
                        callers);
}

// ---- calls -------------------------------------------------------------------------------------

typedef struct process_call_t {
    const char *text;
    const struct process_call_t *before;
} process_call_t;

static const process_call_t *last_call(const process_t *process, const keel_digest_t *name) {
    const uint64_t *found =
        keel_map_find(&process->calls, keel_bytes(name->bytes, sizeof name->bytes));
    return found ? (const process_call_t *)(uintptr_t)*found : NULL;
}

// Functions with equal programs have one key.
static keel_digest_t name_of_calls(const keel_digest_t *key, const char *origin) {
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    keel_hasher_update(&hasher, key->bytes, sizeof key->bytes);
    keel_hasher_update(&hasher, origin, strlen(origin));
    return keel_hasher_finish(&hasher);
}

const char *process_last_call(const process_t *process, const keel_digest_t *key,
                              const char *origin) {
    keel_digest_t name = name_of_calls(key, origin);
    const process_call_t *last = last_call(process, &name);
    return last ? last->text : NULL;
}

uint32_t process_calls(const process_t *process, const asked_t *asked,
                       const char *out[PROCESS_CALLS]) {
    keel_digest_t name = name_of_calls(&asked->key.digest, asked->site.origin);
    const process_call_t *last = last_call(process, &name);
    uint32_t count = 0;
    for (const process_call_t *one = last; one && count < PROCESS_CALLS; one = one->before)
        ++count;
    for (uint32_t i = count; i > 0; --i, last = last->before)
        out[i - 1] = last->text;
    return count;
}

keel_status_t process_note_call(process_t *process, const asked_t *asked) {
    keel_str_t text;
    void *memory;
    if (!*asked->call) return NULL;
    keel_digest_t name = name_of_calls(&asked->key.digest, asked->site.origin);
    KEEL_TRY(keel_arena_str(&process->texts, keel_str(asked->call), &text));
    KEEL_TRY(keel_arena_array(&process->texts, 1, sizeof(process_call_t), &memory));
    process_call_t *call = memory;
    *call = (process_call_t){text.data, last_call(process, &name)};
    return keel_map_put(&process->calls, keel_bytes(name.bytes, sizeof name.bytes),
                        (uint64_t)(uintptr_t)call);
}

// ---- functions of libraries ---------------------------------------------------------------------

// What the origin's lines share, and the first line of the call, which is the function's identity.
static keel_status_t identity_of(const asked_t *asked, keel_buffer_t *out) {
    keel_str_t origin = keel_str(asked->site.origin), shared = keel_origin_shared(origin);
    size_t line = strcspn(asked->call, "\n");
    if (shared.size == origin.size || strncmp(asked->call, "f ", 2) != 0) return NULL;
    keel_buffer_append(out, shared.data, shared.size);
    keel_buffer_append(out, asked->call, line);
    return keel_buffer_status(out);
}

// The client took it for a function's first program.
static void asked_again(const process_t *process, asked_t *asked) {
    const char *calls[PROCESS_CALLS];
    bool is_retrace = process_calls(process, asked, calls) > 0;
    if (!is_retrace) asked->recompile = true;
    if (asked->kind == KEEL_ASK_NOTE) asked->kind = is_retrace ? KEEL_ASK_RETRACE : KEEL_ASK_LOAD;
    if (asked->kind == KEEL_ASK_COMPILE && is_retrace) asked->kind = KEEL_ASK_RETRACE;
}

static keel_status_t settle(process_t *process, asked_t *asked, keel_bytes_t identity) {
    const uint64_t *found = keel_map_find(&process->functions, identity);
    keel_str_t kept;
    if (found) {
        const char *first = (const char *)(uintptr_t)*found;
        bool is_elsewhere = strcmp(first, asked->site.origin) != 0;
        asked->site.origin = first;
        if (is_elsewhere) asked_again(process, asked);
        return NULL;
    }
    KEEL_TRY(keel_arena_str(&process->texts, keel_str(asked->site.origin), &kept));
    return keel_map_put(&process->functions, identity, (uint64_t)(uintptr_t)kept.data);
}

keel_status_t process_settle_origin(process_t *process, asked_t *asked) {
    keel_buffer_t identity;
    keel_buffer_initialize(&identity, 1 << 16);
    keel_status_t status = identity_of(asked, &identity);
    if (!status && identity.size) status = settle(process, asked, keel_buffer_bytes(&identity));
    keel_buffer_deinitialize(&identity);
    return status;
}

// ---- keys of programs --------------------------------------------------------------------------

static char *component_text(const process_t *process, int component, const keel_digest_t *digest) {
    const value_name_t name = {(uint64_t)component, *digest};
    const uint64_t *found = keel_map_find(&process->values, keel_bytes(&name, sizeof name));
    return found ? (char *)(uintptr_t)*found : NULL;
}

// Those in the event; the others stay.
static keel_status_t read_components(process_t *process, const json_t *event,
                                     keel_digest_t components[KEEL_COMPONENT_COUNT]) {
    const json_t *digests = json_object_get(event, "components");
    const json_t *values = json_object_get(event, "values");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        const char *name = keel_component_name((keel_component_t)i), *value;
        keel_digest_t digest;
        if (keel_event_digest(digests, name, &digest)) components[i] = digest;
        value = keel_event_text(values, name);
        if (*value) KEEL_TRY(add_value(process, i, &components[i], value));
    }
    return NULL;
}

static const process_client_t *client_of(const process_t *process, const json_t *ask) {
    uint64_t number = keel_event_count(ask, "client");
    for (size_t i = 0; i < process->client_count; ++i)
        if (process->clients[i].number == number) return &process->clients[i];
    return NULL;
}

keel_status_t process_key(process_t *process, const json_t *ask, keel_key_t *key) {
    const process_client_t *client = client_of(process, ask);
    if (client) memcpy(key->components, client->components, sizeof key->components);
    KEEL_TRY(read_components(process, ask, key->components));
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        key->values[i] = component_text(process, i, &key->components[i]);
    return NULL;
}

// ---- rehearsals --------------------------------------------------------------------------------

typedef struct took_name_t {
    keel_digest_t program, key;
} took_name_t;

keel_status_t process_compiled(process_t *process, const json_t *event) {
    took_name_t name;
    double seconds = keel_event_number(event, "seconds");
    if (json_is_true(json_object_get(event, "failed")) || seconds <= 0 || seconds > 1e9 ||
        !keel_event_digest(event, "program", &name.program) ||
        !keel_event_digest(event, "key", &name.key))
        return NULL;
    keel_history_compiled(process->history, &name.program, &name.key, seconds);
    return keel_map_put(&process->took, keel_bytes(&name, sizeof name), (uint64_t)(seconds * 1e6));
}

double process_took(const process_t *process, const asked_t *asked) {
    if (!*process->target || asked->kind != KEEL_ASK_COMPILE) return asked->compile_seconds;
    const took_name_t name = {asked->program, asked->key.digest};
    const uint64_t *found = keel_map_find(&process->took, keel_bytes(&name, sizeof name));
    return found ? (double)*found / 1e6 : 0;
}

// ---- its life ----------------------------------------------------------------------------------

keel_status_t process_started(process_t *process, const json_t *start) {
    void *grown = process->clients;
    KEEL_TRY(keel_realloc_array(process->client_count + 1, sizeof *process->clients, &grown));
    process->clients = grown;
    process_client_t *client = &process->clients[process->client_count++];
    *client = (process_client_t){.number = keel_event_count(start, "client")};
    return read_components(process, start, client->components);
}

bool process_is(const process_t *process, const json_t *start) {
    // The same instant, measured twice.
    enum { TOLERANCE = 1 };
    double apart = process->began - began(start);
    return process->pid == json_integer_value(json_object_get(start, "pid")) && apart < TOLERANCE &&
           apart > -TOLERANCE;
}

static keel_status_t open_history(process_t *process, const char *run_dir, const char *run,
                                  const json_t *start) {
    char *folder, *script;
    KEEL_TRY(process_script(start, &script));
    keel_status_t status = keel_path(&folder, "%s/history", run_dir);
    if (!status) {
        status = keel_history_open(*script ? folder : NULL, script, run, process->began,
                                   &process->history);
        keel_free(folder);
    }
    keel_free(script);
    return status;
}

static keel_status_t keep_target(process_t *process, const json_t *start) {
    keel_str_t kept;
    const char *name = keel_event_text(json_object_get(start, "target"), "name");
    KEEL_TRY(keel_arena_str(&process->texts, keel_str(name), &kept));
    process->target = kept.data;
    return NULL;
}

keel_status_t process_create(const char *run_dir, const char *run, const json_t *start,
                             process_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof **out, &memory));
    process_t *process = memory;
    process->pid = json_integer_value(json_object_get(start, "pid"));
    process->began = began(start);
    keel_map_initialize(&process->values);
    keel_map_initialize(&process->took);
    keel_arena_initialize(&process->texts, 0);
    keel_map_initialize(&process->names);
    keel_map_initialize(&process->calls);
    keel_map_initialize(&process->callers);
    keel_map_initialize(&process->functions);
    made_initialize(&process->made);
    keel_status_t status = open_history(process, run_dir, run, start);
    if (!status) status = keep_target(process, start);
    if (!status) status = process_started(process, start);
    if (status)
        process_destroy(process);
    else
        *out = process;
    return status;
}

void process_destroy(process_t *process) {
    if (!process) return;
    keel_history_close(process->history);
    keel_free(process->clients);
    keel_map_deinitialize(&process->values);
    keel_map_deinitialize(&process->took);
    keel_map_deinitialize(&process->names);
    keel_map_deinitialize(&process->calls);
    keel_map_deinitialize(&process->callers);
    keel_map_deinitialize(&process->functions);
    made_deinitialize(&process->made);
    keel_arena_deinitialize(&process->texts);
    keel_free(process);
}
