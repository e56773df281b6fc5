// keel aot: compiles recorded programs for a target, ahead of the run that will ask for them. It
// goes the way of a rehearsal's program (engine/rehearsal.h), without a client that traces.
#define _GNU_SOURCE
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/recorded.h"
#include "engine/engine.h"
#include "journal/journal.h"
#include "rehearse/rehearse.h"
#include "run/run.h"
#include "text/text.h"

// One program to compile, and what became of it.
typedef struct aot_program_t {
    char *name;    // of its module, or its file
    char *shown;   // the line that asked for it; ""
    char *path;    // of the bytes
    char *options; // path of its compile options; NULL: those of the command line
    bool is_hlo;
    bool is_there;          // in the cache before
    double seconds, memory; // of the compile; bytes of its process
    uint64_t bytes;         // of the executable
    char *error;
    char *unkept; // why it is not stored; NULL: it is
} aot_program_t;

typedef struct aot_t {
    const char *on, *options_file, *interpreter;
    bool json, all;
    keel_settings_t settings;
    keel_target_t target;
    keel_plugin_t plugin, real;
    keel_engine_t *engine;
    PJRT_Client *client;
    uint8_t *options; // of the command line, or of one device
    size_t options_size;
    cli_recorded_t recorded; // the client of the first run
    keel_map_t known;        // program and options that are listed
    aot_program_t **programs;
    size_t count, capacity;
    aot_program_t *asked; // the one that the engine has now
    pthread_mutex_t lock; // for the programs' results
} aot_t;

// ---- which programs ----------------------------------------------------------------------------

static keel_status_t add_program(aot_t *aot, const char *name, const char *shown, char *path,
                                 char *options, bool is_hlo) {
    void *memory = aot->programs;
    KEEL_TRY(keel_grow_array(aot->count, sizeof *aot->programs, &aot->capacity, &memory));
    aot->programs = memory;
    KEEL_TRY(keel_calloc(1, sizeof(aot_program_t), &memory));
    aot_program_t *program = memory;
    aot->programs[aot->count++] = program;
    program->path = path;
    program->options = options;
    program->is_hlo = is_hlo;
    KEEL_TRY(keel_strdup(keel_str(name), &program->name));
    return keel_strdup(keel_str(shown), &program->shown);
}

static const char *text_of(const json_t *event, const char *name) {
    const char *text = json_string_value(json_object_get(event, name));
    return text ? text : "";
}

static keel_status_t is_new(aot_t *aot, const char *program, const char *options, bool *out) {
    keel_buffer_t key;
    keel_buffer_initialize(&key, 0);
    keel_buffer_format(&key, "%s %s", program, options);
    keel_status_t status = keel_buffer_status(&key);
    *out = !status && !keel_map_find(&aot->known, keel_buffer_bytes(&key));
    if (*out) status = keel_map_put(&aot->known, keel_buffer_bytes(&key), 1);
    keel_buffer_deinitialize(&key);
    return status;
}

static keel_status_t kept_path(const aot_t *aot, const char *digest, const char *format,
                               char **out) {
    return keel_path(out, "%s/programs/%s.%s.zst",
                     keel_settings_text(&aot->settings, KEEL_SETTING_RUN_DIR), digest, format);
}

static keel_status_t take_event(void *context, const json_t *event) {
    aot_t *aot = context;
    const char *kind = text_of(event, "event"), *digest = text_of(event, "program"),
               *options = text_of(event, "options"), *format = text_of(event, "format");
    char *path = NULL, *options_path = NULL, shown[512] = "";
    bool fresh;
    KEEL_TRY(
        cli_recorded_add(&aot->recorded, event, keel_target_platform_names[aot->target.platform]));
    if ((strcmp(kind, "compile") != 0 && strcmp(kind, "load") != 0) || !*digest) return NULL;
    KEEL_TRY(is_new(aot, digest, options, &fresh));
    if (!fresh) return NULL;
    bool is_hlo = strcmp(format, "hlo") == 0;
    const json_t *site = json_object_get(event, "site");
    if (*text_of(site, "file"))
        snprintf(shown, sizeof shown, "%s:%lld", text_of(site, "file"),
                 (long long)json_integer_value(json_object_get(site, "line")));
    KEEL_TRY(kept_path(aot, digest, is_hlo ? "hlo" : "mlir", &path));
    keel_status_t status = *options ? kept_path(aot, options, "options", &options_path) : NULL;
    if (!status)
        status = add_program(aot, text_of(event, "name"), shown, path, options_path, is_hlo);
    return status;
}

