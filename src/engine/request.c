// A program that the client asks for: reads it and makes its key.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "engine/functions.h"
#include "engine/fusions.h"
#include "engine/handlers.h"
#include "engine/late.h"
#include "engine/once.h"
#include "engine/portable.h"
#include "engine/rehearsal.h"
#include "engine/request.h"
#include "engine/steps.h"
#include "pjrt/kernels.h"
#include "read/read.h"

// ---- read and key ------------------------------------------------------------------------------

// A program that no reader understands is keyed by its bytes. Both formats contain the names of
// operations as plain text, so if none of these occurs, no operation can hide a difference behind
// equal bytes.
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
    KEEL_TRY(request_make_whole(request));
    keel_buffer_t canonical;
    keel_buffer_initialize(&canonical, 0);
    keel_buffer_format(&canonical, "bytes of format %s: ", request->format);
    keel_digest_t digest = keel_digest(request->code);
    keel_buffer_append(&canonical, digest.bytes, KEEL_DIGEST_SIZE);
    keel_status_t status = keel_buffer_status(&canonical);
    if (!status)
        status = keel_key_set(&request->key, KEEL_COMPONENT_PROGRAM, keel_buffer_bytes(&canonical),
                              KEEL_STR("keyed by its bytes"));
    keel_buffer_deinitialize(&canonical);
    check_bytes(request);
    return status;
}

static keel_status_t build_of_kernel(void *context, keel_str_t kernel, bool *out_known,
                                     keel_digest_t *out) {
    (void)context;
    return keel_kernel_build(kernel, out_known, out);
}

// Without the build of a kernel, the program is not cached.
static keel_status_t key_kernels(request_t *request, const keel_program_t *program) {
    keel_status_t status = keel_key_set_kernels(&request->key, program, build_of_kernel, NULL);
    if (!status || keel_status_code(status) == KEEL_NO_MEMORY) return status;
    request->cacheable.yes = false;
    snprintf(request->cacheable.reason, sizeof request->cacheable.reason,
             "the library of a kernel that it calls cannot be read: %s",
             keel_status_message(status));
    keel_status_ignore(status);
    return NULL;
}

// PJRT names the functions of a program at each execution. A plugin that cannot be told them has
// them in the executable, where a stored one would have those of another process.
static keel_status_t check_callbacks(request_t *request, const keel_program_t *program) {
    bool calls_back;
    if (keel_pjrt_has(request->engine->api, PJRT_ExecuteContext_Create)) return NULL;
    KEEL_TRY(keel_key_calls_back(program, &calls_back));
    if (!calls_back || !request->cacheable.yes) return NULL;
    request->cacheable.yes = false;
    snprintf(request->cacheable.reason, sizeof request->cacheable.reason,
             "it calls functions of this process");
    return NULL;
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
    KEEL_TRY(check_callbacks(request, program));
    return key_kernels(request, program);
}

// ---- options ----------------------------------------------------------------------------------

static void report_rewritten(request_t *request, uint64_t replicas, keel_str_t obstacle) {
    bool stays = obstacle.size != 0;
    keel_engine_t *engine = request->engine;
    once_kind_t kind = stays ? ONCE_OPTIONS_KEPT : ONCE_OPTIONS_REWRITTEN;
    if (!once_first(engine->once, kind, keel_bytes("", 0))) return;
    char text[512];
    if (stays)
        snprintf(
            text, sizeof text,
            "a program is compiled for %llu replicas and has '%.*s': executions on single "
            "devices go to one executable for all of them, because this plugin never finishes an "
            "execution on fewer devices",
            (unsigned long long)replicas, KEEL_STR_ARGS(obstacle));
    else
        snprintf(text, sizeof text,
                 "compiled for one replica and any device, not for %llu replicas: the program does "
                 "the same on each, and this plugin never finishes an execution on fewer devices",
                 (unsigned long long)replicas);
    keel_journal_subject_t subject = {.program = &request->program, .name = request->name};
    keel_journal_fallback(engine->journal, "options", &subject, text);
}

// Gives the plugin other options than the client's, until request_end.
static keel_status_t send_instead(request_t *request, keel_bytes_t options) {
    keel_str_t kept;
    KEEL_TRY(keel_arena_str(&request->arena, keel_bytes_str(options), &kept));
    if (!request->sent_options.data)
        request->sent_options =
            keel_bytes(request->args->compile_options, request->args->compile_options_size);
    request->args->compile_options = kept.data;
    request->args->compile_options_size = kept.size;
    return NULL;
}

