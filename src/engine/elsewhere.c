// Executables that the client loads by itself: from its own cache, a pickle, a step that was
// compiled ahead. If Keel handed out the bytes, this is an ask for their program, like any other.
// If not, the plugin loads them first, and its optimized program says what they are: the same
// optimized program is the same program, but whether it is one that was traced cannot be known.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/compile.h"
#include "engine/fork.h"
#include "engine/handed.h"
#include "engine/prefetch.h"
#include "engine/verdict.h"
#include "pjrt/error.h"

typedef PJRT_Executable_DeserializeAndLoad_Args load_args_t;

static keel_bytes_t bytes_of(const load_args_t *args) {
    return keel_bytes(args->serialized_executable, args->serialized_executable_size);
}

// The options that the client has now, in the place of those of the executable.
static keel_bytes_t options_of(const load_args_t *args) {
    bool has = args->struct_size >= PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE &&
               args->overridden_serialized_compile_options;
    return has ? keel_bytes(args->overridden_serialized_compile_options,
                            args->overridden_serialized_compile_options_size)
               : keel_bytes("", 0);
}

static PJRT_Error *call_plugin(keel_engine_t *engine, load_args_t *args) {
    return engine->api->PJRT_Executable_DeserializeAndLoad(args);
}

// The compile that would have given the client this program; `program` is part of it.
static PJRT_Client_Compile_Args as_compile(const load_args_t *args, keel_bytes_t code,
                                           const char *format, keel_bytes_t options,
                                           PJRT_Program *program) {
    *program = (PJRT_Program){.struct_size = PJRT_Program_STRUCT_SIZE,
                              .code = (char *)(uintptr_t)code.data,
                              .code_size = code.size,
                              .format = format,
                              .format_size = strlen(format)};
    return (PJRT_Client_Compile_Args){
        KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = args->client, .program = program,
        .compile_options = (const char *)options.data, .compile_options_size = options.size};
}

// The client's executable is known to be of the request's program.
static void take(request_t *request, PJRT_LoadedExecutable *loaded, const char *tier,
                 size_t bytes) {
    keel_engine_t *engine = request->engine;
    const made_of_t made_of = compile_made_of(request);
    const keel_entry_t entry = {.payload_size = bytes};
    keel_status_t status = executables_add(engine, loaded, &made_of, NULL, keel_bytes("", 0));
    if (status)
        engine_fell_through(engine, "count", NULL, status);
    else
        compile_join(request, loaded);
    compile_journal_load(request, tier, &entry, 0);
    compile_note_load(request, 0);
}

// ---- bytes that Keel handed out ----------------------------------------------------------------

static PJRT_Error *load_known(request_t *request, load_args_t *args) {
    keel_miss_t miss;
    if (compile_load_ahead(request, &miss)) {
        args->loaded_executable = request->args->executable;
        return NULL;
    }
    uint64_t start = keel_clock_monotonic();
    PJRT_Error *error = call_plugin(request->engine, args);
    request->in_plugin += keel_clock_monotonic() - start;
    if (!error) take(request, args->loaded_executable, "client", bytes_of(args).size);
    return error;
}

static PJRT_Error *go_known(keel_engine_t *engine, PJRT_Client_Compile_Args *asked,
                            load_args_t *args) {
    request_t request;
    keel_status_t status = request_begin(engine, asked, NULL, REQUEST_LOAD, &request);
    if (status) {
        PJRT_Error *error = verdict_unseen(engine, status);
        request_end(&request);
        return error ? error : call_plugin(engine, args);
    }
    compile_keep_program(&request);
    verdict_t verdict = verdict_ask(&request);
    if (verdict.why) {
        PJRT_Error *refusal = compile_refuse(&request, &verdict);
        request_end(&request);
        return refusal;
    }
    PJRT_Error *error = load_known(&request, args);
    compile_finish(&request);
    return error;
}

// Without the device, the program is rehearsed as if the client had compiled it.
static PJRT_Error *go_as_asked(keel_engine_t *engine, const handed_program_t *handed,
                               load_args_t *args) {
    keel_bytes_t options = options_of(args);
    if (!options.size) options = keel_bytes(handed->options, handed->options_size);
    PJRT_Program program;
    PJRT_Client_Compile_Args asked = as_compile(args, keel_bytes(handed->code, handed->code_size),
                                                handed->format, options, &program);
    if (!engine->target) return go_known(engine, &asked, args);
    PJRT_Error *error = keel_engine_compile(engine, &asked);
    args->loaded_executable = asked.executable;
    return error;
}

// ---- bytes from elsewhere ----------------------------------------------------------------------

