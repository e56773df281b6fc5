// A run as one file: what goes in comes out, and what does not belong there is refused.
#define _GNU_SOURCE
#include "pack_help.h"

#include "base/tar.h"
#include "key/key.h"
#include "read/read.h"

typedef struct stage_t {
    place_t place;
    char runs[300], file[300], folder[300];
} stage_t;

static int begin(void **state) {
    static stage_t stage;
    place_make(&stage.place);
    snprintf(stage.runs, sizeof stage.runs, "%s/runs", stage.place.root);
    snprintf(stage.file, sizeof stage.file, "%s/run.keelpack", stage.place.root);
    snprintf(stage.folder, sizeof stage.folder, "%s/out", stage.place.root);
    assert_int_equal(mkdir(stage.folder, 0700), 0);
    *state = &stage;
    return 0;
}

static int end(void **state) {
    place_remove(&((stage_t *)*state)->place);
    return 0;
}

static void write_pack(const stage_t *stage, keel_pack_settings_t settings) {
    keel_packed_t packed;
    assert_ok(keel_pack_write(stage->runs, PACK_RUN, &settings, stage->file, &packed));
    assert_int_equal(packed.programs, PACK_SAMPLES);
    assert_int_equal(packed.left_out, 0);
}

static void unpack(const stage_t *stage, const char *expected) {
    char *id;
    assert_ok(keel_pack_unpack(stage->file, stage->folder, &id));
    assert_string_equal(id, expected);
    keel_free(id);
}

static void assert_same_file(const stage_t *stage, const char *folder, const char *name) {
    char one[512], other[512];
    uint8_t *a, *b;
    size_t a_size, b_size;
    snprintf(one, sizeof one, "%s/%s", stage->runs, name);
    snprintf(other, sizeof other, "%s/%s", folder, name);
    pack_read(one, &a, &a_size);
    pack_read(other, &b, &b_size);
    if (!keel_bytes_equal(keel_bytes(a, a_size), keel_bytes(b, b_size)))
        fail_msg("%s is not what it was", name);
    keel_free(a);
    keel_free(b);
}

typedef struct names_in_t {
    char list[64][128];
    size_t count;
} names_in_t;

static keel_status_t take_name(void *context, const char *name) {
    names_in_t *names = context;
    snprintf(names->list[names->count++], 128, "%s", name);
    return NULL;
}

static names_in_t files_of(const char *folder, const char *below) {
    char path[512];
    names_in_t names = {.count = 0};
    snprintf(path, sizeof path, "%s/%s", folder, below);
    assert_ok(keel_directory_walk(path, take_name, &names));
    return names;
}

// ---- what comes out ----------------------------------------------------------------------------

static void assert_same_run(const stage_t *stage, const char *folder) {
    const char *const folders[] = {"programs", "sources"};
    assert_same_file(stage, folder, PACK_RUN "/journal.ndjson");
    assert_same_file(stage, folder, PACK_RUN "/sources.tsv");
    for (int k = 0; k < 2; ++k) {
        names_in_t names = files_of(stage->runs, folders[k]);
        assert_int_equal(files_of(folder, folders[k]).count, names.count);
        for (size_t i = 0; i < names.count; ++i) {
            char name[256];
            snprintf(name, sizeof name, "%s/%s", folders[k], names.list[i]);
            assert_same_file(stage, folder, name);
        }
    }
}

static void what_is_packed_comes_out_as_it_was(void **state) {
    const stage_t *stage = *state;
    pack_record(stage->runs);
    write_pack(stage, (keel_pack_settings_t){.without_names = false});
    assert_true(keel_pack_is(stage->file));
    unpack(stage, PACK_RUN);
    assert_same_run(stage, stage->folder);
    // Once more: under a number of its own.
    unpack(stage, PACK_RUN ".2");
    assert_int_equal(files_of(stage->folder, "programs").count, PACK_SAMPLES + 1);
}

static void a_run_gives_the_same_file_each_time(void **state) {
    const stage_t *stage = *state;
    uint8_t *files[2];
    size_t sizes[2];
    pack_record(stage->runs);
    for (int i = 0; i < 2; ++i) {
        write_pack(stage, (keel_pack_settings_t){.without_names = true});
        pack_read(stage->file, &files[i], &sizes[i]);
    }
    assert_true(keel_bytes_equal(keel_bytes(files[0], sizes[0]), keel_bytes(files[1], sizes[1])));
    keel_free(files[0]);
    keel_free(files[1]);
}