static keel_status_t add_run(aot_t *aot, const char *id) {
    keel_run_t run;
    const char *run_dir = keel_settings_text(&aot->settings, KEEL_SETTING_RUN_DIR);
    KEEL_TRY(keel_run_read(run_dir, id, KEEL_RUN_KEYS, &run));
    keel_status_t status = keel_run_visit(&run, take_event, aot);
    keel_run_deinitialize(&run);
    return status;
}

static keel_status_t add_named(aot_t *aot, const char *text) {
    char *id, *path;
    const char *run_dir = keel_settings_text(&aot->settings, KEEL_SETTING_RUN_DIR);
    bool is_file = access(text, F_OK) == 0;
    keel_status_t status = is_file ? NULL : keel_journal_find_run(run_dir, text, &id);
    if (!is_file && !status) {
        status = add_run(aot, id);
        keel_free(id);
        return status;
    }
    keel_status_ignore(status);
    cli_program_t program;
    KEEL_TRY(cli_program_open(text, run_dir, &program));
    const char *slash = strrchr(program.label, '/');
    bool is_hlo = program.size < 4 || memcmp(program.data, "ML\xefR", 4) != 0;
    status = keel_strdup(keel_str(program.label), &path);
    if (!status)
        status = add_program(aot, slash ? slash + 1 : program.label, "", path, NULL, is_hlo);
    cli_program_close(&program);
    return status;
}

// ---- the target --------------------------------------------------------------------------------

// Source: CompileOptionsProto: one replica of one partition, on device 0.
static keel_status_t one_device(uint8_t **out, size_t *out_size) {
    enum { BUILD_OPTIONS = 3, DEVICE = 1, NUM_REPLICAS = 4, NUM_PARTITIONS = 5 };
    keel_buffer_t options;
    keel_buffer_initialize(&options, 0);
    size_t build = keel_proto_open(&options, BUILD_OPTIONS);
    keel_proto_put_number(&options, DEVICE, KEEL_WIRE_VARINT, 0);
    keel_proto_put_number(&options, NUM_REPLICAS, KEEL_WIRE_VARINT, 1);
    keel_proto_put_number(&options, NUM_PARTITIONS, KEEL_WIRE_VARINT, 1);
    keel_proto_close(&options, build);
    keel_status_t status = keel_buffer_take(&options, out, out_size);
    keel_buffer_deinitialize(&options);
    return status;
}

static keel_status_t find_plugin(aot_t *aot, char **out) {
    const keel_setting_value_t *named = &aot->settings.values[KEEL_SETTING_PLUGIN];
    if (aot->target.platform == KEEL_TARGET_CPU || named->origin == KEEL_ORIGIN_FLAG)
        return keel_plugin_find(named->text, aot->interpreter, out);
    const char *plugin = aot->recorded.plugin;
    if (!aot->interpreter && plugin && keel_is_file(plugin))
        return keel_strdup(keel_str(plugin), out);
    return keel_target_plugin(&aot->target, aot->interpreter, out);
}

static keel_status_t make_client(aot_t *aot) {
    const PJRT_Api *api = aot->plugin.api;
    PJRT_Plugin_Initialize_Args initialize = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    // As the plugin door asks for them.
    if (aot->target.platform == KEEL_TARGET_CPU)
        KEEL_TRY(cli_recorded_set_number(&aot->recorded, KEEL_CPU_DEVICES_OPTION,
                                         aot->target.device_count));
    PJRT_Client_Create_Args create = {KEEL_PJRT_SIZE(PJRT_Client_Create),
                                      .create_options = aot->recorded.options,
                                      .num_options = aot->recorded.count};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Plugin_Initialize, initialize));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_Create, create));
    aot->client = create.client;
    keel_engine_client_created(aot->engine, aot->client, create.create_options, create.num_options);
    return NULL;
}

// What is compiled and not stored is compiled for nothing.
static keel_status_t check_store(const keel_settings_t *settings) {
    const char *folder = keel_settings_text(settings, KEEL_SETTING_CACHE_DIR);
    if (settings->mode == KEEL_MODE_OFF || settings->mode == KEEL_MODE_READONLY)
        return keel_status_make(KEEL_INVALID,
                                "mode is %s: what is compiled would not be stored; set "
                                "KEEL_MODE=on",
                                keel_settings_text(settings, KEEL_SETTING_MODE));
    KEEL_TRY(cli_check_folder(settings, KEEL_SETTING_CACHE_DIR));
    KEEL_TRY(keel_settings_trust_folder(settings, KEEL_SETTING_CACHE_DIR, "nothing is cached"));
    return keel_status_annotate(keel_directory_make(folder),
                                "set --cache-dir to a folder that can be written");
}

