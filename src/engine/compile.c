// The way of one program (engine.h), from top to bottom.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/background.h"
#include "engine/compile.h"
#include "engine/counters.h"
#include "engine/executables.h"
#include "engine/flow.h"
#include "engine/fork.h"
#include "engine/host_ops.h"
#include "engine/memory.h"
#include "engine/partition.h"
#include "engine/prefetch.h"
#include "engine/progress.h"
#include "engine/proofs.h"
#include "engine/publish.h"
#include "engine/rehearsal.h"
#include "engine/release.h"
#include "engine/request.h"
#include "engine/steps.h"
#include "engine/tiers.h"
#include "engine/topologies.h"
#include "engine/verdict.h"
#include "pjrt/error.h"

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

// The options may be others than the client's by now.
static PJRT_Error *call_plugin_unloaded(const request_t *request) {
    PJRT_Compile_Args args = *request->unloaded;
    args.compile_options = request->args->compile_options;
    args.compile_options_size = request->args->compile_options_size;
    PJRT_Error *error = request->engine->api->PJRT_Compile(&args);
    request->unloaded->executable = args.executable;
    return error;
}

static const char *format_of(const request_t *request) {
    return strcmp(request->format, "hlo") == 0 ? "hlo" : "mlir";
}

made_of_t compile_made_of(const request_t *request) {
    made_of_t made_of = {request->program, request->options, ""};
    bool is_known = request->kind != REQUEST_ELSEWHERE;
    if (is_known && strlen(request->format) < sizeof made_of.format)
        snprintf(made_of.format, sizeof made_of.format, "%s", request->format);
    return made_of;
}

// So that it is known once the client serializes it.
static void take_unloaded(const request_t *request) {
    const made_of_t made_of = compile_made_of(request);
    keel_status_ignore(
        executables_add_unloaded(request->engine, request->unloaded->executable, &made_of));
}

// ---- load --------------------------------------------------------------------------------------

// So that the step is known in which the program was asked for.
typedef struct executed_t {
    keel_journal_counts_t counts;
    keel_journal_leading_t leading;
} executed_t;

static executed_t count_executions(request_t *request) {
    executed_t executed = {0};
    bool is_all;
    steps_journal(request->engine);
    keel_status_ignore(counters_collect_few(request->engine->counters, &executed.counts, &is_all));
    if (!is_all) steps_leading(request->engine, &executed.leading);
    return executed;
}

// A client may ask for a program again and again, as one that jits in a loop does.
static void count_retrace(request_t *request, keel_journal_load_t *event) {
    event->step = request->ask.when.step;
    steps_leading(request->engine, &event->leading);
    request->repeat = repeats_add(request->engine, event, request->asked_before);
    event->times = request->repeat == REPEAT_WRITTEN;
}

void compile_journal_load(request_t *request, const char *tier, const keel_entry_t *entry,
                          uint64_t ahead) {
    keel_journal_load_t event = {
        .subject = subject_of(request),
        .tier = tier,
        .by = request->loader,
        .seconds = keel_seconds(request->in_plugin),
        .ahead_seconds = keel_seconds(ahead),
        .overhead_seconds = overhead(request),
        .traced_seconds = request->traced,
        .lowered_seconds = request->lowered,
        .ops = request->ops,
        .bytes = request->size,
        .payload_bytes = entry->payload_size,
        .compile_seconds = entry->compile_seconds,
        .format = request->format,
        .options = &request->options,
        .site = engine_site(&request->site.place),
        .recompile = request->recompile,
        .is_eager = request->is_eager,
        .has_gradient = request->has_gradient,
    };
    if (request->is_retrace && !ahead) count_retrace(request, &event);
    if (request->repeat == REPEAT_COUNTED) return;
    event.number = counters_name(request->engine->counters, &request->program);
    executed_t executed = count_executions(request);
    event.executes = executed.counts;
    if (!event.times) event.leading = executed.leading;
    keel_journal_load(request->engine->journal, &event);
    keel_free((void *)(uintptr_t)executed.counts.data);
}

