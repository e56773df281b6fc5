// A small recorded run, with real programs, for tests of packs.
#ifndef KEEL_TESTS_PACK_HELP_H_
#define KEEL_TESTS_PACK_HELP_H_

#include "place.h"

#include "journal/journal.h"
#include "pack/pack.h"

#define PACK_RUN "20260101-120000-0000aaaa"

// Programs of tests/samples that the run asked for; the last one is HLO.
static const char *const pack_samples[] = {"mlir/nested_jit.mlir", "mlir/dtypes.mlir",
                                           "hlo/linear_step.hlo"};
enum { PACK_SAMPLES = 3 };
static const char pack_options[] = "\x1a\x04\x20\x01\x28\x01";

static inline void pack_read(const char *path, uint8_t **out, size_t *out_size) {
    assert_ok(keel_file_read(path, 1 << 26, out, out_size));
}

static inline void pack_sample(const char *name, uint8_t **out, size_t *out_size) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", KEEL_TEST_SAMPLES, name);
    pack_read(path, out, out_size);
}

static inline void pack_compile(keel_journal_t *journal, const char *sample) {
    uint8_t *code;
    size_t size;
    pack_sample(sample, &code, &size);
    bool is_hlo = strncmp(sample, "hlo", 3) == 0;
    keel_digest_t program = keel_digest(keel_bytes(code, size));
    keel_digest_t options = keel_digest(keel_bytes(pack_options, sizeof pack_options - 1));
    keel_digest_t key = keel_digest(keel_str_bytes(keel_str(sample)));
    keel_journal_program(journal, &program, is_hlo ? "hlo" : "mlir", keel_bytes(code, size));
    keel_journal_program(journal, &options, "options",
                         keel_bytes(pack_options, sizeof pack_options - 1));
    const keel_journal_count_t counts[] = {{program, 3, 0}};
    const keel_journal_compile_t event = {
        .subject = {&program, "jit_secret_step", &key},
        .seconds = 0.25,
        .format = is_hlo ? "hlo" : "mlir",
        .options = &options,
        .site = {.file = "/home/someone/secret.py", .line = 7, .function = "secret_function"},
        .executes = {counts, 1}};
    keel_journal_compile(journal, &event);
    keel_free(code);
}

// The run in `run_dir`, with a source.
static inline void pack_record(const char *run_dir) {
    keel_journal_t *journal;
    char path[512], hex[KEEL_DIGEST_HEX];
    assert_ok(keel_journal_open(run_dir, PACK_RUN, &journal));
    keel_key_t key;
    keel_key_initialize(&key);
    const keel_journal_start_t start = {
        .plugin = {.path = "/home/someone/plugins/cpu.so", .name = "cpu.so", .platform = "cpu"},
        .cache_dir = "/home/someone/cache",
        .script = "secret.py-1",
        .key = &key};
    keel_journal_start(journal, &start);
    keel_key_deinitialize(&key);
    for (size_t i = 0; i < PACK_SAMPLES; ++i)
        pack_compile(journal, pack_samples[i]);
    keel_journal_close(journal);
    const keel_bytes_t source = keel_bytes("a secret line\n", 14);
    keel_digest_t digest = keel_digest(source);
    keel_digest_hex(&digest, hex);
    snprintf(path, sizeof path, "%s/sources", run_dir);
    assert_ok(keel_directory_make(path));
    uint8_t *packed;
    size_t size;
    assert_ok(keel_pack(source, &packed, &size));
    snprintf(path, sizeof path, "%s/sources/%s.zst", run_dir, hex);
    assert_ok(keel_file_create(path, keel_bytes(packed, size)));
    keel_free(packed);
    char line[KEEL_DIGEST_HEX + 64];
    int length = snprintf(line, sizeof line, "%s\t/home/someone/secret.py\n", hex);
    snprintf(path, sizeof path, "%s/" PACK_RUN "/sources.tsv", run_dir);
    assert_ok(keel_file_create(path, keel_bytes(line, (size_t)length)));
}

#endif // KEEL_TESTS_PACK_HELP_H_