// A gate that lets all programs pass, and keeps why the engine does not store one.
static keel_status_t note_unkept(void *context, const keel_engine_ask_t *ask, keel_verdict_t *out) {
    const aot_t *aot = context;
    (void)out;
    return ask->unkept ? keel_strdup(keel_str(ask->unkept), &aot->asked->unkept) : NULL;
}

static keel_status_t open_target(aot_t *aot) {
    char *path;
    KEEL_TRY(check_store(&aot->settings));
    KEEL_TRY(keel_target_set_environment(&aot->target));
    setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0); // plugins greet
    KEEL_TRY(find_plugin(aot, &path));
    keel_status_t status = cli_refuse_own(path);
    if (!status) status = cli_check_target(&aot->target, path);
    if (!status) status = keel_plugin_load(path, &aot->real);
    keel_free(path);
    KEEL_TRY(status);
    aot->plugin = aot->real;
    const keel_rehearse_compiles_t compiles = aot->all ? KEEL_REHEARSE_ALL : KEEL_REHEARSE_NEW;
    const keel_rehearse_settings_t settings = {
        .target = &aot->target,
        .plugin = &aot->real,
        .compiles = compiles,
        .calculator = "",
        .interpreter = aot->interpreter ? aot->interpreter : aot->recorded.python};
    KEEL_TRY(keel_rehearse_begin(&settings, &aot->plugin.api));
    KEEL_TRY(keel_engine_create(&aot->settings, &aot->plugin, false, &aot->engine));
    KEEL_TRY(keel_engine_rehearse(aot->engine, &aot->target, compiles, KEEL_REHEARSE_FILL_ZEROS,
                                  KEEL_WRITES_KEEP));
    keel_engine_set_gate(aot->engine, &(keel_engine_gate_t){.check = note_unkept, .context = aot});
    return make_client(aot);
}

// ---- compiling ---------------------------------------------------------------------------------

static bool is_unkept(const aot_program_t *program) {
    return program->unkept && !program->error;
}

static void tell_compiled(const aot_t *aot, const aot_program_t *program) {
    char seconds[24], memory[16], bytes[16];
    if (aot->json) return;
    keel_format_seconds(program->seconds, seconds);
    keel_format_size((uint64_t)program->memory, memory);
    keel_format_size(program->bytes, bytes);
    if (program->error)
        printf("%-28s failed: %s", program->name, program->error);
    else if (program->is_there)
        printf("%-28s in the cache", program->name);
    else
        printf("%-28s %8s %10s %10s", program->name, seconds, memory, bytes);
    printf("%s%s", *program->shown ? "  " : "", program->shown);
    if (is_unkept(program)) printf("  not stored: %s", program->unkept);
    putchar('\n');
    fflush(stdout);
}

typedef struct following_t {
    aot_t *aot;
    aot_program_t *program;
} following_t;

static void take_compiled(void *context, const keel_compiled_t *compiled) {
    following_t *following = context;
    aot_program_t *program = following->program;
    pthread_mutex_lock(&following->aot->lock);
    program->seconds = compiled->seconds;
    program->memory = (double)compiled->peak_memory;
    program->bytes = compiled->executable_size;
    if (compiled->error)
        keel_status_ignore(keel_strdup(keel_str(compiled->error), &program->error));
    tell_compiled(following->aot, program);
    pthread_mutex_unlock(&following->aot->lock);
    keel_free(following);
}

static void settle(aot_t *aot, aot_program_t *program, keel_status_t status) {
    pthread_mutex_lock(&aot->lock);
    program->is_there = !status;
    if (status)
        keel_status_ignore(keel_strdup(keel_str(keel_status_message(status)), &program->error));
    tell_compiled(aot, program);
    pthread_mutex_unlock(&aot->lock);
    keel_status_ignore(status);
}

