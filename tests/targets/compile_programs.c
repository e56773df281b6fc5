// Compiles recorded programs for a target, several at a time, and prints a line of JSON for each.
//
//   compile_programs TARGET PLUGIN WORKERS OUT PROGRAM OPTIONS [PROGRAM OPTIONS]...
//
// A program is a file that ends in .mlir or .hlo. OUT is a folder that gets the executables and the
// optimized programs, or
// "-".
#include <stdio.h>
#include <stdlib.h>

#include "compiler/compiler.h"
#include "compiler/handlers.h"

static _Noreturn void give_up(keel_status_t status) {
    fprintf(stderr, "compile_programs: %s\n", keel_status_message(status));
    exit(2);
}

static void check(keel_status_t status) {
    if (status) give_up(status);
}

static keel_bytes_t read_file(const char *path) {
    uint8_t *data;
    size_t size;
    check(keel_file_read(path, 1 << 30, &data, &size));
    return keel_bytes(data, size);
}

static void write_memory(keel_json_t *json, const keel_program_memory_t *memory) {
    keel_json_object(json, "memory");
    keel_json_unsigned(json, "arguments", memory->arguments);
    keel_json_unsigned(json, "outputs", memory->outputs);
    keel_json_unsigned(json, "aliased", memory->aliased);
    keel_json_unsigned(json, "temporaries", memory->temporaries);
    keel_json_unsigned(json, "code", memory->code);
    keel_json_unsigned(json, "peak", memory->peak);
    keel_json_end_object(json);
}

static void write_bytes(keel_json_t *json, const char *name, keel_bytes_t bytes) {
    keel_digest_t digest = keel_digest(bytes);
    keel_json_object(json, name);
    keel_json_unsigned(json, "size", bytes.size);
    keel_json_digest(json, "digest", &digest);
    keel_json_end_object(json);
}

static void print_one(const char *program, const keel_compiled_t *one) {
    keel_buffer_t line;
    keel_buffer_initialize(&line, 0);
    keel_json_t json = keel_json(&line, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_string(&json, "program", program);
    keel_json_unsigned(&json, "id", one->id);
    keel_json_int(&json, "code", one->code);
    keel_json_string(&json, "error", one->error);
    if (!one->error) {
        write_bytes(&json, "executable", keel_bytes(one->executable, one->executable_size));
        write_bytes(&json, "optimized", keel_bytes(one->program, one->program_size));
        keel_json_string(&json, "format", one->program_format);
        keel_json_hex(&json, "fingerprint", keel_bytes(one->fingerprint, one->fingerprint_size));
        if (one->has_memory) write_memory(&json, &one->memory);
    }
    keel_json_double(&json, "seconds", one->seconds, 4);
    keel_json_double(&json, "cpu_seconds", one->cpu_seconds, 4);
    keel_json_unsigned(&json, "peak_memory", one->peak_memory);
    keel_json_end_object(&json);
    puts(keel_buffer_cstr(&line));
    fflush(stdout);
    keel_buffer_deinitialize(&line);
}

static void keep(const char *folder, const keel_compiled_t *one) {
    char *path;
    if (strcmp(folder, "-") == 0 || one->error) return;
    check(keel_path(&path, "%s/%llu.executable", folder, (unsigned long long)one->id));
    check(keel_file_create(path, keel_bytes(one->executable, one->executable_size)));
    keel_free(path);
    if (!one->program) return;
    check(keel_path(&path, "%s/%llu.optimized", folder, (unsigned long long)one->id));
    check(keel_file_create(path, keel_bytes(one->program, one->program_size)));
    keel_free(path);
}

// ---- handlers ----------------------------------------------------------------------------------

static char *take_word(char **rest) {
    char *word = *rest;
    size_t size = strcspn(word, "\t");
    *rest = word + size + (word[size] == '\t');
    word[size] = 0;
    return word;
}

static void add_handler(char *line) {
    keel_handler_t handler = {.kind = (keel_handler_kind_t)strtoul(take_word(&line), NULL, 10)};
    handler.name = take_word(&line);
    handler.platform = take_word(&line);
    handler.api_version = (int)strtol(take_word(&line), NULL, 10);
    handler.traits = (uint32_t)strtoul(take_word(&line), NULL, 10);
    for (int i = 0; i < KEEL_HANDLER_PLACES; ++i) {
        const char *library = take_word(&line);
        handler.places[i].library = strcmp(library, "-") == 0 ? NULL : library;
        handler.places[i].offset = strtoull(take_word(&line), NULL, 10);
    }
    check(keel_handler_add(&handler));
}

static void add_handlers(const char *path) {
    char line[16384];
    FILE *file = path ? fopen(path, "r") : NULL;
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        add_handler(line);
    }
    if (file) fclose(file);
}