// See gang.c and release.c. If it cannot join a gang, the client's executable runs alone.
void compile_join(request_t *request, const PJRT_LoadedExecutable *loaded) {
    keel_engine_t *engine = request->engine;
    bool is_of_torch_tpu = keel_torch_tpu_is_name(keel_str(request->name));
    if (request->replicas || (is_of_torch_tpu && request->client->is_cpu)) release_begin(engine);
    if (!request->replicas || !request->client->gates_replicas) return;
    const gang_program_t program = {.client = request->args->client,
                                    .key = &request->key.digest,
                                    .name = request->name,
                                    .replicas = request->replicas};
    keel_status_t status =
        request->cacheable.yes
            ? executables_join(engine, loaded, &program)
            : keel_status_make(KEEL_UNSUPPORTED,
                               "%s is for %llu replicas and not cacheable (%s), so they cannot "
                               "share an executable: this plugin deadlocks if each thread executes "
                               "its own",
                               request->name, (unsigned long long)request->replicas,
                               request->cacheable.reason);
    if (status) engine_fell_through(engine, "replicas", NULL, status);
}

// Hands the executable to the client, and its bytes (taken over) to the table. Without its bytes a
// reloaded executable could not be serialized, so then it is not handed out.
static bool hand_out(request_t *request, PJRT_LoadedExecutable *loaded, keel_shared_t *shared,
                     keel_bytes_t payload) {
    keel_engine_t *engine = request->engine;
    const made_of_t made_of = compile_made_of(request);
    keel_status_t status = executables_add(engine, loaded, &made_of, shared, payload);
    if (!status) {
        compile_join(request, loaded);
        request->args->executable = loaded;
        return true;
    }
    keel_pjrt_destroy_loaded(engine->api, loaded);
    engine_fell_through(engine, "load", NULL, status);
    return false;
}

static bool is_one_of_few(const request_t *request) {
    return !request->is_retrace || request->asked_before <= REPEATS_EXPLAINED;
}

// A program that is refused is so each time: the first times are enough.
static bool is_explained(const request_t *request) {
    if (request->ask.kind == KEEL_ASK_REFUSED) return is_one_of_few(request);
    return request->repeat == REPEAT_EXPLAINED;
}

// A plain load is not explained, but later programs are compared with it. For an operation that
// runs on its own, JAX may make the same program twice (for a weak type and for a strong one):
// nobody can avoid that.
void compile_note_load(request_t *request, double compile_seconds) {
    bool is_retrace = request->is_retrace && !request->is_eager;
    request->ask.kind = is_retrace           ? KEEL_ASK_RETRACE
                        : request->recompile ? KEEL_ASK_LOAD
                                             : KEEL_ASK_NOTE;
    request->ask.compile_seconds = compile_seconds;
    request->handed_out = true;
    if (!request->is_eager && is_explained(request))
        ask_call(request->engine, &request->arena, &request->ask, &request->site);
}

// True if the client has its executable. `ahead`: nanoseconds that its load took before the client
// asked.
static bool hand_out_entry(request_t *request, loaded_entry_t *loaded, uint64_t ahead) {
    keel_engine_t *engine = request->engine;
    keel_entry_t *entry = &loaded->entry;
    const keel_bytes_t payload = keel_bytes(entry->payload, entry->payload_size);
    tiers_promote(engine, loaded->tier, entry);
    request->answer = loaded->answer;
    if (request->unloaded) {
        request->unloaded->executable = loaded->unloaded;
        take_unloaded(request);
        compile_journal_load(request, loaded->tier->name, entry, ahead);
        compile_note_load(request, entry->compile_seconds);
        keel_entry_deinitialize(entry);
        return true;
    }
    bool handed_out =
        hand_out(request, loaded->executable, keel_shared_retain(entry->shared), payload);
    if (handed_out) compile_journal_load(request, loaded->tier->name, entry, ahead);
    if (handed_out) compile_note_load(request, entry->compile_seconds);
    publish_slow(engine, loaded->tier, keel_seconds(loaded->total), entry);
    keel_entry_deinitialize(entry);
    return handed_out;
}