static keel_status_t ask(aot_t *aot, const aot_program_t *program, keel_bytes_t code,
                         keel_bytes_t options, PJRT_LoadedExecutable **out) {
    const PJRT_Program asked = {.struct_size = PJRT_Program_STRUCT_SIZE,
                                .code = (char *)(uintptr_t)code.data,
                                .code_size = code.size,
                                .format = program->is_hlo ? "hlo" : "mlir",
                                .format_size = program->is_hlo ? 3 : 4};
    PJRT_Client_Compile_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = aot->client, .program = &asked,
        .compile_options = (const char *)options.data, .compile_options_size = options.size};
    KEEL_TRY(keel_pjrt_status(aot->plugin.api, keel_engine_compile(aot->engine, &args),
                              "PJRT_Client_Compile"));
    *out = args.executable;
    return NULL;
}

static keel_status_t follow(aot_t *aot, aot_program_t *program, PJRT_LoadedExecutable *loaded) {
    void *memory;
    KEEL_TRY(keel_alloc(sizeof(following_t), &memory));
    following_t *following = memory;
    *following = (following_t){aot, program};
    bool is_followed;
    keel_status_t status =
        keel_rehearse_when_compiled(loaded, take_compiled, following, &is_followed);
    if (is_followed) return NULL;
    keel_free(following);
    if (!status) settle(aot, program, NULL);
    return status;
}

static keel_status_t read_options(const aot_t *aot, const aot_program_t *program, uint8_t **out,
                                  size_t *out_size) {
    if (program->options) {
        KEEL_TRY(keel_journal_read_program(program->options, out, out_size));
        keel_status_t status =
            cli_recorded_check_options(&aot->recorded, keel_bytes(*out, *out_size));
        if (status) keel_free(*out);
        return status;
    }
    *out_size = aot->options_size;
    return keel_bytes_dup(keel_bytes(aot->options, aot->options_size), out);
}

static void compile(aot_t *aot, aot_program_t *program) {
    aot->asked = program;
    cli_program_t code;
    uint8_t *options;
    size_t size;
    PJRT_LoadedExecutable *loaded = NULL;
    keel_status_t status = cli_program_open(
        program->path, keel_settings_text(&aot->settings, KEEL_SETTING_RUN_DIR), &code);
    if (!status) {
        status = read_options(aot, program, &options, &size);
        if (!status) {
            status = ask(aot, program, keel_bytes(code.data, code.size), keel_bytes(options, size),
                         &loaded);
            keel_free(options);
        }
        cli_program_close(&code);
    }
    if (!status) status = follow(aot, program, loaded);
    if (status) settle(aot, program, status);
    if (loaded) keel_pjrt_destroy_loaded(aot->plugin.api, loaded);
}

// ---- the answer --------------------------------------------------------------------------------

static void print_json(const aot_t *aot) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_json_t json = keel_json(&out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_string(&json, "target", aot->target.name);
    keel_json_array(&json, "programs");
    for (size_t i = 0; i < aot->count; ++i) {
        const aot_program_t *program = aot->programs[i];
        keel_json_break(&json, "\n ");
        keel_json_object(&json, NULL);
        keel_json_string(&json, "name", program->name);
        if (*program->shown) keel_json_string(&json, "line", program->shown);
        keel_json_string(&json, "state",
                         program->error      ? "failed"
                         : program->is_there ? "cached"
                                             : "compiled");
        if (program->error) keel_json_string(&json, "error", program->error);
        if (!program->is_there && !program->error) {
            keel_json_double(&json, "seconds", program->seconds, 3);
            keel_json_unsigned(&json, "memory", (uint64_t)program->memory);
            keel_json_unsigned(&json, "bytes", program->bytes);
        }
        if (is_unkept(program)) keel_json_string(&json, "not_stored", program->unkept);
        keel_json_end_object(&json);
    }
    keel_json_end_array(&json);
    keel_json_end_object(&json);
    cli_answer(&out);
}

static int sum_up(const aot_t *aot, double seconds) {
    size_t compiled = 0, failed = 0, there = 0, calling = 0, unkept = 0;
    double sum = 0;
    char wall[24], all[24];
    for (size_t i = 0; i < aot->count; ++i) {
        const char *error = aot->programs[i]->error;
        failed += error != NULL;
        calling += error && strstr(error, "No FFI handler registered");
        there += aot->programs[i]->is_there;
        unkept += is_unkept(aot->programs[i]);
        sum += aot->programs[i]->seconds;
    }
    compiled = aot->count - failed - there;
    keel_format_seconds(seconds, wall);
    keel_format_seconds(sum, all);
    if (aot->json)
        print_json(aot);
    else
        cli_say("%zu of %zu programs compiled for %s in %s (%s of compiling), %zu in the cache%s",
                compiled, aot->count, aot->target.name, wall, all, there,
                failed ? "; some failed, see above" : "");
    if (unkept && !aot->json)
        cli_say("%zu of them %s not stored, so each run compiles %s again; see above why", unkept,
                unkept == 1 ? "is" : "are", unkept == 1 ? "it" : "them");
    if (calling && !aot->json)
        cli_say("a program that calls functions by name compiles if its run recorded where they "
                "are, and they are still there; otherwise use `keel rehearse`");
    return failed ? CLI_NO : CLI_OK;
}

