#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/internal.h"
#include "read/read.h"

// One Compile call of the client.
typedef struct request_t {
    keel_engine_t *engine;
    PJRT_Client_Compile_Args *args;
    const client_t *client;
    keel_bytes_t code;
    const char *format; // "mlir", "hlo", or the client's own word for another
    keel_arena_t arena; // of what follows
    keel_digest_t program;
    const char *name; // of the module
    uint32_t ops;
    site_t site;
    keel_key_t key;
    keel_cacheable_t cacheable;
    bool recompile;
    uint64_t started;
    uint64_t in_plugin; // nanoseconds
} request_t;

static keel_journal_subject_t subject_of(const request_t *request) {
    return (keel_journal_subject_t){
        .program = &request->program, .name = request->name, .key = &request->key.digest};
}

static double overhead(const request_t *request) {
    return keel_seconds(keel_clock_monotonic() - request->started - request->in_plugin);
}

static PJRT_Error *call_plugin(keel_engine_t *engine, PJRT_Client_Compile_Args *args) {
    return engine->api->PJRT_Client_Compile(args);
}

// ---- read and key ------------------------------------------------------------------------------

// A program that no reader understands is keyed by its bytes. Names of operations stand in the
// bytes of either format as plain text, so where none of these occurs the program has no operation
// that could embed what differs behind equal bytes.
static void check_bytes(request_t *request) {
    static const char *const suspicious[] = {"custom_call", "custom-call", "send",
                                             "recv",        "infeed",      "outfeed"};
    request->cacheable.yes = true;
    for (size_t i = 0; i < sizeof suspicious / sizeof *suspicious; ++i) {
        if (!memmem(request->code.data, request->code.size, suspicious[i], strlen(suspicious[i])))
            continue;
        request->cacheable.yes = false;
        snprintf(request->cacheable.reason, sizeof request->cacheable.reason,
                 "it could not be read, and its bytes mention %s", suspicious[i]);
        return;
    }
}

static keel_status_t key_by_bytes(request_t *request) {
    keel_buffer_t canonical;
    keel_buffer_initialize(&canonical, 0);
    keel_buffer_format(&canonical, "bytes of format %s: ", request->format);
    keel_buffer_append(&canonical, request->program.bytes, KEEL_DIGEST_SIZE);
    keel_status_t status = keel_buffer_status(&canonical);
    if (!status)
        status = keel_key_set(&request->key, KEEL_COMPONENT_PROGRAM, keel_buffer_bytes(&canonical),
                              KEEL_STR("keyed by its bytes"));
    keel_buffer_deinitialize(&canonical);
    check_bytes(request);
    return status;
}

static keel_status_t key_program(request_t *request, const keel_program_t *program) {
    keel_digest_t digest;
    keel_bytes_t options =
        keel_bytes(request->args->compile_options, request->args->compile_options_size);
    KEEL_TRY(keel_key_program_under(program, options, &digest));
    KEEL_TRY(keel_key_set(&request->key, KEEL_COMPONENT_PROGRAM,
                          keel_bytes(digest.bytes, KEEL_DIGEST_SIZE), KEEL_STR("")));
    keel_key_cacheable(program,
                       keel_settings_text(&request->engine->settings, KEEL_SETTING_CUSTOM_CALLS),
                       &request->cacheable);
    return NULL;
}

static keel_status_t read_and_key(request_t *request, keel_program_t *program) {
    if (strcmp(request->format, "mlir") == 0 && !keel_read_is_mlir(request->code))
        return keel_status_make(KEEL_UNSUPPORTED, "MLIR as text is not read, only bytecode");
    if (strcmp(request->format, "mlir") == 0)
        KEEL_TRY(keel_read_mlir(request->code, program));
    else if (strcmp(request->format, "hlo") == 0)
        KEEL_TRY(keel_read_hlo(request->code, program));
    else
        return keel_status_make(KEEL_UNSUPPORTED, "programs of format %s are not read",
                                request->format);
    keel_str_t name = keel_program_str(program, program->name), kept;
    KEEL_TRY(keel_arena_str(&request->arena, name, &kept));
    request->name = kept.data;
    request->ops = keel_program_op_count(program);
    site_of_program(program, &request->arena, &request->site);
    return key_program(request, program);
}