bool compile_load_ahead(request_t *request, keel_miss_t *out_miss) {
    prefetched_t ahead;
    keel_engine_t *engine = request->engine;
    *out_miss = KEEL_MISS_ABSENT;
    // What was loaded ahead wrote no dumps.
    if (request->unloaded || request->dumps.flag) return false;
    bool taken = prefetch_take(engine, request->args->client, &request->key.digest, &ahead);
    request->in_plugin += ahead.waited;
    *out_miss = ahead.miss;
    return taken && hand_out_entry(request, &ahead.loaded, ahead.loaded.nanoseconds);
}

static keel_bytes_t dump_options(const request_t *request) {
    if (!request->dumps.flag) return keel_bytes("", 0);
    return keel_bytes(request->args->compile_options, request->args->compile_options_size);
}

// That of the entry; if that has none, the one that the plugin has of what it loaded.
static keel_status_t find_optimized(const request_t *request, const loaded_entry_t *loaded,
                                    keel_buffer_t *room, keel_payload_t *payload) {
    const keel_entry_t *entry = &loaded->entry;
    PJRT_Executable *executable = NULL;
    KEEL_TRY(keel_payload_unpack(keel_bytes(entry->payload, entry->payload_size), payload));
    if (payload->program.size || request->unloaded) return NULL;
    const PJRT_Api *api = request->engine->api;
    keel_status_t status = keel_pjrt_executable(api, loaded->executable, &executable);
    if (!status) status = keel_pjrt_optimized_program(api, executable, room, &payload->format);
    if (!status) payload->program = keel_buffer_bytes(room);
    keel_pjrt_destroy_executable(api, executable);
    keel_status_ignore(status);
    return NULL;
}

static void dump(request_t *request, const loaded_entry_t *loaded, uint64_t began) {
    keel_payload_t payload;
    keel_buffer_t room;
    uint8_t *owned = NULL;
    keel_buffer_initialize(&room, 0);
    keel_status_t status = find_optimized(request, loaded, &room, &payload);
    if (!status) status = keel_payload_expand(&payload, &owned);
    if (!status) status = request_make_whole(request);
    if (!status)
        dumps_write(&(dumps_loaded_t){.folder = request->dumps.folder,
                                      .name = request->name,
                                      .format = request->format,
                                      .code = request->code,
                                      .optimized_format = payload.format,
                                      .optimized = payload.program,
                                      .began = began});
    keel_buffer_deinitialize(&room);
    keel_free(owned);
    keel_status_ignore(status);
}

static bool load_stored(request_t *request, keel_miss_t *out_miss) {
    keel_engine_t *engine = request->engine;
    loaded_entry_t loaded;
    *out_miss = KEEL_MISS_ABSENT;
    if (!engine->looks_up) return false;
    uint64_t began = keel_clock_wall();
    bool found = request->unloaded ? load_entry_unloaded(engine, request->args,
                                                         &request->key.digest, &loaded, out_miss)
                                   : load_entry(engine, request->args, dump_options(request),
                                                &request->key.digest, &loaded, out_miss);
    if (found && request->dumps.flag) dump(request, &loaded, began);
    request->in_plugin += loaded.nanoseconds;
    request->slow_seconds = loaded.slow_seconds;
    return found && hand_out_entry(request, &loaded, 0);
}

static bool load(request_t *request, keel_miss_t *out_miss) {
    *out_miss = KEEL_MISS_ABSENT;
    if (request->dumps.by_compiling) return false;
    if (compile_load_ahead(request, out_miss)) return true;
    bool is_open = *out_miss == KEEL_MISS_ABSENT || *out_miss == KEEL_MISS_SLOW;
    return is_open && load_stored(request, out_miss);
}

// ---- compile -----------------------------------------------------------------------------------