// If needed and safe, gives the plugin options for one replica, in the request's arena, instead of
// the client's.
static keel_status_t rewrite_options(request_t *request, const keel_program_t *program) {
    keel_bytes_t bytes =
        keel_bytes(request->args->compile_options, request->args->compile_options_size);
    uint64_t replicas = program->format == KEEL_FORMAT_HLO ? portable_replicas(bytes) : 0;
    request->is_replica = replicas != 0;
    if (!request->client->is_cpu || !replicas) return NULL;
    keel_str_t obstacle = portable_obstacle(program);
    if (obstacle.size) request->replicas = replicas;
    if (!request->client->gates_replicas) return NULL;
    report_rewritten(request, replicas, obstacle);
    if (obstacle.size) return NULL;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_status_t status = portable_options(bytes, &out);
    if (!status) status = send_instead(request, keel_buffer_bytes(&out));
    keel_buffer_deinitialize(&out);
    return status;
}

// After the key, which is the client's.
static keel_status_t leave_out_unknown(request_t *request) {
    if (!request->client->lacks_fusions) return NULL;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_status_t status = fusions_without_unknown(
        keel_bytes(request->args->compile_options, request->args->compile_options_size), &out);
    if (!status && out.size) status = send_instead(request, keel_buffer_bytes(&out));
    keel_buffer_deinitialize(&out);
    return status;
}

// Also after the key. A program that is not dumped is compiled with options that do not ask for it,
// so that its entry does not either. What a rehearsal dumps is kept or is lost.
static keel_status_t look_at_dumps(request_t *request) {
    keel_buffer_t out;
    dumps_t *dumps = &request->dumps;
    keel_bytes_t options =
        keel_bytes(request->args->compile_options, request->args->compile_options_size);
    bool is_lost = rehearsal_discards(request->engine) && !request->unloaded;
    dumps_of_program(options, request->name, is_lost, dumps);
    bool is_kept = request->engine->target && !dumps->excludes;
    if (!dumps->in_options || request->unloaded || is_kept) return NULL;
    keel_buffer_initialize(&out, 0);
    keel_status_t status = keel_key_options_without_dumps(options, &out);
    if (!status && dumps->excludes) {
        status = send_instead(request, keel_buffer_bytes(&out));
    } else if (!status) {
        keel_str_t kept;
        status = keel_arena_str(&request->arena, keel_bytes_str(keel_buffer_bytes(&out)), &kept);
        if (!status) request->load_options = keel_str_bytes(kept);
    }
    keel_buffer_deinitialize(&out);
    return status;
}

static void restore_options(request_t *request) {
    if (!request->sent_options.data) return;
    request->args->compile_options = (const char *)request->sent_options.data;
    request->args->compile_options_size = request->sent_options.size;
}