static void release(aot_t *aot) {
    for (size_t i = 0; i < aot->count; ++i) {
        aot_program_t *program = aot->programs[i];
        keel_free(program->name);
        keel_free(program->shown);
        keel_free(program->path);
        keel_free(program->options);
        keel_free(program->error);
        keel_free(program->unkept);
        keel_free(program);
    }
    keel_free((void *)aot->programs);
    keel_free(aot->options);
    keel_map_deinitialize(&aot->known);
    cli_recorded_deinitialize(&aot->recorded);
    keel_settings_deinitialize(&aot->settings);
}

static keel_status_t prepare(aot_t *aot, const cli_call_t *call) {
    KEEL_TRY(keel_settings_load(call->flags, &aot->settings));
    KEEL_TRY(keel_target_read(aot->on, &aot->target));
    if (aot->options_file)
        KEEL_TRY(cli_read_file(aot->options_file, &aot->options, &aot->options_size));
    else
        KEEL_TRY(one_device(&aot->options, &aot->options_size));
    for (int i = 0; i < call->rest_count; ++i)
        KEEL_TRY(add_named(aot, call->rest[i]));
    KEEL_TRY(cli_recorded_add_handlers(&aot->recorded, &aot->settings));
    if (aot->count) return open_target(aot);
    return keel_status_make(KEEL_NOT_FOUND,
                            "no program in these runs; `keel stats RUN` lists them");
}

static const char details[] =
    "RUN is a run's id, the beginning of one, latest, or a file of `keel pack`: all of its\n"
    "programs, with the options that its client gave. FILE is a program: a file, a digest or a\n"
    "module name as in `keel show`, with --options, or for one device. Programs are compiled in\n"
    "parallel, each in a process of its own, so that a crash of the compiler costs one program.\n"
    "They are stored under the key that the device's own run asks for.\n\n"
    "A line for each program: how long it took, the memory of its process, the size of the\n"
    "executable. The exit code is 1 if one does not compile.\n";

int cli_aot(cli_call_t *call) {
    // The engine and the compiler's thread may look at it until the process ends.
    static aot_t aot;
    const char *python = NULL;
    char *interpreter = NULL;
    int code;
    call->details = details;
    cli_text(call, "--on", "TARGET", "the device: h200:8, v6e:2x4, cpu:4, or a file", &aot.on);
    cli_text(call, "--options", "FILE", "a serialized CompileOptionsProto, for files",
             &aot.options_file);
    cli_text(call, "--python", "PYTHON",
             "the environment of the target's plugin, unless it is the run's", &python);
    cli_switch(call, "--all", "compile also what is in the cache", &aot.all);
    cli_switch(call, "--json", "print JSON", &aot.json);
    cli_setting(call, KEEL_SETTING_PLUGIN);
    cli_setting(call, KEEL_SETTING_CACHE_DIR);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    cli_setting(call, KEEL_SETTING_CUSTOM_CALLS);
    if (!cli_parse(call, 1, -1, &code)) return code;
    if (!aot.on || !*aot.on) return cli_misuse(call, "no target; name one: --on h200:8");
    keel_map_initialize(&aot.known);
    cli_recorded_initialize(&aot.recorded);
    if (!cli_take_packed_runs(call, &aot.recorded.is_foreign, &code)) return code;
    pthread_mutex_init(&aot.lock, NULL);
    uint64_t began = keel_clock_monotonic();
    keel_status_t status = python ? cli_interpreter_named(python, &interpreter) : NULL;
    aot.interpreter = interpreter;
    if (!status) status = prepare(&aot, call);
    if (status) {
        release(&aot);
        if (!aot.engine) keel_target_deinitialize(&aot.target);
        keel_free(interpreter);
        return cli_fail(status);
    }
    for (size_t i = 0; i < aot.count; ++i)
        compile(&aot, aot.programs[i]);
    keel_engine_end(aot.engine);
    code = sum_up(&aot, keel_seconds(keel_clock_monotonic() - began));
    keel_free(interpreter);
    return code;
}