// A function may ask again for what is not kept.
static void note_compile(request_t *request) {
    keel_engine_t *engine = request->engine;
    const keel_journal_subject_t subject = subject_of(request);
    const keel_journal_site_t site = engine_site(&request->site.place);
    bool is_retrace = request->is_retrace && !request->is_eager;
    request->ask.kind = is_retrace ? KEEL_ASK_RETRACE : KEEL_ASK_COMPILE;
    request->repeat = is_one_of_few(request) ? REPEAT_EXPLAINED : REPEAT_WRITTEN;
    if (is_retrace)
        request->repeat = repeats_compiled(engine, &subject, &site, request->asked_before);
    if (!is_explained(request)) return;
    ask_names(engine, &request->arena, &request->ask, &request->site);
    ask_call(engine, &request->arena, &request->ask, &request->site);
}

// What was compiled with dumps is kept only if it can be loaded without them.
static bool is_kept(const request_t *request) {
    return request->cacheable.yes && (!request->dumps.flag || request->load_options.size);
}

static void waiting(void *context, const char *holder) {
    const request_t *request = context;
    if (request->engine->target) return; // all hosts of a rehearsal ask at the same time
    keel_log_once("waiting", "waiting for %s, which is being compiled by %s",
                  *request->name ? request->name : "a program", holder);
}

// Nanoseconds after which another process that compiles this program is unlikely to finish. If the
// program has never been compiled, assumes a tenth of a second per operation, three times what a
// train step compiled for an H200 took.
static uint64_t patience(const request_t *request) {
    double last = prefetch_last_seconds(request->engine, request->name, request->ops);
    double expected = last > 0 ? last : (double)request->ops * 0.1;
    return (uint64_t)((30 + 5 * expected) * 1e9);
}

static void report_beside(void *context, const char *why) {
    const request_t *request = context;
    keel_log_once("claim", "%s is being compiled here too: %s",
                  *request->name ? request->name : "a program", why);
}

// Every other process that needs this key waits until it is stored, and takes over if this one
// dies. Not used among processes that compile one program together: they must not wait for each
// other here.
static bool claim(request_t *request, claims_t *out) {
    keel_engine_t *engine = request->engine;
    *out = (claims_t){0};
    if (!engine->stores) return false;
    // In a rehearsal nothing is compiled together, and a compile goes on without its client.
    bool waits = engine->target ? engine->target->process_count > 1 && !request->asked_before
                                : request->client->process_count == 1;
    if (!waits) return false;
    char host[256] = "", holder[512], since[24];
    gethostname(host, sizeof host - 1);
    keel_clock_iso(keel_clock_wall(), since);
    snprintf(holder, sizeof holder, "pid %d on %s since %s", (int)engine->pid, host, since);
    const keel_claimant_t claimant = {
        .name = holder, .patience = patience(request), .waiting = waiting, .context = request};
    return claims_take(engine, &request->key.digest, &claimant, report_beside, out);
}

static void journal_compile(request_t *request) {
    uint64_t number = counters_name(request->engine->counters, &request->program);
    bool is_among_others = request->repeat == REPEAT_WRITTEN && !request->is_eager;
    executed_t executed = count_executions(request);
    keel_journal_compile(request->engine->journal,
                         &(keel_journal_compile_t){
                             .subject = subject_of(request),
                             .seconds = keel_seconds(request->in_plugin),
                             .overhead_seconds = overhead(request),
                             .traced_seconds = request->traced,
                             .lowered_seconds = request->lowered,
                             .ops = request->ops,
                             .bytes = request->size,
                             .format = request->format,
                             .options = &request->options,
                             .site = engine_site(&request->site.place),
                             .number = number,
                             .recompile = request->recompile,
                             .is_eager = request->is_eager,
                             .has_gradient = request->has_gradient,
                             .uncacheable = !is_kept(request),
                             .rehearsed = request->rehearsed,
                             .is_guess = request->is_guess,
                             .partition_seconds = request->partition_seconds,
                             .times = is_among_others,
                             .executes = executed.counts,
                             .leading = executed.leading,
                         });
    keel_free((void *)(uintptr_t)executed.counts.data);
}