static keel_status_t set_program(request_t *request) {
    keel_program_t program;
    keel_program_initialize(&program);
    keel_status_t status = read_and_key(request, &program);
    keel_program_deinitialize(&program);
    if (!status || keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_journal_subject_t subject = {.program = &request->program, .name = request->name};
    keel_log_once("unread", "a program is not understood and keyed by its bytes: %s",
                  keel_status_message(status));
    keel_journal_fallback(request->engine->journal, "read", &subject, keel_status_message(status));
    keel_status_ignore(status);
    return key_by_bytes(request);
}

static keel_status_t set_options(request_t *request) {
    keel_buffer_t canonical, assignment, readable;
    keel_buffer_initialize(&canonical, 0);
    keel_buffer_initialize(&assignment, 0);
    keel_buffer_initialize(&readable, 0);
    bool understood = false;
    keel_status_t status = keel_key_options(
        keel_bytes(request->args->compile_options, request->args->compile_options_size), &canonical,
        &assignment, &readable, &understood);
    if (!status)
        status = keel_key_set(&request->key, KEEL_COMPONENT_OPTIONS, keel_buffer_bytes(&canonical),
                              keel_bytes_str(keel_buffer_bytes(&readable)));
    if (!status)
        status = keel_key_set(&request->key, KEEL_COMPONENT_DEVICE_ASSIGNMENT,
                              keel_buffer_bytes(&assignment), KEEL_STR(""));
    if (!status && !understood)
        keel_journal_fallback(request->engine->journal, "options", NULL,
                              "the compile options are not understood and keyed by their bytes");
    keel_buffer_deinitialize(&canonical);
    keel_buffer_deinitialize(&assignment);
    keel_buffer_deinitialize(&readable);
    return status;
}

// Has this traced function (a module's name and where it comes from) been seen under another key?
static keel_status_t note_name(request_t *request) {
    keel_engine_t *engine = request->engine;
    const char *origin = request->site.origin ? request->site.origin : "";
    size_t name_size = strlen(request->name) + 1, length = name_size + strlen(origin);
    void *memory;
    KEEL_TRY(keel_arena_alloc(&request->arena, length + 1 + KEEL_DIGEST_SIZE, &memory));
    uint8_t *keyed = memory;
    memcpy(keyed, request->name, name_size);
    memcpy(keyed + name_size, origin, length - name_size + 1);
    memcpy(keyed + length + 1, request->key.digest.bytes, KEEL_DIGEST_SIZE);
    keel_bytes_t name = keel_bytes(keyed, length);
    keel_bytes_t name_and_key = keel_bytes(keyed, length + 1 + KEEL_DIGEST_SIZE);
    pthread_mutex_lock(&engine->lock);
    request->recompile = *request->name && keel_map_find(&engine->names, name) &&
                         !keel_map_find(&engine->names, name_and_key);
    keel_status_t status = keel_map_put(&engine->names, name, 1);
    if (!status) status = keel_map_put(&engine->names, name_and_key, 1);
    pthread_mutex_unlock(&engine->lock);
    return status;
}

static keel_status_t understand(request_t *request) {
    request->program = keel_digest(request->code);
    KEEL_TRY(keel_key_copy(&request->client->backend, &request->key));
    KEEL_TRY(set_program(request));
    KEEL_TRY(set_options(request));
    KEEL_TRY(keel_key_finish(&request->key));
    return note_name(request);
}

// ---- load --------------------------------------------------------------------------------------

static void count_executions(request_t *request, keel_journal_counts_t *out) {
    uint64_t total;
    *out = (keel_journal_counts_t){0};
    keel_status_ignore(executables_collect(&request->engine->executables, out, &total));
}

static void journal_load(request_t *request, const keel_tier_t *tier, const keel_entry_t *entry,
                         size_t payload_size) {
    keel_journal_counts_t counts;
    count_executions(request, &counts);
    keel_journal_load(request->engine->journal, &(keel_journal_load_t){
                                                    .subject = subject_of(request),
                                                    .tier = tier->name,
                                                    .seconds = keel_seconds(request->in_plugin),
                                                    .overhead_seconds = overhead(request),
                                                    .ops = request->ops,
                                                    .bytes = request->code.size,
                                                    .payload_bytes = payload_size,
                                                    .compile_seconds = entry->compile_seconds,
                                                    .format = request->format,
                                                    .site = request->site.line,
                                                    .recompile = request->recompile,
                                                    .executes = counts,
                                                });
    keel_free((void *)(uintptr_t)counts.data);
}

static keel_status_t load_marked(request_t *request, bool from_disk, const keel_entry_t *entry,
                                 PJRT_LoadedExecutable **out) {
    keel_engine_t *engine = request->engine;
    keel_payload_t payload;
    KEEL_TRY(keel_payload_unpack(keel_bytes(entry->payload, entry->payload_size), &payload));
    keel_mark_t mark;
    bool marked = false;
    if (from_disk && engine->settings.mode != KEEL_MODE_READONLY) {
        keel_status_t status =
            keel_store_mark(engine_cache_dir(engine), &request->key.digest, &mark);
        marked = !status;
        keel_status_ignore(status);
    }
    uint64_t start = keel_clock_monotonic();
    keel_status_t status =
        keel_pjrt_load(engine->api, request->args->client, payload.executable, out);
    request->in_plugin += keel_clock_monotonic() - start;
    if (marked) keel_store_unmark(&mark);
    return status;
}

static void reject_entry(request_t *request, bool from_disk, keel_status_t status) {
    keel_engine_t *engine = request->engine;
    const char *message = keel_status_message(status);
    keel_log_once("load", "a stored program does not load and is compiled anew: %s", message);
    keel_journal_store_error(engine->journal, "load", &request->key.digest, message);
    keel_status_ignore(status);
    if (engine->settings.mode == KEEL_MODE_READONLY) return;
    if (engine->memory.remove)
        keel_status_ignore(engine->memory.remove(engine->memory.context, &request->key.digest));
    if (from_disk)
        keel_status_ignore(
            keel_store_quarantine(engine_cache_dir(engine), &request->key.digest, "does not load"));
}

// Hands the executable to the client, its bytes (taken over) to the table. An executable whose
// bytes are not at hand could not be serialized, so it is none to hand out.
static bool hand_out(request_t *request, PJRT_LoadedExecutable *loaded, uint8_t *data,
                     size_t size) {
    keel_engine_t *engine = request->engine;
    keel_status_t status =
        executables_add(&engine->executables, loaded, &request->program, data, size);
    if (!status) {
        request->args->executable = loaded;
        return true;
    }
    keel_pjrt_destroy_loaded(engine->api, loaded);
    engine_fell_through(engine, "load", NULL, status);
    return false;
}

// True where the client has its executable.
static bool load_from(request_t *request, const keel_tier_t *tier, keel_miss_t *out_miss) {
    keel_engine_t *engine = request->engine;
    bool from_disk = tier == &engine->disk;
    *out_miss = KEEL_MISS_ABSENT;
    if (!tier->get) return false;
    keel_entry_t entry;
    keel_entry_initialize(&entry);
    keel_status_t status = tier->get(tier->context, &request->key.digest, &entry, out_miss);
    if (status) {
        if (*out_miss != KEEL_MISS_ABSENT)
            keel_journal_store_error(engine->journal, "get", &request->key.digest,
                                     keel_status_message(status));
        keel_status_ignore(status);
        return false;
    }
    PJRT_LoadedExecutable *loaded;
    status = load_marked(request, from_disk, &entry, &loaded);
    if (status) {
        reject_entry(request, from_disk, status);
        *out_miss = KEEL_MISS_DAMAGED;
        keel_entry_deinitialize(&entry);
        return false;
    }
    if (from_disk && engine->memory.put)
        keel_status_ignore(engine->memory.put(engine->memory.context, &entry));
    size_t payload_size = entry.payload_size;
    bool handed_out = hand_out(request, loaded, entry.payload, payload_size);
    entry.payload = NULL;
    if (handed_out) journal_load(request, tier, &entry, payload_size);
    keel_entry_deinitialize(&entry);
    return handed_out;
}

static bool load(request_t *request, keel_miss_t *out_miss) {
    keel_engine_t *engine = request->engine;
    if (!engine->looks_up) {
        *out_miss = KEEL_MISS_ABSENT;
        return false;
    }
    return load_from(request, &engine->memory, out_miss) ||
           load_from(request, &engine->disk, out_miss);
}

// ---- compile -----------------------------------------------------------------------------------

static void waiting(void *context, const char *holder) {
    const request_t *request = context;
    keel_log_once("waiting", "waiting for %s, which is being compiled by %s",
                  *request->name ? request->name : "a program", holder);
}

// Everyone else who needs this key waits until it is stored, and takes over when we die. Not among
// processes that compile one program together: they must not wait for each other here.
static bool claim(request_t *request, keel_claim_t *out) {
    keel_engine_t *engine = request->engine;
    *out = (keel_claim_t){.lock = {.descriptor = -1}};
    if (!engine->stores || request->client->process_count > 1) return false;
    char host[256] = "", holder[512], since[24];
    gethostname(host, sizeof host - 1);
    keel_clock_iso(keel_clock_wall(), since);
    snprintf(holder, sizeof holder, "pid %d on %s since %s", (int)engine->pid, host, since);
    keel_status_t status = keel_store_claim(engine_cache_dir(engine), &request->key.digest, holder,
                                            waiting, request, out);
    if (!status) return true;
    keel_journal_store_error(engine->journal, "claim", &request->key.digest,
                             keel_status_message(status));
    keel_status_ignore(status);
    *out = (keel_claim_t){.lock = {.descriptor = -1}};
    return false;
}

static void journal_compile(request_t *request) {
    keel_journal_counts_t counts;
    count_executions(request, &counts);
    keel_journal_compile(request->engine->journal, &(keel_journal_compile_t){
                                                       .subject = subject_of(request),
                                                       .seconds = keel_seconds(request->in_plugin),
                                                       .overhead_seconds = overhead(request),
                                                       .ops = request->ops,
                                                       .bytes = request->code.size,
                                                       .format = request->format,
                                                       .site = request->site.line,
                                                       .recompile = request->recompile,
                                                       .uncacheable = !request->cacheable.yes,
                                                       .executes = counts,
                                                   });
    keel_free((void *)(uintptr_t)counts.data);
}

// Before the client has it: the first execution may settle what cannot be serialized from then on
// (XLA CPU: the comparison of a sort), and the client may destroy it at any time.
static keel_status_t serialize(request_t *request, uint8_t **out, size_t *out_size) {
    const PJRT_Api *api = request->engine->api;
    PJRT_Executable *executable;
    KEEL_TRY(keel_pjrt_executable(api, request->args->executable, &executable));
    keel_status_t status = keel_pjrt_serialize(api, executable, out, out_size);
    keel_pjrt_destroy_executable(api, executable);
    return status;
}

// The plugin's own words, for the journal; the client gets the error itself.
static void journal_refusal(request_t *request, const PJRT_Error *error) {
    PJRT_Error_Message_Args args = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                    .error = error};
    request->engine->api->PJRT_Error_Message(&args);
    char message[512];
    snprintf(message, sizeof message, "%.*s",
             (int)(args.message_size < sizeof message ? args.message_size : sizeof message),
             args.message);
    keel_journal_subject_t subject = subject_of(request);
    keel_journal_compile_error(request->engine->journal, &subject, message);
}

