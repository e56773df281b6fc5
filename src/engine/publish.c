// Compiled executables are stored; which of them are loaded back before, proofs.h says.
#include "engine/publish.h"

#include <stdio.h>

#include "engine/background.h"
#include "engine/memory.h"
#include "engine/once.h"
#include "engine/proofs.h"
#include "store/entry.h"

// ---- executables -------------------------------------------------------------------------------

typedef struct executable_task_t {
    task_t task;
    keel_digest_t program;
    uint8_t *payload; // the serialized executable
    size_t payload_size;
    uint8_t *options; // to load it with; NULL: its own
    size_t options_size;
    keel_key_t key;
    char *name;
    double compile_seconds;
    uint64_t compiled; // the time of the compile
    bool is_proved;
    bool has_memory; // if it is not
    keel_program_memory_t memory;
    claims_t claims;
} executable_task_t;

static void destroy_executable_task(task_t *head) {
    executable_task_t *task = (executable_task_t *)head;
    keel_free(task->payload);
    keel_free(task->options);
    keel_key_deinitialize(&task->key);
    keel_free(task->name);
    claims_release(&task->claims);
    keel_free(task);
}

static void write_components(const keel_key_t *key, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_COMPACT);
    keel_json_object(&json, NULL);
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        keel_json_object(&json, keel_component_name((keel_component_t)i));
        keel_json_digest(&json, "digest", &key->components[i]);
        keel_json_string(&json, "value", key->values[i] ? key->values[i] : "");
        keel_json_end_object(&json);
    }
    keel_json_end_object(&json);
}

static keel_status_t describe_entry(keel_engine_t *engine, const keel_key_t *key, const char *name,
                                    keel_entry_t *entry) {
    entry->key = key->digest;
    entry->created = keel_clock_wall();
    KEEL_TRY(keel_strdup(keel_str(name), &entry->name));
    KEEL_TRY(keel_path(&entry->writer, "keel %s, pid %d%s%s", KEEL_VERSION, (int)engine->pid,
                       engine->target ? ", ahead for " : "",
                       engine->target ? engine->target->name : ""));
    keel_buffer_t components;
    keel_buffer_initialize(&components, 0);
    write_components(key, &components);
    size_t size;
    uint8_t *text;
    keel_status_t status = keel_buffer_take(&components, &text, &size);
    keel_buffer_deinitialize(&components);
    if (!status) entry->components = (char *)text;
    return status;
}

// The optimized program, if clients ask for it. If the plugin does not return it, each client still
// has to ask.
static void add_program(keel_engine_t *engine, PJRT_LoadedExecutable *loaded,
                        keel_buffer_t *program, keel_payload_t *payload) {
    if (engine->plugin->client_has_programs) return;
    PJRT_Executable *executable = NULL;
    keel_status_t status = keel_pjrt_executable(engine->api, loaded, &executable);
    if (!status)
        status = keel_pjrt_optimized_program(engine->api, executable, program, &payload->format);
    if (!status)
        payload->program = keel_buffer_bytes(program);
    else
        payload->format = (keel_str_t){0};
    keel_status_ignore(status);
    keel_pjrt_destroy_executable(engine->api, executable);
}

// A large payload is made of the task's bytes, which it takes over.
static keel_status_t pack_payload(executable_task_t *task, const keel_payload_t *payload,
                                  keel_entry_t *entry) {
    if (!keel_payload_is_large(payload))
        return keel_payload_pack(payload, &entry->payload, &entry->payload_size);
    entry->needs_version_2 = true;
    KEEL_TRY(keel_payload_pack_large(payload, &task->payload, &entry->payload_size));
    entry->payload = task->payload;
    task->payload = NULL;
    return NULL;
}

static keel_status_t pack(keel_engine_t *engine, executable_task_t *task,
                          PJRT_LoadedExecutable *loaded, keel_entry_t *entry) {
    keel_payload_t payload = {.executable = keel_bytes(task->payload, task->payload_size),
                              .options = keel_bytes(task->options, task->options_size)};
    keel_buffer_t program;
    keel_buffer_initialize(&program, 0);
    add_program(engine, loaded, &program, &payload);
    memory_ask(engine, loaded, &payload);
    const keel_journal_subject_t subject = {
        .program = &task->program, .name = task->name, .key = &task->key.digest};
    if (payload.has_memory) memory_write(engine, &subject, &payload.memory);
    keel_status_t status = pack_payload(task, &payload, entry);
    keel_buffer_deinitialize(&program);
    return status;
}