// Before the client gets it: the first execution may resolve parts that cannot be serialized
// afterwards (XLA CPU: the comparison of a sort), and the client may destroy it at any time.
static keel_status_t serialize(request_t *request, uint8_t **out, size_t *out_size) {
    const PJRT_Api *api = request->engine->api;
    PJRT_Executable *executable;
    KEEL_TRY(keel_pjrt_executable(api, request->args->executable, &executable));
    keel_status_t status = keel_pjrt_serialize(api, executable, out, out_size);
    keel_pjrt_destroy_executable(api, executable);
    return status;
}

static void write_refusal(request_t *request, const char *code, const char *message) {
    keel_journal_subject_t subject = subject_of(request);
    keel_journal_site_t site = engine_site(&request->site.place);
    keel_journal_compile_error(request->engine->journal, &subject, &site, code, message);
}

// The plugin's own message, for the journal; the client gets the error itself.
static void journal_refusal(request_t *request, const PJRT_Error *error) {
    PJRT_Error_Message_Args args = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                    .error = error};
    request->engine->api->PJRT_Error_Message(&args);
    char message[2048];
    snprintf(message, sizeof message, "%.*s",
             (int)(args.message_size < sizeof message ? args.message_size : sizeof message),
             args.message);
    write_refusal(request, keel_pjrt_error_code(request->engine->api, error), message);
}

// The client has an executable; its compiler may have it longer, and the claims until then. If the
// client had this program before, only the client made it anew: with the device it would come from
// memory.
static void rehearse(request_t *request, claims_t *held) {
    if (request->asked_before) {
        claims_release(held);
        const keel_entry_t none = {.payload_size = 0};
        compile_journal_load(request, "memory", &none, 0);
        compile_note_load(request, 0);
        return;
    }
    const rehearsed_t rehearsed = {.key = &request->key,
                                   .program = &request->program,
                                   .name = request->name,
                                   .place = &request->site.place,
                                   .is_kept = is_kept(request),
                                   .claims = *held};
    request->rehearsed = rehearsal_word(request->args->executable);
    request->is_guess = keel_rehearse_is_guess(request->args->executable);
    partition_take(request, rehearsed.is_kept);
    journal_compile(request);
    rehearsal_follow(request->engine, request->args->executable, &rehearsed);
}

// What a topology's compiler made: no device is there that could prove that it loads.
static keel_status_t read_unloaded(request_t *request, keel_buffer_t *program,
                                   keel_compiled_t *out) {
    const PJRT_Api *api = request->engine->api;
    PJRT_Executable *executable = request->unloaded->executable;
    keel_str_t format;
    KEEL_TRY(keel_pjrt_serialize(api, executable, &out->executable, &out->executable_size));
    keel_status_t status = keel_pjrt_program_memory(api, executable, &out->memory);
    out->has_memory = !status;
    keel_status_ignore(status);
    status = keel_pjrt_optimized_program(api, executable, program, &format);
    if (!status) {
        out->program = program->data;
        out->program_size = program->size;
        KEEL_TRY(keel_strdup(format, &out->program_format));
    }
    keel_status_ignore(status);
    return NULL;
}

static void store_unloaded(request_t *request, double seconds) {
    keel_engine_t *engine = request->engine;
    keel_compiled_t compiled = {.seconds = seconds};
    keel_buffer_t program;
    keel_buffer_initialize(&program, 0);
    if (engine->target) request->rehearsed = "now";
    journal_compile(request);
    if (engine->target) {
        keel_journal_subject_t subject = subject_of(request);
        keel_journal_compiled(engine->journal,
                              &(keel_journal_compiled_t){.subject = subject, .seconds = seconds});
    }
    keel_status_t status = NULL;
    if (engine->stores && is_kept(request)) {
        status = read_unloaded(request, &program, &compiled);
        if (!status)
            publish_compiled(engine, &request->key, &request->program, request->name, &compiled);
        else
            publish_failed(engine, "serialize", &request->key, request->name, status);
    }
    request->answer =
        (keel_payload_t){.has_memory = compiled.has_memory, .memory = compiled.memory};
    keel_free(compiled.executable);
    keel_free(compiled.program_format);
    keel_buffer_deinitialize(&program);
}

