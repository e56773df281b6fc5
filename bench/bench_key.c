// Reading and keying the train steps of examples/jax/train_gpt.py, next to JAX's own key of the
// same modules, timed in the same run. Prints a section of Markdown.
//
//   bench_key [LAYERS]...      8 and 24 when none is named
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "key/key.h"
#include "read/read.h"

enum { REPEATS = 41, MOST = 8 };

// Of one program. Times in seconds.
typedef struct times_t {
    double digest, read, key;
} times_t;

typedef struct row_t {
    long layers;
    double jax_seconds;
    size_t bytes;
    uint32_t operations;
    times_t times;                // medians
    size_t peak, peak_of_reading; // bytes
} row_t;

static void stop(const char *what, keel_status_t status) {
    fprintf(stderr, "bench_key: %s: %s\n", what, keel_status_message(status));
    exit(1);
}

#define MUST(expression)                                                                           \
    do {                                                                                           \
        keel_status_t must_ = (expression);                                                        \
        if (must_) stop(#expression, must_);                                                       \
    } while (0)

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double values[REPEATS]) {
    qsort(values, REPEATS, sizeof *values, by_size);
    return values[REPEATS / 2];
}

// All of Keel's work until it knows a program's key, except for the backend's components, which are
// made once per client.
static void read_and_key(keel_bytes_t code, keel_bytes_t options, times_t *out, row_t *row) {
    uint64_t start = keel_clock_monotonic();
    keel_digest_t raw = keel_digest(code);
    (void)raw;
    uint64_t digested = keel_clock_monotonic();
    keel_program_t program;
    keel_program_initialize(&program);
    MUST(keel_read_mlir(code, &program));
    row->operations = keel_program_op_count(&program);
    row->peak_of_reading = keel_memory_peak();
    uint64_t was_read = keel_clock_monotonic();
    keel_key_t key;
    keel_digest_t digest;
    keel_cacheable_t cacheable;
    keel_buffer_t canonical, assignment, readable;
    bool understood;
    keel_buffer_initialize(&canonical, 0);
    keel_buffer_initialize(&assignment, 0);
    keel_buffer_initialize(&readable, 0);
    keel_key_initialize(&key);
    MUST(keel_key_program(&program, &digest));
    keel_key_cacheable(&program, NULL, &cacheable);
    keel_program_deinitialize(&program);
    MUST(keel_key_options(options, KEEL_BACKEND_CPU, &canonical, &assignment, &readable,
                          &understood));
    MUST(keel_key_set(&key, KEEL_COMPONENT_PROGRAM, keel_bytes(digest.bytes, KEEL_DIGEST_SIZE),
                      KEEL_STR("")));
    MUST(keel_key_set(&key, KEEL_COMPONENT_OPTIONS, keel_buffer_bytes(&canonical),
                      keel_bytes_str(keel_buffer_bytes(&readable))));
    MUST(keel_key_finish(&key));
    keel_buffer_deinitialize(&canonical);
    keel_buffer_deinitialize(&assignment);
    keel_buffer_deinitialize(&readable);
    keel_key_deinitialize(&key);
    *out = (times_t){keel_seconds(digested - start), keel_seconds(was_read - digested),
                     keel_seconds(keel_clock_monotonic() - was_read)};
    if (cacheable.yes && understood) return;
    fprintf(stderr, "bench_key: the train step is not cacheable: %s\n", cacheable.reason);
    exit(1);
}

static keel_bytes_t file_of(const char *folder, long layers, const char *ending) {
    char *path;
    uint8_t *data;
    size_t size;
    MUST(keel_path(&path, "%s/gpt%ld.%s", folder, layers, ending));
    MUST(keel_file_read(path, 1 << 28, &data, &size));
    MUST(keel_file_remove(path));
    keel_free(path);
    return keel_bytes(data, size);
}