static void assert_absent(keel_bytes_t bytes, const char *where) {
    static const char *const words[] = {"secret", "someone", "/home"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (memmem(bytes.data, bytes.size, words[i], strlen(words[i])))
            fail_msg("%s has '%s'", where, words[i]);
}

static void without_sources_the_rest_stays(void **state) {
    const stage_t *stage = *state;
    pack_record(stage->runs);
    write_pack(stage, (keel_pack_settings_t){.without_sources = true});
    unpack(stage, PACK_RUN);
    char path[512];
    snprintf(path, sizeof path, "%s/sources", stage->folder);
    assert_false(keel_is_folder(path));
    snprintf(path, sizeof path, "%s/" PACK_RUN "/sources.tsv", stage->folder);
    assert_false(keel_is_file(path));
    uint8_t *journal;
    size_t size;
    snprintf(path, sizeof path, "%s/" PACK_RUN "/journal.ndjson", stage->folder);
    pack_read(path, &journal, &size);
    assert_non_null(memmem(journal, size, "jit_secret_step", 15));
    keel_free(journal);
}

// ---- without names -----------------------------------------------------------------------------

typedef struct named_t {
    const stage_t *stage;
    size_t compiles;
} named_t;

static keel_digest_t key_of(keel_bytes_t bytes) {
    keel_program_t program;
    keel_digest_t digest;
    assert_ok(keel_read(bytes, &program));
    assert_ok(keel_key_program(&program, &digest));
    keel_program_deinitialize(&program);
    return digest;
}

// Its program is there under the digest of its bytes, and its executions are counted under it.
static keel_status_t check_compile(void *context, const struct json_t *event) {
    named_t *named = context;
    if (strcmp(keel_event_text(event, "event"), "compile") != 0) return NULL;
    const char *digest = keel_event_text(event, "program");
    const char *sample = pack_samples[named->compiles++];
    char path[512];
    uint8_t *stripped, *whole;
    size_t stripped_size, whole_size;
    snprintf(path, sizeof path, "%s/programs/%s.%.*s.zst", named->stage->folder, digest,
             (int)strcspn(sample, "/"), sample);
    assert_ok(keel_journal_read_program(path, &stripped, &stripped_size));
    pack_sample(sample, &whole, &whole_size);
    assert_int_equal(stripped_size, whole_size);
    keel_digest_t key = key_of(keel_bytes(whole, whole_size));
    keel_digest_t now = key_of(keel_bytes(stripped, stripped_size));
    assert_true(keel_digest_equal(&key, &now));
    keel_free(stripped);
    keel_free(whole);
    return NULL;
}

static void without_names_programs_keep_their_keys(void **state) {
    const stage_t *stage = *state;
    pack_record(stage->runs);
    write_pack(stage, (keel_pack_settings_t){.without_names = true});
    unpack(stage, PACK_RUN);
    uint8_t *journal;
    size_t size;
    char path[512];
    snprintf(path, sizeof path, "%s/" PACK_RUN "/journal.ndjson", stage->folder);
    pack_read(path, &journal, &size);
    assert_absent(keel_bytes(journal, size), "the journal");
    named_t named = {.stage = stage};
    keel_journal_damage_t damage;
    assert_ok(keel_journal_parse(keel_bytes(journal, size), check_compile, &named, &damage));
    assert_int_equal(named.compiles, PACK_SAMPLES);
    assert_int_equal(damage.lines, 0);
    keel_free(journal);
    snprintf(path, sizeof path, "%s/sources", stage->folder);
    assert_false(keel_is_folder(path));
}

// ---- what is refused ---------------------------------------------------------------------------

static void put(keel_buffer_t *tar, const char *name, const char *contents) {
    size_t size = strlen(contents);
    keel_tar_put_header(tar, name, size);
    keel_buffer_append(tar, contents, size);
    for (size_t i = 0; i < keel_tar_padding(size); ++i)
        keel_buffer_byte(tar, 0);
}

static void begin_tar(keel_buffer_t *tar) {
    keel_buffer_initialize(tar, 0);
    put(tar, "keel-pack.json", "{\"event\":\"pack\",\"form\":1,\"run\":\"" PACK_RUN "\"}");
}

static void compress(const stage_t *stage, keel_buffer_t *tar) {
    uint8_t *packed;
    size_t size;
    assert_ok(keel_pack(keel_buffer_bytes(tar), &packed, &size));
    keel_buffer_deinitialize(tar);
    assert_ok(keel_file_replace(stage->file, keel_bytes(packed, size)));
    keel_free(packed);
}

static void refused(const stage_t *stage, const char *why) {
    char *id;
    keel_status_t status = keel_pack_unpack(stage->file, stage->folder, &id);
    assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
    if (!strstr(keel_status_message(status), why))
        fail_msg("'%s' does not say '%s'", keel_status_message(status), why);
    assert_non_null(strstr(keel_status_message(status), "run.keelpack"));
    keel_status_ignore(status);
}

static void members_of_other_names_are_refused(void **state) {
    static const char digest[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const char *const names[] = {"../evil",
                                        "/etc/passwd",
                                        "programs/../../evil.mlir.zst",
                                        "other-run/journal.ndjson",
                                        PACK_RUN "/../journal.ndjson",
                                        PACK_RUN "/journal.ndjson/x",
                                        PACK_RUN,
                                        PACK_RUN "/metrics.json",
                                        "programs/short.mlir.zst",
                                        "history/x",
                                        ""};
    const stage_t *stage = *state;
    keel_buffer_t tar;
    char name[KEEL_TAR_NAME];
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        begin_tar(&tar);
        put(&tar, names[i], "x");
        keel_tar_put_end(&tar);
        compress(stage, &tar);
        refused(stage, "does not belong there");
    }
    snprintf(name, sizeof name, "programs/%s.so.zst", digest);
    begin_tar(&tar);
    put(&tar, name, "x");
    keel_tar_put_end(&tar);
    compress(stage, &tar);
    refused(stage, "does not belong there");
    assert_int_equal(files_of(stage->folder, ".").count, 0);
}

static void set_sum(keel_buffer_t *tar, size_t at) {
    unsigned sum = 0;
    for (size_t i = 0; i < KEEL_TAR_BLOCK; ++i)
        sum += i >= 148 && i < 156 ? ' ' : tar->data[at + i];
    snprintf((char *)tar->data + at + 148, 8, "%06o", sum);
    tar->data[at + 155] = ' ';
}

static void links_and_folders_are_refused(void **state) {
    const stage_t *stage = *state;
    for (const char *type = "1234567xgLK"; *type; ++type) {
        keel_buffer_t tar;
        begin_tar(&tar);
        size_t at = tar.size;
        put(&tar, PACK_RUN "/journal.ndjson", "");
        tar.data[at + 156] = (uint8_t)*type;
        memcpy(tar.data + at + 157, "/etc/passwd", 12);
        set_sum(&tar, at);
        keel_tar_put_end(&tar);
        compress(stage, &tar);
        refused(stage, "not a regular file");
    }
}

static void a_member_comes_once(void **state) {
    const stage_t *stage = *state;
    keel_buffer_t tar;
    begin_tar(&tar);
    put(&tar, PACK_RUN "/journal.ndjson", "{}\n");
    put(&tar, PACK_RUN "/journal.ndjson", "{}\n");
    keel_tar_put_end(&tar);
    compress(stage, &tar);
    refused(stage, "twice");
}

static void another_form_or_no_label_is_refused(void **state) {
    const stage_t *stage = *state;
    static const struct {
        const char *label, *why;
    } labels[] = {{"{\"event\":\"pack\",\"form\":2,\"run\":\"r\"}", "form 2"},
                  {"{\"event\":\"pack\",\"form\":1,\"run\":\"../r\"}", "which run"},
                  {"{\"event\":\"pack\",\"form\":1,\"run\":\"programs\"}", "which run"},
                  {"{\"event\":\"pack\",\"form\":1}", "which run"},
                  {"no JSON", "form 0"}};
    for (size_t i = 0; i < sizeof labels / sizeof *labels; ++i) {
        keel_buffer_t tar;
        keel_buffer_initialize(&tar, 0);
        put(&tar, "keel-pack.json", labels[i].label);
        keel_tar_put_end(&tar);
        compress(stage, &tar);
        refused(stage, labels[i].why);
    }
    keel_buffer_t tar;
    keel_buffer_initialize(&tar, 0);
    put(&tar, PACK_RUN "/journal.ndjson", "{}\n");
    keel_tar_put_end(&tar);
    compress(stage, &tar);
    assert_false(keel_pack_is(stage->file));
    refused(stage, "does not begin");
}

// A few bytes that say that they are gigabytes.
static void a_file_does_not_grow_without_bounds(void **state) {
    const stage_t *stage = *state;
    keel_buffer_t tar;
    begin_tar(&tar);
    keel_tar_put_header(&tar, PACK_RUN "/journal.ndjson", UINT64_C(7) << 30);
    compress(stage, &tar);
    refused(stage, "it expands to more than 16.0 MiB, which no pack of its size does");
}

// Its size allows for more.
static void a_larger_file_may_hold_more(void **state) {
    const stage_t *stage = *state;
    keel_buffer_t tar;
    char *id, text[401] = "";
    keel_limit_set(KEEL_LIMIT_PACK_LEAST, 1);
    keel_limit_set(KEEL_LIMIT_PACK_RATIO, 1);
    for (size_t i = 0; i + 1 < sizeof text; ++i)
        text[i] = (char)('a' + i % 7);
    begin_tar(&tar);
    put(&tar, PACK_RUN "/journal.ndjson", text);
    keel_tar_put_end(&tar);
    compress(stage, &tar);
    refused(stage, "it expands to more than ");
    keel_limit_set(KEEL_LIMIT_PACK_RATIO, 100);
    assert_ok(keel_pack_unpack(stage->file, stage->folder, &id));
    keel_free(id);
    keel_limit_set(KEEL_LIMIT_PACK_LEAST, 16 << 20);
}

static void a_file_without_a_journal_is_refused(void **state) {
    const stage_t *stage = *state;
    keel_buffer_t tar;
    begin_tar(&tar);
    keel_tar_put_end(&tar);
    compress(stage, &tar);
    refused(stage, "it has no journal");
}

// Cut anywhere, it is refused. With any bit changed, it is refused or says the same: zstd's
// checksum covers all of it but how it is written.
static void a_damaged_file_is_refused(void **state) {
    const stage_t *stage = *state;
    uint8_t *bytes;
    size_t size;
    pack_record(stage->runs);
    write_pack(stage, (keel_pack_settings_t){.without_names = false});
    pack_read(stage->file, &bytes, &size);
    for (size_t cut = 0; cut < size; cut += size / 61 + 1) {
        assert_ok(keel_file_replace(stage->file, keel_bytes(bytes, cut)));
        refused(stage, "");
    }
    for (size_t at = 0; at < size; at += size / 127 + 1) {
        char folder[400], *id;
        bytes[at] ^= 0x10;
        assert_ok(keel_file_replace(stage->file, keel_bytes(bytes, size)));
        snprintf(folder, sizeof folder, "%s/%zu", stage->folder, at);
        assert_int_equal(mkdir(folder, 0700), 0);
        keel_status_t status = keel_pack_unpack(stage->file, folder, &id);
        if (!status) assert_same_run(stage, folder);
        if (!status) keel_free(id);
        keel_status_ignore(status);
        bytes[at] ^= 0x10;
    }
    keel_free(bytes);
}

static void other_files_are_no_packs(void **state) {
    const stage_t *stage = *state;
    uint8_t *packed;
    size_t size;
    assert_false(keel_pack_is(stage->file));
    assert_false(keel_pack_is(stage->folder));
    assert_ok(keel_file_replace(stage->file, keel_bytes("text", 4)));
    assert_false(keel_pack_is(stage->file));
    assert_ok(keel_pack(keel_bytes("text", 4), &packed, &size));
    assert_ok(keel_file_replace(stage->file, keel_bytes(packed, size)));
    assert_false(keel_pack_is(stage->file));
    keel_free(packed);
    char *id;
    keel_status_t status = keel_pack_unpack("/nowhere/x", stage->folder, &id);
    assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    keel_status_ignore(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_packed_comes_out_as_it_was, begin, end),
        cmocka_unit_test_setup_teardown(a_run_gives_the_same_file_each_time, begin, end),
        cmocka_unit_test_setup_teardown(without_sources_the_rest_stays, begin, end),
        cmocka_unit_test_setup_teardown(without_names_programs_keep_their_keys, begin, end),
        cmocka_unit_test_setup_teardown(members_of_other_names_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(links_and_folders_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_member_comes_once, begin, end),
        cmocka_unit_test_setup_teardown(another_form_or_no_label_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_file_does_not_grow_without_bounds, begin, end),
        cmocka_unit_test_setup_teardown(a_larger_file_may_hold_more, begin, end),
        cmocka_unit_test_setup_teardown(a_file_without_a_journal_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_damaged_file_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(other_files_are_no_packs, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