static keel_status_t pack_unproved(executable_task_t *task, keel_entry_t *entry) {
    const keel_payload_t payload = {.executable = keel_bytes(task->payload, task->payload_size),
                                    .options = keel_bytes(task->options, task->options_size),
                                    .has_memory = task->has_memory,
                                    .memory = task->memory};
    return pack_payload(task, &payload, entry);
}

static keel_status_t prove(keel_engine_t *engine, executable_task_t *task, keel_entry_t *entry) {
    keel_mark_t mark;
    bool marked = tiers_mark(engine, NULL, &task->key.digest, NULL, &mark);
    PJRT_LoadedExecutable *loaded;
    uint64_t start = keel_clock_monotonic(), queued = keel_clock_queued();
    keel_status_t status = keel_pjrt_load(engine->api, task->task.client,
                                          keel_bytes(task->payload, task->payload_size),
                                          keel_bytes(task->options, task->options_size), &loaded);
    uint64_t took = keel_clock_monotonic() - start - keel_clock_queued_since(queued);
    if (!status) {
        status = pack(engine, task, loaded, entry);
        if (entry->payload_size >= KEEL_ENTRY_LARGE) entry->load_seconds = keel_seconds(took);
        keel_pjrt_destroy_loaded(engine->api, loaded);
    }
    if (marked) keel_store_unmark(&mark);
    if (status) proofs_failed(engine);
    return status;
}

// Anyone may kill a process during a proof; two in a row are not an accident, and a third would be
// lost for the cache's sake.
static keel_status_t check_crashes(unsigned crashes) {
    enum { CRASHES = 2 };
    if (crashes < CRASHES) return NULL;
    return keel_status_make(
        KEEL_REFUSED,
        "loading it back has crashed %u processes, so it is not tried again for "
        "a day (`keel cache clear` resets this)",
        crashes);
}

// Whether loading so many bytes may take longer than the compile did: only a proof tells.
static bool may_be_slow(const executable_task_t *task) {
    const double bytes_per_second = 64 << 20; // loads were three times as fast
    return task->payload_size >= KEEL_ENTRY_LARGE &&
           (double)task->payload_size > task->compile_seconds * bytes_per_second;
}

bool publish_slow(keel_engine_t *engine, const keel_tier_t *tier, double seconds,
                  keel_entry_t *entry) {
    bool is_known = entry->payload_size >= KEEL_ENTRY_LARGE && entry->compile_seconds > 0;
    if (!is_known || !engine->stores || seconds <= entry->compile_seconds) return false;
    if (tier && !tier->persists) return false; // it was loaded before
    if (tier && tier->fills) return false;     // most of that was its way here
    keel_entry_t record = *entry;
    record.payload = NULL;
    record.payload_size = 0;
    record.shared = NULL;
    record.load_seconds = seconds;
    char size[16], load[24], compile[24], text[256];
    keel_format_size(entry->payload_size, size);
    keel_format_seconds(seconds, load);
    keel_format_seconds(entry->compile_seconds, compile);
    snprintf(text, sizeof text,
             "loading its %s took %s, more than its compile of %s, so it is compiled each time",
             size, load, compile);
    keel_status_t status = tiers_put(engine, &record);
    if (status) {
        keel_journal_store_error(engine->journal, "put", &entry->key, keel_status_message(status));
        keel_status_ignore(status);
        return true;
    }
    const keel_journal_subject_t subject = {
        .program = &entry->program, .name = entry->name, .key = &entry->key};
    keel_journal_fallback(engine->journal, "slow", &subject, text);
    return true;
}