// A proof asks what the program needs. Without one, only the client's executable can be asked.
static void prove_or_ask(request_t *request, publication_t *publication) {
    keel_engine_t *engine = request->engine;
    publication->is_proved = proofs_take(engine, publication->payload_size);
    if (publication->is_proved) return;
    memory_ask(engine, request->args->executable, &request->answer);
    publication->has_memory = request->answer.has_memory;
    publication->memory = request->answer.memory;
}

static PJRT_Error *compile(request_t *request, claims_t *held) {
    keel_engine_t *engine = request->engine;
    note_compile(request);
    compiling_t compiling = {.name = request->name,
                             .ops = request->ops,
                             .bytes = request->size,
                             .started = keel_clock_monotonic()};
    progress_begin(engine, &compiling);
    PJRT_Error *error = is_kept(request) && partition_load(request) ? NULL
                        : request->unloaded                         ? call_plugin_unloaded(request)
                                            : call_plugin(engine, request->args);
    uint64_t took = keel_clock_monotonic() - compiling.started;
    progress_end(engine, &compiling);
    request->in_plugin += took;
    if (error) {
        claims_release(held);
        journal_refusal(request, error);
        return error;
    }
    request->answer = (keel_payload_t){0}; // from an entry that did not load
    request->ask.compile_seconds = keel_seconds(took);
    request->handed_out = true;
    if (request->unloaded) {
        take_unloaded(request);
        store_unloaded(request, keel_seconds(took));
        claims_release(held);
        return NULL;
    }
    const made_of_t made_of = compile_made_of(request);
    keel_status_t status =
        executables_add(engine, request->args->executable, &made_of, NULL, keel_bytes("", 0));
    if (status) engine_fell_through(engine, "count", NULL, status);
    if (engine->target) {
        rehearse(request, held);
        return NULL;
    }
    compile_join(request, request->args->executable);
    publication_t publication = {.client = request->args->client,
                                 .key = &request->key,
                                 .program = &request->program,
                                 .name = request->name,
                                 .compile_seconds = keel_seconds(took),
                                 .options = request->load_options,
                                 .claims = *held};
    // It is stored again if this compile took much longer than the one that was compared.
    bool is_slow = request->slow_seconds > 0 && keel_seconds(took) < 2 * request->slow_seconds;
    bool publishes = engine->stores && is_kept(request) && !is_slow;
    status = publishes ? serialize(request, &publication.payload, &publication.payload_size) : NULL;
    journal_compile(request);
    if (publishes && !status) {
        prove_or_ask(request, &publication);
        publish_executable(engine, &publication);
        return NULL;
    }
    if (!request->asked_before) memory_ask(engine, request->args->executable, &request->answer);
    if (status) publish_failed(engine, "serialize", &request->key, request->name, status);
    claims_release(held);
    return NULL;
}

static PJRT_Error *compile_uncacheable(request_t *request) {
    keel_str_t reason = KEEL_STR("");
    if (request->cacheable.yes)
        snprintf(request->cacheable.reason, sizeof request->cacheable.reason,
                 "--%s asks for dumps, which only a compile writes", request->dumps.flag);
    keel_status_ignore(
        keel_arena_str(&request->arena, keel_str(request->cacheable.reason), &reason));
    request->ask.miss = request->cacheable.yes ? "dumps" : "uncacheable";
    request->ask.miss_note = reason.data;
    keel_journal_uncacheable(request->engine->journal,
                             &(keel_journal_uncacheable_t){.subject = subject_of(request),
                                                           .reason = request->cacheable.reason,
                                                           .target = request->cacheable.target});
    claims_t none = {0};
    return compile(request, &none);
}

