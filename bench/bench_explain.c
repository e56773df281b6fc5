// The cost of explaining a compile, compared with that compile: reading both programs back, finding
// the nearest of as many as a history holds, and comparing the two. The plugin itself compiles in
// the same run. Prints a section of Markdown.
#define _GNU_SOURCE
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explain/explain.h"
#include "history/history.h"
#include "pjrt/pjrt.h"
#include "read/read.h"

enum { MOST_REPEATS = 21 };

typedef struct row_t {
    const char *what, *base, *changed;
    int repeats;
    size_t bytes; // of both programs
    uint32_t operations;
    double read, nearest, explain; // seconds, medians; reading is of both
    size_t peak;                   // bytes in use while all of it runs, the programs' own included
    size_t roots, folded;
    const char *first; // word of the first root's cause
} row_t;

typedef struct stack_cost_t {
    double first, microseconds;
    unsigned frames, kept;
} stack_cost_t;

static void stop(const char *what, const char *why) {
    fprintf(stderr, "bench_explain: %s: %s\n", what, why);
    exit(1);
}

#define MUST(expression)                                                                           \
    do {                                                                                           \
        keel_status_t must_ = (expression);                                                        \
        if (must_) stop(#expression, keel_status_message(must_));                                  \
    } while (0)

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_size);
    return values[count / 2];
}

static keel_bytes_t file_of(const char *folder, const char *name, const char *ending) {
    char *path;
    uint8_t *data;
    size_t size;
    MUST(keel_path(&path, "%s/%s.%s", folder, name, ending));
    MUST(keel_file_read(path, 1 << 28, &data, &size));
    keel_free(path);
    return keel_bytes(data, size);
}

// ---- the compile -------------------------------------------------------------------------------

static double compile_seconds(const char *folder, const char *name) {
    keel_bytes_t code = file_of(folder, name, "mlir"), options = file_of(folder, name, "opts");
    keel_plugin_t plugin;
    MUST(keel_plugin_load(KEEL_EMBEDDED_PLUGIN, &plugin));
    const PJRT_Api *api = plugin.api;
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    MUST(keel_pjrt_status(api, api->PJRT_Client_Create(&create), "PJRT_Client_Create"));
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)code.data,
                            .code_size = code.size,
                            .format = "mlir",
                            .format_size = 4};
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = create.client,
                                     .program = &program,
                                     .compile_options = (const char *)options.data,
                                     .compile_options_size = options.size};
    uint64_t start = keel_clock_monotonic();
    MUST(keel_pjrt_status(api, api->PJRT_Client_Compile(&args), "PJRT_Client_Compile"));
    double seconds = keel_seconds(keel_clock_monotonic() - start);
    keel_free((void *)(uintptr_t)code.data);
    keel_free((void *)(uintptr_t)options.data);
    return seconds;
}

// ---- explaining --------------------------------------------------------------------------------

// A history as full as it may become: the old program and others of its name that are less and less
// like it.
static keel_history_t *full_history(const keel_program_t *old) {
    keel_history_t *history;
    keel_sketch_t sketch;
    keel_key_t key;
    keel_sketch_of(old, &sketch);
    keel_key_initialize(&key);
    MUST(keel_key_finish(&key));
    MUST(keel_history_open(NULL, "train.py", "run", 0, &history));
    for (unsigned i = 0; i < KEEL_HISTORY_LIMIT; ++i) {
        keel_sketch_t other = sketch;
        other.signature += i;
        for (unsigned j = 0; j < i % KEEL_SKETCH_BUCKETS; ++j)
            other.counts[j] = (uint16_t)(other.counts[j] + i);
        memcpy(key.components[KEEL_COMPONENT_PROGRAM].bytes, &i, sizeof i);
        MUST(keel_key_finish(&key));
        keel_history_record_t record = {.name = "jit_step",
                                        .origin = "train.py:10",
                                        .run = "run",
                                        .sketch = other,
                                        .key = &key,
                                        .seconds = 1,
                                        .when = i,
                                        .is_ours = true};
        memcpy(record.program.bytes, &i, sizeof i);
        MUST(keel_history_add(history, &record));
    }
    keel_key_deinitialize(&key);
    return history;
}