static PJRT_Error *compile(request_t *request, keel_claim_t *held) {
    keel_engine_t *engine = request->engine;
    uint64_t start = keel_clock_monotonic();
    PJRT_Error *error = call_plugin(engine, request->args);
    uint64_t took = keel_clock_monotonic() - start;
    request->in_plugin += took;
    if (error) {
        keel_store_release(held);
        journal_refusal(request, error);
        return error;
    }
    keel_status_t status = executables_add(&engine->executables, request->args->executable,
                                           &request->program, NULL, 0);
    if (status) engine_fell_through(engine, "count", NULL, status);
    publication_t publication = {.client = request->args->client,
                                 .key = &request->key,
                                 .program = &request->program,
                                 .name = request->name,
                                 .compile_seconds = keel_seconds(took),
                                 .claim = *held};
    bool publishes = engine->stores && request->cacheable.yes;
    status = publishes ? serialize(request, &publication.payload, &publication.payload_size) : NULL;
    journal_compile(request);
    if (publishes && !status) {
        publisher_publish(engine, &publication);
        return NULL;
    }
    if (status) publisher_failed(engine, "serialize", &request->key, request->name, status);
    keel_store_release(held);
    return NULL;
}

static PJRT_Error *compile_uncacheable(request_t *request) {
    keel_journal_uncacheable(request->engine->journal,
                             &(keel_journal_uncacheable_t){.subject = subject_of(request),
                                                           .reason = request->cacheable.reason,
                                                           .target = request->cacheable.target});
    keel_claim_t none = {.lock = {.descriptor = -1}};
    return compile(request, &none);
}