static void note_miss(request_t *request, keel_miss_t miss) {
    const keel_engine_t *engine = request->engine;
    ask_t *ask = &request->ask;
    ask->miss = keel_miss_name(miss);
    ask->miss_note = ask_miss(miss);
    if (request->dumps.by_compiling) {
        ask->miss = "dumps";
        ask->miss_note = "XLA is asked for dumps that only a compile writes";
    } else if (!*engine->cache_dir) {
        ask->miss = "unused";
        ask->miss_note = "no cache folder is used: there is none, or it is not this user's alone";
    } else if (!engine->looks_up) {
        ask->miss = "refresh";
        ask->miss_note = engine->settings.mode == KEEL_MODE_REFRESH
                             ? "with mode refresh, nothing is looked up"
                             : "with --compile all, nothing is looked up";
    }
}

static PJRT_Error *load_or_compile(request_t *request) {
    keel_engine_t *engine = request->engine;
    if (!is_kept(request)) return compile_uncacheable(request);
    keel_miss_t miss;
    if (request->recompile) ask_names(engine, &request->arena, &request->ask, &request->site);
    if (load(request, &miss)) return NULL;
    claims_t held = {0};
    keel_miss_t after_claim;
    // Nothing that is compiled because that is faster is stored, so nobody waits for it.
    bool claimed = miss != KEEL_MISS_SLOW && claim(request, &held);
    if (claimed && miss != KEEL_MISS_LATE && !request->dumps.by_compiling &&
        load_stored(request, &after_claim)) {
        claims_release(&held);
        return NULL;
    }
    keel_journal_miss(engine->journal, &(keel_journal_miss_t){.subject = subject_of(request),
                                                              .reason = keel_miss_name(miss),
                                                              .key = &request->key});
    note_miss(request, miss);
    PJRT_Error *error = compile(request, &held);
    // The last process may have ended normally, as workers of a pool do, while it proved the
    // program. If that happened again, the program would count as one that crashes.
    if (miss == KEEL_MISS_QUARANTINED) background_drain(engine, request->args->client);
    return error;
}

// ---- the call ----------------------------------------------------------------------------------

// Hands over what the journal needs for an explanation.
static void write_ask(request_t *request) {
    ask_t *ask = &request->ask;
    bool is_answered = request->handed_out || ask->kind == KEEL_ASK_REFUSED;
    if (!request->engine->journal || !request->is_read || !is_answered) return;
    if (!is_explained(request)) return;
    ask->client = request->args->client;
    ask->backend = request->client;
    ask->program = request->program;
    ask->name = request->name;
    ask->site = request->site;
    ask->recompile = request->recompile;
    ask->seconds = keel_seconds(request->in_plugin);
    if (request->kind == REQUEST_ELSEWHERE) ask->elsewhere = request->loader;
    ask->key = request->key;
    ask->arena = request->arena;
    keel_key_initialize(&request->key);
    keel_arena_initialize(&request->arena, 0);
    ask_hand_over(request->engine, ask);
}

// The client gets an error and nothing else. Afterwards the request's texts are gone.
PJRT_Error *compile_refuse(request_t *request, const verdict_t *verdict) {
    executed_t executed = count_executions(request);
    keel_journal_executes(request->engine->journal, executed.counts, executed.leading);
    keel_free((void *)(uintptr_t)executed.counts.data);
    write_refusal(request, "FAILED_PRECONDITION", keel_status_message(verdict->why));
    request->ask.kind = KEEL_ASK_REFUSED;
    ask_names(request->engine, &request->arena, &request->ask, &request->site);
    ask_call(request->engine, &request->arena, &request->ask, &request->site);
    write_ask(request);
    return verdict_error(request->engine, &request->program, verdict);
}

// Once per process; for published programs, publish.c writes it.
static void keep_memory(request_t *request) {
    if (!request->handed_out || request->asked_before || !request->answer.has_memory) return;
    keel_journal_subject_t subject = subject_of(request);
    memory_write_later(request->engine, &subject, &request->answer.memory);
}