// One whose constants have no place is read as a whole.
static keel_status_t read_mlir(request_t *request, keel_program_t *program) {
    if (!request->beside_count) return keel_read_mlir(request->code, program);
    keel_status_t status =
        keel_read_mlir_beside(request->code, request->beside, request->beside_count, program);
    if (!status || keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    KEEL_TRY(request_make_whole(request));
    return keel_read_mlir(request->code, program);
}

// What torch.compile traced for this graph, if that is known.
static void find_traced(request_t *request, const keel_program_t *program) {
    keel_traced_graph_t *traced = &request->traced_graph;
    const keel_block_t *block = keel_program_body(program, program->entry);
    if (!request->site.graph || !request->engine->journal) return;
    if (!keel_traced_find(block ? block->argument_count : 0, &request->arena, traced)) return;
    request->ask.names = traced->names;
    if (!request->ask.stack.count && traced->stack->count) request->ask.stack = *traced->stack;
    keel_site_traced(traced, &request->arena, &request->site);
}

static keel_status_t read_and_key(request_t *request, keel_program_t *program) {
    if (strcmp(request->format, "mlir") == 0 && !keel_read_is_mlir(request->code))
        return keel_status_make(KEEL_UNSUPPORTED, "Keel reads MLIR bytecode, not MLIR text");
    if (strcmp(request->format, "mlir") == 0)
        KEEL_TRY(read_mlir(request, program));
    else if (strcmp(request->format, "hlo") == 0)
        KEEL_TRY(keel_read_hlo(request->code, program));
    else
        return keel_status_make(KEEL_UNSUPPORTED, "Keel does not read programs of format %s",
                                request->format);
    bool is_hlo = strcmp(request->format, "hlo") == 0;
    keel_str_t name = keel_program_str(program, program->name), kept;
    // XLA's builder ends a module's name with a number that counts the operations: one function of
    // the user would get a new name with every change.
    bool is_recorded = is_hlo && request->kind != REQUEST_ELSEWHERE;
    if (is_recorded) name = keel_str_without_number(name, '.');
    KEEL_TRY(keel_arena_str(&request->arena, name, &kept));
    request->name = kept.data;
    request->ops = keel_program_op_count(program);
    request->has_gradient = keel_computes_gradient(program);
    if (!is_recorded) ask_capture(request->engine, &request->arena, &request->ask);
    keel_site_of(program, is_hlo ? NULL : &request->ask.stack, &request->arena, &request->site);
    if (request->site.graph) request->name = request->site.graph;
    find_traced(request, program);
    if (is_recorded) ask_where(request->engine, &request->arena, &request->ask, &request->site);
    ask_files(request->engine, &request->arena, &request->ask, program);
    request->is_read = true;
    if (request->kind == REQUEST_ELSEWHERE) return key_program(request, program);
    if (request->engine->rehearsal) rehearsal_look(request->engine, program, request->name);
    handlers_asked(request->engine, request->client, program);
    KEEL_TRY(rewrite_options(request, program));
    return key_program(request, program);
}

static keel_status_t set_program(request_t *request) {
    keel_program_t program;
    keel_program_initialize(&program);
    keel_status_t status = read_and_key(request, &program);
    keel_program_deinitialize(&program);
    if (!status || keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_journal_subject_t subject = {.program = &request->program, .name = request->name};
    if (request->kind != REQUEST_ELSEWHERE) // see elsewhere.c
        keel_log_once("unread", "a program was not understood, so it is keyed by its bytes: %s",
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
        keel_bytes(request->args->compile_options, request->args->compile_options_size),
        keel_key_backends(request->client->platform), &canonical, &assignment, &readable,
        &understood);
    if (!status)
        status = keel_key_set(&request->key, KEEL_COMPONENT_OPTIONS, keel_buffer_bytes(&canonical),
                              keel_bytes_str(keel_buffer_bytes(&readable)));
    if (!status)
        status = keel_key_set(&request->key, KEEL_COMPONENT_DEVICE_ASSIGNMENT,
                              keel_buffer_bytes(&assignment),
                              keel_bytes_str(keel_buffer_bytes(&assignment)));
    if (!status && !understood)
        keel_journal_fallback(
            request->engine->journal, "options", NULL,
            "the compile options were not understood, so they are keyed by their bytes");
    keel_buffer_deinitialize(&canonical);
    keel_buffer_deinitialize(&assignment);
    keel_buffer_deinitialize(&readable);
    return status;
}

// JAX's own program for arrays that it cannot place otherwise, and with which device_put checks
// that all processes have the same: one for each shape, type and sharding.
static bool is_placement(const request_t *request) {
    const char *traced = request->ask.stack.traced_file;
    bool is_identity = strcmp(request->name, "jit__identity_fn") == 0 && traced;
    return is_identity && (strstr(traced, "/jax/experimental/multihost_utils.py") ||
                           strstr(traced, "/jax/_src/pjit.py"));
}

static bool is_operation_of_torch_tpu(const request_t *request) {
    return !request->site.graph && keel_torch_tpu_is_name(keel_str(request->name));
}

// One operation that the client runs on its own, outside any jitted function (jit_add,
// jit__uniform). New shapes of it are not an accident, unless they never end; a report shows that.
static bool is_eager(request_t *request) {
    enum { FEW = 32 };
    if (request->site.graph || is_operation_of_torch_tpu(request)) return !request->site.graph;
    bool is_traced = strcmp(request->format, "mlir") == 0 || request->kind == REQUEST_ELSEWHERE;
    if (!is_traced || !*request->site.place.file) return false;
    const keel_stack_t *stack = &request->ask.stack;
    if (!stack->traced_file && request->kind != REQUEST_COMPILE) return false; // somebody kept it
    if (is_placement(request)) return true;
    if (stack->skipped) return !request->site.is_traced && request->ops <= FEW;
    return keel_is_operation(&request->arena);
}

// A training program asks twice for what jax.pmap maps: once with the state from the host, once
// with the state that came back. Nothing was traced again.
static uint64_t asks_expected(const request_t *request) {
    const char *traced = request->ask.stack.traced_file;
    bool is_mapped = strcmp(request->name, "jit__fun") == 0 && traced;
    return is_mapped && strstr(traced, "/jax/_src/pmap.py") ? 2 : 1;
}

// Records whether this traced function was seen under this key, or under another.
static keel_status_t note_function(request_t *request) {
    functions_known_t known;
    const functions_ask_t ask = {.name = request->name,
                                 .origin = request->site.origin,
                                 .key = &request->key.digest,
                                 .is_replica = request->is_replica};
    KEEL_TRY(functions_note(request->engine->functions, &ask, &known));
    request->has_key = known.has_key;
    request->asked_before = known.asked;
    request->is_retrace = known.asked_by_thread >= asks_expected(request);
    request->is_eager = is_eager(request);
    request->is_again = *request->name && !known.asked && known.keys;
    request->recompile = request->is_again && !request->is_eager;
    return NULL;
}

// A client that compiles what it recorded gives all programs one name; the line that asked tells
// them apart.
static keel_status_t note_step(request_t *request) {
    keel_buffer_t function;
    const keel_place_t *place = &request->site.place;
    const bool is_recorded = strcmp(request->format, "hlo") == 0;
    keel_buffer_initialize(&function, 0);
    keel_buffer_text(&function, request->name);
    if (request->site.graph) keel_buffer_text(&function, request->site.origin);
    if (is_recorded) {
        keel_buffer_format(&function, "\n%u ", place->line);
        keel_buffer_text(&function, place->file);
    }
    keel_status_t status = keel_buffer_status(&function);
    if (!status)
        status = steps_asked(request->engine,
                             &(steps_ask_t){.program = &request->program,
                                            .key = &request->key.digest,
                                            .function = keel_buffer_bytes(&function),
                                            .ops = request->ops,
                                            .is_eager = request->is_eager,
                                            .is_recorded = is_recorded,
                                            .has_gradient = request->has_gradient},
                             &request->ask.when);
    keel_buffer_deinitialize(&function);
    return status;
}

// In a client without a jitted step, new operations after a quiet time are accidents like a step's.
static void note_late(request_t *request) {
    if (!is_operation_of_torch_tpu(request) || !request->ask.when.is_late) return;
    request->is_eager = false;
    request->recompile = request->is_again;
}

// A program from elsewhere is the line's that asked: what made it is not known.
static void find_loader(request_t *request) {
    if (request->kind == REQUEST_COMPILE) return;
    ask_capture(request->engine, &request->arena, &request->ask);
    request->loader = request->ask.stack.loader ? request->ask.stack.loader : "the client";
    if (request->kind != REQUEST_ELSEWHERE) return;
    keel_site_asked(&request->ask.stack, &request->arena, &request->site);
    if (request->traced_graph.stack)
        keel_site_traced(&request->traced_graph, &request->arena, &request->site);
}

static keel_status_t order_options(request_t *request) {
    keel_str_t kept = {"", 0};
    keel_buffer_t ordered;
    keel_buffer_initialize(&ordered, 0);
    keel_status_t status = keel_key_options_in_order(
        keel_bytes(request->args->compile_options, request->args->compile_options_size), &ordered);
    if (!status)
        status =
            keel_arena_str(&request->arena, keel_bytes_str(keel_buffer_bytes(&ordered)), &kept);
    keel_buffer_deinitialize(&ordered);
    request->ordered_options = keel_str_bytes(kept);
    request->options = keel_digest(request->ordered_options);
    return status;
}

// ---- constants beside the program --------------------------------------------------------------

static _Thread_local keel_engine_beside_t beside_next;

void keel_engine_beside(const keel_engine_beside_t *beside) {
    beside_next = *beside;
}

// Each is hashed once, for the program's digest and for its key.
static keel_status_t take_beside(request_t *request) {
    const keel_engine_beside_t given = beside_next;
    beside_next.count = 0;
    if (!given.count) return NULL;
    void *memory;
    KEEL_TRY(keel_arena_alloc(&request->arena, given.count * sizeof *request->beside, &memory));
    request->beside = memory;
    request->beside_count = given.count;
    request->make_whole = given.whole;
    for (size_t i = 0; i < given.count; ++i) {
        keel_bytes_t bytes = given.constants[i];
        request->beside[i] = (keel_beside_t){bytes, keel_bulk_digest(bytes)};
        request->size += bytes.size;
    }
    return NULL;
}

static keel_digest_t digest_of(const request_t *request) {
    if (!request->beside_count) return keel_program_digest(request->code);
    static const char what[] = "keel program and constants beside it";
    const keel_digest_t code = keel_digest(request->code);
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    keel_hasher_update(&hasher, what, sizeof what);
    keel_hasher_update(&hasher, code.bytes, sizeof code.bytes);
    for (size_t i = 0; i < request->beside_count; ++i)
        keel_hasher_update(&hasher, request->beside[i].digest.bytes, KEEL_DIGEST_SIZE);
    return keel_hasher_finish(&hasher);
}

keel_status_t request_make_whole(request_t *request) {
    if (!request->beside_count || request->whole.size) return NULL;
    keel_status_t status = request->make_whole(&request->whole);
    if (!status) status = keel_buffer_status(&request->whole);
    if (!status && !request->whole.size)
        status = keel_status_make(KEEL_UNSUPPORTED, "the client's side gave no program");
    if (status) {
        keel_buffer_deinitialize(&request->whole);
        return status;
    }
    request->code = keel_buffer_bytes(&request->whole);
    return NULL;
}

static keel_status_t understand(request_t *request) {
    if (request->kind == REQUEST_COMPILE) KEEL_TRY(take_beside(request));
    request->program = digest_of(request);
    KEEL_TRY(order_options(request));
    KEEL_TRY(keel_key_copy(&request->client->backend, &request->key));
    KEEL_TRY(set_program(request));
    find_loader(request);
    KEEL_TRY(set_options(request));
    KEEL_TRY(keel_key_finish(&request->key));
    late_look(request->engine, request->client,
              keel_bytes(request->args->compile_options, request->args->compile_options_size));
    KEEL_TRY(leave_out_unknown(request));
    KEEL_TRY(look_at_dumps(request));
    KEEL_TRY(note_function(request));
    KEEL_TRY(note_step(request));
    note_late(request);
    return NULL;
}

static _Thread_local uint64_t spent;

void keel_engine_spent(uint64_t nanoseconds) {
    spent = nanoseconds;
}

// ---- the call ----------------------------------------------------------------------------------

keel_status_t request_begin(keel_engine_t *engine, PJRT_Client_Compile_Args *args,
                            PJRT_Compile_Args *unloaded, request_kind_t kind, request_t *request) {
    *request =
        (request_t){.engine = engine,
                    .args = args,
                    .unloaded = unloaded,
                    .kind = kind,
                    .name = "",
                    .site = {.place = {.file = "", .function = "", .call_file = ""}, .origin = ""},
                    .traced = keel_preparing_take(KEEL_PREPARING_TRACE),
                    .lowered = keel_preparing_take(KEEL_PREPARING_LOWER),
                    .started = keel_clock_monotonic() - spent,
                    .code = keel_bytes(args->program->code, args->program->code_size),
                    .size = args->program->code_size};
    spent = 0;
    keel_buffer_initialize(&request->whole, 0);
    keel_arena_initialize(&request->arena, 0);
    keel_key_initialize(&request->key);
    request->client = clients_find(engine->clients, args->client);
    if (!request->client)
        return keel_status_make(KEEL_UNSUPPORTED, "the backend of this client could not be read");
    keel_str_t format;
    KEEL_TRY(keel_arena_str(
        &request->arena, (keel_str_t){args->program->format, args->program->format_size}, &format));
    request->format = format.data;
    return understand(request);
}

void request_end(request_t *request) {
    restore_options(request);
    keel_buffer_deinitialize(&request->whole);
    keel_key_deinitialize(&request->key);
    keel_arena_deinitialize(&request->arena);
}
