// Each allocation and each file operation fails once: while a run is packed, whole and without
// names, and while it is unpacked.
#define _GNU_SOURCE
#include "pack_help.h"

enum { MOST = 100000 };

static place_t place;
static char runs[300], file[300], folder[300];

static keel_status_t unpack(void) {
    char *id;
    keel_status_t status = keel_pack_unpack(file, folder, &id);
    if (!status) keel_free(id);
    return status;
}

static keel_status_t pack(bool without_names) {
    const keel_pack_settings_t settings = {.without_names = without_names};
    keel_packed_t packed;
    return keel_pack_write(runs, PACK_RUN, &settings, file, &packed);
}

static keel_status_t pack_whole(void) {
    return pack(false);
}

static keel_status_t pack_without_names(void) {
    return pack(true);
}

// What failed leaves no half a file: it is the one of before or a whole new one.
static void check_file(bool was_there) {
    char *id, out[400];
    if (was_there) assert_true(keel_is_file(file));
    if (!keel_is_file(file)) return;
    snprintf(out, sizeof out, "%s/check", place.root);
    assert_ok(keel_directory_make(out));
    assert_ok(keel_pack_unpack(file, out, &id));
    keel_free(id);
    nftw(out, place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void empty(const char *path) {
    nftw(path, place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    assert_ok(keel_directory_make(path));
}

static unsigned fail_each(keel_fault_kind_t kind, keel_status_t (*go)(void), bool writes) {
    unsigned failed = 0;
    for (uint64_t nth = 1;; ++nth) {
        assert_true(nth < MOST);
        empty(folder);
        bool was_there = keel_is_file(file);
        keel_fault_arm(kind, nth);
        keel_status_t status = go();
        bool is_over = keel_fault_count(kind) < nth;
        keel_fault_arm(kind, 0);
        if (is_over && status) fail_msg("%s", keel_status_message(status));
        // Of a program that was read, memory that is left over is given back if possible.
        if (kind == KEEL_FAULT_ALLOC && status)
            assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        if (writes) check_file(was_there);
        failed += status != NULL;
        keel_status_ignore(status);
        if (is_over) return failed;
    }
}

static void lack_of_memory_and_failing_files_are_told(void **state) {
    (void)state;
    static const struct {
        keel_status_t (*go)(void);
        bool writes;
    } parts[] = {
        {pack_whole, true}, {pack_without_names, true}, {pack_whole, true}, {unpack, false}};
    place_make(&place);
    snprintf(runs, sizeof runs, "%s/runs", place.root);
    snprintf(file, sizeof file, "%s/run.keelpack", place.root);
    snprintf(folder, sizeof folder, "%s/out", place.root);
    pack_record(runs);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        assert_true(fail_each(KEEL_FAULT_ALLOC, parts[i].go, parts[i].writes) > 10);
        assert_true(fail_each(KEEL_FAULT_FILE, parts[i].go, parts[i].writes) > 3);
    }
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lack_of_memory_and_failing_files_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