// ---- compiling ---------------------------------------------------------------------------------

static keel_job_t read_job(char **words) {
    bool is_hlo = keel_str_ends(keel_str(words[0]), KEEL_STR(".hlo"));
    return (keel_job_t){.code = read_file(words[0]),
                        .options = read_file(words[1]),
                        .format = is_hlo ? "hlo" : "mlir",
                        .context = words[0]};
}

static void free_job(const keel_job_t *job) {
    keel_free((void *)(uintptr_t)job->code.data);
    keel_free((void *)(uintptr_t)job->options.data);
}

static bool show(const char *out, keel_compiled_t *one) {
    bool is_good = !one->error;
    print_one(one->context, one);
    keep(out, one);
    keel_compiled_deinitialize(one);
    return is_good;
}

static bool compile_in_children(const keel_target_t *target, char **words, int count) {
    keel_compiler_t *compiler;
    bool all_good = true;
    const keel_compiler_settings_t settings = {.target = target,
                                               .plugin = words[2],
                                               .interpreter = getenv("PYTHON"),
                                               .workers = (unsigned)strtoul(words[3], NULL, 10)};
    add_handlers(getenv("HANDLERS"));
    check(keel_compiler_start(&settings, &compiler));
    for (int i = 5; i < count; i += 2) {
        uint64_t id;
        keel_job_t job = read_job(words + i);
        check(keel_compiler_submit(compiler, &job, &id));
        free_job(&job);
    }
    for (int i = 5; i < count; i += 2) {
        keel_compiled_t one;
        check(keel_compiler_wait(compiler, KEEL_COMPILER_ANY, &one));
        all_good &= show(words[4], &one);
    }
    keel_compiler_stop(compiler);
    return all_good;
}

static void compile_job_here(const PJRT_Api *api, PJRT_TopologyDescription *topology,
                             const keel_job_t *job, keel_compiled_t *out) {
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)job->code.data,
                            .code_size = job->code.size,
                            .format = job->format,
                            .format_size = strlen(job->format)};
    PJRT_Compile_Args args = {KEEL_PJRT_SIZE(PJRT_Compile), .topology = topology,
                              .program = &program,
                              .compile_options = (const char *)job->options.data,
                              .compile_options_size = job->options.size};
    uint64_t began = keel_clock_monotonic();
    check(KEEL_PJRT_CALL(api, PJRT_Compile, args));
    out->seconds = keel_seconds(keel_clock_monotonic() - began);
    check(keel_pjrt_serialize(api, args.executable, &out->executable, &out->executable_size));
}

static bool compile_here(const keel_target_t *target, char **words, int count) {
    keel_plugin_t plugin;
    PJRT_TopologyDescription *topology;
    PJRT_Plugin_Initialize_Args first = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    check(keel_target_set_environment(target));
    check(keel_plugin_load(words[2], &plugin));
    check(KEEL_PJRT_CALL(plugin.api, PJRT_Plugin_Initialize, first));
    check(keel_target_topology(target, plugin.api, &topology));
    for (int i = 5; i < count; i += 2) {
        keel_job_t job = read_job(words + i);
        keel_compiled_t one = {.context = job.context, .id = (uint64_t)(i - 3) / 2};
        compile_job_here(plugin.api, topology, &job, &one);
        free_job(&job);
        show(words[4], &one);
    }
    return true;
}

int main(int count, char **words) {
    keel_target_t target;
    if (count < 5 || count % 2 == 0) {
        fputs("usage: compile_programs TARGET PLUGIN WORKERS OUT [PROGRAM OPTIONS]...\n", stderr);
        return 2;
    }
    check(keel_target_read(words[1], &target));
    bool is_good =
        (strcmp(words[3], "here") == 0 ? compile_here : compile_in_children)(&target, words, count);
    keel_target_deinitialize(&target);
    return is_good ? 0 : 1;
}