static keel_status_t publish_entry(keel_engine_t *engine, executable_task_t *task,
                                   keel_entry_t *entry, const char **out_step, bool *out_slow) {
    *out_slow = false;
    *out_step = "prove";
    unsigned crashes = tiers_crashes(engine, &task->key.digest);
    KEEL_TRY(check_crashes(crashes));
    entry->program = task->program;
    entry->compile_seconds = task->compile_seconds;
    KEEL_TRY(describe_entry(engine, &task->key, task->name, entry));
    task->is_proved |= crashes > 0 || may_be_slow(task);
    KEEL_TRY(task->is_proved ? prove(engine, task, entry) : pack_unproved(task, entry));
    if (crashes) tiers_forgive(engine, &task->key.digest);
    // The entry has its bytes by now, so this saves one copy while it is packed.
    keel_free(task->payload);
    task->payload = NULL;
    *out_step = "put";
    KEEL_TRY(keel_entry_share(entry));
    *out_slow = publish_slow(engine, NULL, entry->load_seconds, entry);
    return *out_slow ? NULL : tiers_put(engine, entry);
}

void publish_failed(keel_engine_t *engine, const char *step, const keel_key_t *key,
                    const char *name, keel_status_t status) {
    keel_log_once(step, "%s was compiled but is not cached: %s; the run continues",
                  *name ? name : "a program", keel_status_message(status));
    keel_journal_store_error(engine->journal, step, &key->digest, keel_status_message(status));
    keel_status_ignore(status);
}

// No proof: without the device nothing can be loaded. If the first process that has the device
// cannot load it either, it compiles it and sets this entry aside.
static keel_status_t put_compiled(keel_engine_t *engine, const keel_key_t *key,
                                  const keel_digest_t *program, const char *name,
                                  const keel_compiled_t *compiled) {
    const keel_payload_t payload = {
        .executable = keel_bytes(compiled->executable, compiled->executable_size),
        .format = keel_str(compiled->program_format),
        .program = keel_bytes(compiled->program, compiled->program_size),
        .has_memory = compiled->has_memory,
        .memory = compiled->memory};
    keel_entry_t entry;
    keel_entry_initialize(&entry);
    entry.program = *program;
    entry.compile_seconds = compiled->seconds;
    keel_status_t status = describe_entry(engine, key, name, &entry);
    if (!status) status = keel_payload_pack(&payload, &entry.payload, &entry.payload_size);
    if (!status) status = tiers_put(engine, &entry);
    keel_entry_deinitialize(&entry);
    return status;
}

void publish_compiled(keel_engine_t *engine, const keel_key_t *key, const keel_digest_t *program,
                      const char *name, const keel_compiled_t *compiled) {
    keel_status_t status = put_compiled(engine, key, program, name, compiled);
    if (status) {
        publish_failed(engine, "put", key, name, status);
        return;
    }
    if (!compiled->executable_size) return; // only its shardings (partition.h)
    keel_journal_publish(engine->journal,
                         &(keel_journal_publish_t){.key = &key->digest,
                                                   .name = name,
                                                   .payload_bytes = compiled->executable_size});
}

static void publish(keel_engine_t *engine, task_t *head) {
    executable_task_t *task = (executable_task_t *)head;
    keel_entry_t entry;
    keel_entry_initialize(&entry);
    const char *step;
    bool is_slow;
    keel_status_t status = publish_entry(engine, task, &entry, &step, &is_slow);
    if (status) {
        publish_failed(engine, step, &task->key, task->name, status);
    } else if (!is_slow) {
        keel_journal_publish(engine->journal,
                             &(keel_journal_publish_t){
                                 .key = &task->key.digest,
                                 .name = task->name,
                                 .payload_bytes = task->payload_size,
                                 .is_proved = task->is_proved,
                                 .seconds = keel_seconds(keel_clock_monotonic() - task->compiled),
                             });
    }
    keel_entry_deinitialize(&entry);
}

// Takes over the payload and the claims, also on failure.
static keel_status_t make_executable_task(const publication_t *publication,
                                          executable_task_t **out) {
    void *memory;
    *out = NULL;
    keel_status_t status = keel_calloc(1, sizeof(executable_task_t), &memory);
    if (status) {
        claims_t claims = publication->claims;
        keel_free(publication->payload);
        claims_release(&claims);
        return status;
    }
    *out = memory;
    **out = (executable_task_t){
        .task = {publication->client, publish, destroy_executable_task, NULL,
                 publication->compile_seconds},
        .program = *publication->program,
        .payload = publication->payload,
        .payload_size = publication->payload_size,
        .compile_seconds = publication->compile_seconds,
        .compiled = keel_clock_monotonic(),
        .is_proved = publication->is_proved,
        .has_memory = publication->has_memory,
        .memory = publication->memory,
        .claims = publication->claims,
    };
    keel_key_initialize(&(*out)->key);
    (*out)->options_size = publication->options.size;
    if (publication->options.size) KEEL_TRY(keel_bytes_dup(publication->options, &(*out)->options));
    KEEL_TRY(keel_key_copy(publication->key, &(*out)->key));
    return keel_strdup(keel_str(publication->name), &(*out)->name);
}