// A step of PyTorch/XLA's or TorchTPU's is several programs, and what changes in one changes those
// that take its results.
static void note_line(const request_t *request) {
    bool is_recorded = strcmp(request->format, "hlo") == 0 && request->kind != REQUEST_ELSEWHERE;
    bool is_of_torch_tpu = keel_torch_tpu_is_name(keel_str(request->name));
    if (!request->handed_out || !(is_recorded || is_of_torch_tpu)) return;
    counter_t *counter;
    keel_status_t status = counters_of(request->engine->counters, &request->program, &counter);
    if (!status) counter_follow(counter);
    keel_status_ignore(status);
    if (is_recorded)
        flow_asked(request->engine, &request->program, &request->site.place,
                   request->ask.stack.count > 0);
}

static void note_plan(const request_t *request) {
    bool is_planned = request->handed_out && request->cacheable.yes;
    if (!is_planned || request->kind == REQUEST_ELSEWHERE) return;
    prefetch_asked(request->engine, &request->key,
                   &(keel_cost_t){.name = keel_plan_name(request->name),
                                  .operations = request->ops,
                                  .seconds = request->ask.compile_seconds});
}

// Only the first run makes a program whole that has constants beside it.
static void keep_program(request_t *request) {
    keel_engine_t *engine = request->engine;
    const char *format = format_of(request);
    if (!request->beside_count) {
        publish_program(engine, &request->program, format, request->code);
    } else if (engine->journal &&
               !keel_journal_has_program(engine->journal, &request->program, format)) {
        keel_buffer_t whole;
        keel_buffer_initialize(&whole, 0);
        keel_status_t status = request->make_whole(&whole);
        if (!status) status = publish_whole_program(engine, &request->program, format, &whole);
        keel_buffer_deinitialize(&whole);
        if (status) engine_fell_through(engine, "journal", NULL, status);
    }
}

// The program and its options go to the journal.
void compile_keep_program(request_t *request) {
    keel_engine_t *engine = request->engine;
    if (request->is_read || request->kind == REQUEST_COMPILE) keep_program(request);
    publish_options(engine, &request->options, request->ordered_options);
}

void compile_finish(request_t *request) {
    note_plan(request);
    keep_memory(request);
    host_ops_look(request->engine);
    note_line(request);
    write_ask(request);
    request_end(request);
}

static PJRT_Error *go(keel_engine_t *engine, PJRT_Client_Compile_Args *args,
                      PJRT_Compile_Args *unloaded) {
    request_t request;
    keel_status_t status = request_begin(engine, args, unloaded, REQUEST_COMPILE, &request);
    if (status) {
        PJRT_Error *error = verdict_unseen(engine, status);
        if (!error)
            error = unloaded ? engine->api->PJRT_Compile(unloaded) : call_plugin(engine, args);
        request_end(&request);
        return error;
    }
    compile_keep_program(&request);
    verdict_t verdict = verdict_ask(&request);
    if (verdict.why) {
        PJRT_Error *refusal = compile_refuse(&request, &verdict);
        request_end(&request);
        return refusal;
    }
    PJRT_Error *error = load_or_compile(&request);
    compile_finish(&request);
    return error;
}

PJRT_Error *keel_engine_compile(keel_engine_t *engine, PJRT_Client_Compile_Args *args) {
    if (fork_is_child(engine) || atomic_load(&engine->ended)) return call_plugin(engine, args);
    return go(engine, args, NULL);
}

PJRT_Error *keel_engine_compile_unloaded(keel_engine_t *engine, PJRT_Compile_Args *args) {
    PJRT_Client_Compile_Args repeated = {KEEL_PJRT_SIZE(PJRT_Client_Compile),
                                         .program = args->program,
                                         .compile_options = args->compile_options,
                                         .compile_options_size = args->compile_options_size};
    if (fork_is_child(engine) || atomic_load(&engine->ended))
        return engine->api->PJRT_Compile(args);
    keel_status_t status = topologies_client(
        engine, (PJRT_TopologyDescription *)(uintptr_t)args->topology, &repeated.client);
    if (!status) return go(engine, &repeated, args);
    engine_fell_through(engine, "topology", NULL, status);
    return engine->api->PJRT_Compile(args);
}