static void find_nearest(keel_history_t *history, const keel_program_t *program) {
    keel_sketch_t sketch;
    keel_key_t key;
    keel_arena_t arena;
    keel_history_record_t record;
    keel_key_initialize(&key);
    memset(key.components[KEEL_COMPONENT_PROGRAM].bytes, 0xff, KEEL_DIGEST_SIZE);
    keel_arena_initialize(&arena, 0);
    keel_sketch_of(program, &sketch);
    keel_history_query_t query = {
        .name = "jit_step", .origin = "train.py:10", .sketch = &sketch, .key = &key};
    if (!keel_history_nearest(history, &query, &arena, &record))
        stop("keel_history_nearest", "found none");
    keel_arena_deinitialize(&arena);
    keel_key_deinitialize(&key);
}

static void read_both(const keel_bytes_t *codes, keel_program_t *programs) {
    for (int i = 0; i < 2; ++i) {
        keel_program_initialize(&programs[i]);
        MUST(keel_read(codes[i], &programs[i]));
    }
}

static void explain(const keel_program_t *programs, row_t *row) {
    keel_explanation_t explanation;
    keel_explanation_initialize(&explanation);
    MUST(keel_explain(&(keel_side_t){.program = &programs[0]},
                      &(keel_side_t){.program = &programs[1]}, &explanation));
    row->roots = explanation.root_total;
    row->folded = explanation.folded_total;
    row->first = explanation.unrelated    ? "unrelated"
                 : explanation.root_count ? keel_cause_facts(explanation.roots[0].kind)->word
                                          : "nothing";
    keel_explanation_deinitialize(&explanation);
}

static void close_both(keel_program_t *programs) {
    keel_program_deinitialize(&programs[0]);
    keel_program_deinitialize(&programs[1]);
}

static void measure(const char *folder, row_t *row) {
    keel_bytes_t codes[2] = {file_of(folder, row->base, "mlir"),
                             file_of(folder, row->changed, "mlir")};
    keel_program_t programs[2];
    double read[MOST_REPEATS], nearest[MOST_REPEATS], explained[MOST_REPEATS];
    row->bytes = codes[0].size + codes[1].size;
    read_both(codes, programs);
    row->operations = keel_program_op_count(&programs[1]);
    keel_history_t *history = full_history(&programs[0]);
    close_both(programs);
    for (int i = 0; i < row->repeats; ++i) {
        uint64_t start = keel_clock_monotonic();
        read_both(codes, programs);
        uint64_t was_read = keel_clock_monotonic();
        find_nearest(history, &programs[1]);
        uint64_t found = keel_clock_monotonic();
        explain(programs, row);
        uint64_t end = keel_clock_monotonic();
        close_both(programs);
        read[i] = keel_seconds(was_read - start);
        nearest[i] = keel_seconds(found - was_read);
        explained[i] = keel_seconds(end - found);
    }
    row->read = median(read, row->repeats);
    row->nearest = median(nearest, row->repeats);
    row->explain = median(explained, row->repeats);
    keel_history_close(history);
    keel_memory_watch(1);
    read_both(codes, programs);
    explain(programs, row);
    close_both(programs);
    row->peak = keel_memory_peak() + row->bytes;
    keel_memory_watch(0);
    keel_free((void *)(uintptr_t)codes[0].data);
    keel_free((void *)(uintptr_t)codes[1].data);
}

// ---- the report --------------------------------------------------------------------------------