// Programs that are compiled faster than they are stored would have a claim each, and with it a
// descriptor of the client's process. Others that want one of them compile it as fast.
static void give_up_claims(keel_engine_t *engine, executable_task_t *task) {
    enum { CLAIMED = 48 };
    if (background_length(engine) >= CLAIMED) claims_release(&task->claims);
}

void publish_executable(keel_engine_t *engine, const publication_t *publication) {
    executable_task_t *task;
    keel_status_t status = make_executable_task(publication, &task);
    if (!status) give_up_claims(engine, task);
    if (!status) status = background_add(engine, &task->task);
    if (!status) return;
    if (task) destroy_executable_task(&task->task);
    engine_fell_through(engine, "publish", NULL, status);
}

// ---- programs ----------------------------------------------------------------------------------

typedef struct program_task_t {
    task_t task;
    keel_digest_t program;
    const char *format;
    bool is_whole; // its digest is not that of these bytes
    uint8_t *bytes;
    size_t size;
} program_task_t;

static void journal_program(keel_engine_t *engine, task_t *head) {
    const program_task_t *task = (const program_task_t *)head;
    const keel_bytes_t bytes = keel_bytes(task->bytes, task->size);
    if (task->is_whole)
        keel_journal_whole_program(engine->journal, &task->program, task->format, bytes);
    else
        keel_journal_program(engine->journal, &task->program, task->format, bytes);
}

static void destroy_program_task(task_t *head) {
    program_task_t *task = (program_task_t *)head;
    keel_free(task->bytes);
    keel_free(task);
}

static keel_status_t make_program_task(const keel_digest_t *program, const char *format,
                                       program_task_t **out) {
    void *memory;
    *out = NULL;
    KEEL_TRY(keel_calloc(1, sizeof(program_task_t), &memory));
    *out = memory;
    **out = (program_task_t){.task = {NULL, journal_program, destroy_program_task, NULL, 0},
                             .program = *program,
                             .format = format};
    return NULL;
}

// Takes over the task, if there is one.
static keel_status_t add_program_task(keel_engine_t *engine, program_task_t *task,
                                      keel_status_t status) {
    if (!status) status = background_add(engine, &task->task);
    if (status && task) destroy_program_task(&task->task);
    return status;
}

void publish_program(keel_engine_t *engine, const keel_digest_t *program, const char *format,
                     keel_bytes_t bytes) {
    enum { LARGE = 1 << 20 };
    if (!engine->journal) return;
    // Mostly an earlier run kept it, and then a large one is not copied.
    if (bytes.size >= LARGE && keel_journal_has_program(engine->journal, program, format)) return;
    program_task_t *task;
    keel_status_t status = make_program_task(program, format, &task);
    if (!status) {
        task->size = bytes.size;
        status = keel_bytes_dup(bytes, &task->bytes);
    }
    status = add_program_task(engine, task, status);
    if (status) engine_fell_through(engine, "journal", NULL, status);
}

keel_status_t publish_whole_program(keel_engine_t *engine, const keel_digest_t *program,
                                    const char *format, keel_buffer_t *bytes) {
    program_task_t *task;
    keel_status_t status = make_program_task(program, format, &task);
    if (!status) {
        task->is_whole = true;
        status = keel_buffer_take(bytes, &task->bytes, &task->size);
    }
    return add_program_task(engine, task, status);
}

void publish_options(keel_engine_t *engine, const keel_digest_t *options, keel_bytes_t bytes) {
    if (!engine->journal) return;
    if (once_first(engine->once, ONCE_OPTIONS, keel_bytes(options->bytes, KEEL_DIGEST_SIZE)))
        publish_program(engine, options, "options", bytes);
}