static void measure(const char *folder, row_t *row) {
    keel_bytes_t code = file_of(folder, row->layers, "mlir");
    keel_bytes_t options = file_of(folder, row->layers, "opts");
    double digest[REPEATS], read[REPEATS], key[REPEATS];
    times_t times;
    for (int i = 0; i < REPEATS; ++i) {
        read_and_key(code, options, &times, row);
        digest[i] = times.digest;
        read[i] = times.read;
        key[i] = times.key;
    }
    row->bytes = code.size;
    row->times = (times_t){median(digest), median(read), median(key)};
    keel_memory_watch(1);
    read_and_key(code, options, &times, row);
    row->peak = keel_memory_peak();
    keel_memory_watch(0);
    keel_free((void *)(uintptr_t)code.data);
    keel_free((void *)(uintptr_t)options.data);
}

// The script writes the programs; returns JAX's times for their keys.
static size_t make_programs(const char *folder, int count, const char *const *layers,
                            row_t rows[MOST]) {
    char command[4096];
    int used =
        snprintf(command, sizeof command, "'%s/.venv/bin/python' '%s/bench/make_programs.py' '%s'",
                 KEEL_SOURCE, KEEL_SOURCE, folder);
    for (int i = 0; i < count && used < (int)sizeof command - 32; ++i)
        used += snprintf(command + used, sizeof command - (size_t)used, " %ld",
                         strtol(layers[i], NULL, 10));
    FILE *pipe = popen(command, "r");
    size_t made = 0;
    while (pipe && made < MOST &&
           fscanf(pipe, "%ld %lf", &rows[made].layers, &rows[made].jax_seconds) == 2)
        ++made;
    if (pipe && pclose(pipe) == 0 && made) return made;
    fprintf(stderr, "bench_key: %s failed\n", command);
    exit(1);
}

static void print_times(const row_t *row) {
    double both = row->times.read + row->times.key, all = both + row->times.digest;
    printf("| %ld | %.0f kB, %u operations | %.2f ms | %.2f ms | %.0f MB/s | %.2f ms | %.2f ms "
           "| %.1f ms | %.3f |\n",
           row->layers, (double)row->bytes * 1e-3, row->operations, row->times.read * 1e3,
           row->times.key * 1e3, (double)row->bytes * 1e-6 / both, row->times.digest * 1e3,
           all * 1e3, row->jax_seconds * 1e3, all / row->jax_seconds);
}

static void print(const row_t *rows, size_t count) {
    printf("## Reading and keying\n\n"
           "Command: `build/bin/bench_key`. The train step of `examples/jax/train_gpt.py` as a "
           "plugin gets it, on one core: reading the bytecode, the canonical key with the compile "
           "options, and the digest of the raw bytes by which the journal names the program. "
           "`jax._src.cache_key.get` is measured on the same module in the same run. Medians of "
           "%d and 15.\n\n",
           REPEATS);
    printf("| layers | bytecode | reading | keying | reading and keying | raw digest | all "
           "| JAX's key | Keel / JAX |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < count; ++i)
        print_times(&rows[i]);
    printf("\nPeak memory, as a multiple of the bytecode:\n\n"
           "| layers | while reading | while reading and keying |\n|---|---|---|\n");
    for (size_t i = 0; i < count; ++i)
        printf("| %ld | %.1f | %.1f |\n", rows[i].layers,
               (double)rows[i].peak_of_reading / (double)rows[i].bytes,
               (double)rows[i].peak / (double)rows[i].bytes);
}

int main(int argc, char **argv) {
    static const char *const usual[] = {"8", "24"};
    char folder[] = "/tmp/keel-bench-XXXXXX";
    row_t rows[MOST] = {0};
    // As in a client that has run for a while: freed memory is reused, not requested from the
    // system page by page for each program.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    if (!mkdtemp(folder)) {
        perror("bench_key: a temporary folder");
        return 1;
    }
    size_t count = make_programs(folder, argc > 1 ? argc - 1 : 2,
                                 argc > 1 ? (const char *const *)argv + 1 : usual, rows);
    for (size_t i = 0; i < count; ++i)
        measure(folder, &rows[i]);
    rmdir(folder);
    print(rows, count);
    return 0;
}