static void make_programs(const char *folder, stack_cost_t *out) {
    char command[4096];
    snprintf(command, sizeof command,
             "'%s/.venv/bin/python' '%s/bench/make_programs.py' '%s' --explain '%s'", KEEL_SOURCE,
             KEEL_SOURCE, folder, KEEL_BENCH_STACK);
    FILE *pipe = popen(command, "r");
    bool good = pipe && fscanf(pipe, "%lf %lf %u %u", &out->first, &out->microseconds, &out->frames,
                               &out->kept) == 4;
    if (!pipe || pclose(pipe) || !good) stop(command, "failed");
    if (out->kept == UINT_MAX) stop("the Python stack", "was skipped");
}

static double all_of(const row_t *row) {
    return row->read + row->nearest + row->explain;
}

static void print_row(const row_t *row, double compile) {
    printf("| %s | %u | %.1f ms | %.2f ms | %.1f ms | %.1f ms | ", row->what, row->operations,
           row->read * 1e3, row->nearest * 1e3, row->explain * 1e3, all_of(row) * 1e3);
    if (compile > 0)
        printf("%.2f %%", all_of(row) / compile * 100);
    else
        printf("-");
    printf(" | %.1f | %s: %zu, %zu |\n", (double)row->peak / (double)row->bytes, row->first,
           row->roots, row->folded);
}

static void print(const row_t *rows, size_t count, double compile, const stack_cost_t *stack) {
    printf("## Explaining\n\n"
           "Command: `build/bin/bench_explain`. Each row compares two versions of a program: read "
           "both, find the nearest of %d known programs, compare the two; medians of up to %d "
           "repeats. All of it happens in keel's own process. In the same run the embedded plugin "
           "compiles the first train step (8 layers of `examples/jax/train_gpt.py`): %.2f s. "
           "`memory` is the peak, programs included, as a multiple of the two programs' bytes. "
           "`found` is the first cause, the number of causes, and the number of differences that "
           "follow.\n\n",
           KEEL_HISTORY_LIMIT, MOST_REPEATS, compile);
    printf(
        "| what changed | operations | reading both | nearest | comparing | all | of the compile "
        "| memory | found |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < count; ++i)
        print_row(&rows[i], strncmp(rows[i].base, "gpt", 3) == 0 ? compile : 0);
    printf("\nOn the client's own thread, before it has its executable: reading the Python stack "
           "when JAX compiles (%u frames, of which %u are kept) takes %.0f µs, and %.0f µs the "
           "first time.\n",
           stack->frames, stack->kept, stack->microseconds, stack->first);
}

int main(void) {
    row_t rows[] = {
        {.what = "train step: half the batch", .base = "gpt8", .changed = "gpt8_batch"},
        {.what = "train step: a constant", .base = "gpt8", .changed = "gpt8_constant"},
        {.what = "train step: a layer more", .base = "gpt8", .changed = "gpt8_layer"},
        {.what = "20,000: half the batch", .base = "ops20000", .changed = "ops20000_batch"},
        {.what = "20,000: a constant", .base = "ops20000", .changed = "ops20000_constant"},
        {.what = "20,000: a layer more", .base = "ops20000", .changed = "ops20000_layer"},
        {.what = "100,000: half the batch", .base = "ops100000", .changed = "ops100000_batch"},
        {.what = "100,000: a constant", .base = "ops100000", .changed = "ops100000_constant"},
        {.what = "100,000: a layer more", .base = "ops100000", .changed = "ops100000_layer"},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    char folder[] = "/tmp/keel-bench-XXXXXX", command[64];
    stack_cost_t stack;
    // As in a client that has run for a while; see bench_key.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    setenv("TF_CPP_MIN_LOG_LEVEL", "3", 0);
    if (!mkdtemp(folder)) stop("a temporary folder", "cannot be made");
    make_programs(folder, &stack);
    for (size_t i = 0; i < ROWS; ++i) {
        rows[i].repeats = strncmp(rows[i].base, "ops100000", 9) == 0 ? 7 : MOST_REPEATS;
        measure(folder, &rows[i]);
    }
    double compile = compile_seconds(folder, "gpt8");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) stop(folder, "cannot be removed");
    print(rows, ROWS, compile, &stack);
    return 0;
}