static PJRT_Error *load_or_compile(request_t *request) {
    keel_engine_t *engine = request->engine;
    if (!request->cacheable.yes) return compile_uncacheable(request);
    keel_miss_t miss;
    if (load(request, &miss)) return NULL;
    keel_claim_t held;
    keel_miss_t after_claim;
    if (claim(request, &held) && load(request, &after_claim)) {
        keel_store_release(&held);
        return NULL;
    }
    keel_journal_miss(engine->journal, &(keel_journal_miss_t){.subject = subject_of(request),
                                                              .reason = keel_miss_name(miss),
                                                              .key = &request->key});
    return compile(request, &held);
}

// ---- the call ----------------------------------------------------------------------------------

static const client_t *client_of(keel_engine_t *engine, const PJRT_Client *client) {
    pthread_mutex_lock(&engine->lock);
    const client_t *found = engine->clients;
    while (found && found->client != client)
        found = found->next;
    pthread_mutex_unlock(&engine->lock);
    return found;
}

static keel_status_t begin(keel_engine_t *engine, PJRT_Client_Compile_Args *args,
                           request_t *request) {
    *request = (request_t){.engine = engine,
                           .args = args,
                           .name = "",
                           .started = keel_clock_monotonic(),
                           .code = keel_bytes(args->program->code, args->program->code_size)};
    keel_arena_initialize(&request->arena, 0);
    keel_key_initialize(&request->key);
    request->client = client_of(engine, args->client);
    if (!request->client)
        return keel_status_make(KEEL_UNSUPPORTED, "the backend of this client could not be read");
    keel_str_t format;
    KEEL_TRY(keel_arena_str(
        &request->arena, (keel_str_t){args->program->format, args->program->format_size}, &format));
    request->format = format.data;
    return understand(request);
}

static void end(request_t *request) {
    keel_key_deinitialize(&request->key);
    keel_arena_deinitialize(&request->arena);
}

PJRT_Error *keel_engine_compile(keel_engine_t *engine, PJRT_Client_Compile_Args *args) {
    if (atomic_load(&engine->ended) || getpid() != engine->pid) return call_plugin(engine, args);
    request_t request;
    keel_status_t status = begin(engine, args, &request);
    if (status) {
        end(&request);
        engine_fell_through(engine, "compile", NULL, status);
        return call_plugin(engine, args);
    }
    const char *known = strcmp(request.format, "hlo") == 0 ? "hlo" : "mlir";
    publisher_keep_program(engine, &request.program, known, request.code);
    PJRT_Error *error = load_or_compile(&request);
    end(&request);
    return error;
}