static keel_status_t read_optimized(keel_engine_t *engine, PJRT_LoadedExecutable *loaded,
                                    keel_buffer_t *program, keel_bytes_t *out) {
    PJRT_Executable *executable;
    keel_str_t format;
    KEEL_TRY(keel_pjrt_executable(engine->api, loaded, &executable));
    keel_status_t status = keel_pjrt_optimized_program(engine->api, executable, program, &format);
    if (!status) status = keel_pjrt_hlo_module(keel_buffer_bytes(program), format, out);
    keel_pjrt_destroy_executable(engine->api, executable);
    return status;
}

// The name that the plugin has for it, if its program cannot be read.
static void name_unread(request_t *request, PJRT_LoadedExecutable *loaded) {
    const PJRT_Api *api = request->engine->api;
    PJRT_Executable *executable = NULL;
    keel_str_t kept = KEEL_STR("");
    if (!keel_pjrt_has(api, PJRT_Executable_Name)) return;
    keel_status_t status = keel_pjrt_executable(api, loaded, &executable);
    PJRT_Executable_Name_Args args = {KEEL_PJRT_SIZE(PJRT_Executable_Name),
                                      .executable = executable};
    if (!status) status = KEEL_PJRT_CALL(api, PJRT_Executable_Name, args);
    if (!status)
        status = keel_arena_str(
            &request->arena, (keel_str_t){args.executable_name, args.executable_name_size}, &kept);
    if (!status) request->name = kept.data;
    keel_status_ignore(status);
    keel_pjrt_destroy_executable(api, executable);
}

static void say(const request_t *request) {
    if (request->is_read)
        keel_log_once("elsewhere",
                      "%s was loaded from elsewhere (%s): Keel did not hand out its bytes and "
                      "knows it by its optimized program only",
                      *request->name ? request->name : "a program", request->loader);
    else
        keel_log_once("elsewhere unread",
                      "%s was loaded from elsewhere (%s) and cannot be read, so it cannot be "
                      "checked",
                      *request->name ? request->name : "a program", request->loader);
}

static PJRT_Error *go_elsewhere(keel_engine_t *engine, PJRT_Client_Compile_Args *asked,
                                load_args_t *args, uint64_t in_plugin) {
    request_t request;
    keel_status_t status = request_begin(engine, asked, NULL, REQUEST_ELSEWHERE, &request);
    if (status) {
        PJRT_Error *error = verdict_unseen(engine, status);
        if (error) {
            keel_pjrt_destroy_loaded(engine->api, args->loaded_executable);
            args->loaded_executable = NULL;
        }
        request_end(&request);
        return error;
    }
    request.in_plugin = in_plugin;
    request.started -= in_plugin;
    if (!request.is_read) name_unread(&request, args->loaded_executable);
    say(&request);
    compile_keep_program(&request);
    verdict_t verdict = verdict_ask(&request);
    if (verdict.why) {
        keel_pjrt_destroy_loaded(engine->api, args->loaded_executable);
        args->loaded_executable = NULL;
        PJRT_Error *refusal = compile_refuse(&request, &verdict);
        request_end(&request);
        return refusal;
    }
    take(&request, args->loaded_executable, "elsewhere", bytes_of(args).size);
    compile_finish(&request);
    return NULL;
}

static PJRT_Error *load_elsewhere(keel_engine_t *engine, load_args_t *args) {
    uint64_t start = keel_clock_monotonic();
    PJRT_Error *error = call_plugin(engine, args);
    uint64_t took = keel_clock_monotonic() - start;
    if (error) return error;
    keel_buffer_t program;
    keel_bytes_t code = {NULL, 0}, options = options_of(args);
    keel_buffer_initialize(&program, 0);
    keel_status_t status = read_optimized(engine, args->loaded_executable, &program, &code);
    if (status)
        keel_journal_fallback(engine->journal, "elsewhere", NULL, keel_status_message(status));
    if (status) code = bytes_of(args);
    PJRT_Program asked_program;
    PJRT_Client_Compile_Args asked =
        as_compile(args, code, status ? "executable" : "hlo", options, &asked_program);
    keel_status_ignore(status);
    error = go_elsewhere(engine, &asked, args, took);
    keel_buffer_deinitialize(&program);
    return error;
}

// ---- the call ----------------------------------------------------------------------------------

static PJRT_Error *refuse_rehearsal(void) {
    return keel_pjrt_error(keel_status_make(
        KEEL_UNSUPPORTED,
        "keel: a rehearsal has no device that could load this executable, and Keel does not know "
        "its program: serialize it in a run through Keel, or compile it in the rehearsal"));
}

PJRT_Error *keel_engine_load(keel_engine_t *engine, load_args_t *args) {
    handed_program_t handed;
    if (fork_is_child(engine) || atomic_load(&engine->ended)) return call_plugin(engine, args);
    keel_digest_t digest = keel_digest(bytes_of(args));
    if (!handed_find(engine, &digest, &handed))
        return engine->target ? refuse_rehearsal() : load_elsewhere(engine, args);
    PJRT_Error *error = go_as_asked(engine, &handed, args);
    handed_program_release(&handed);
    return error;
}
