// Each allocation and each file operation fails once: while keys are made, read and trusted, while
// a signed entry arrives, and while a folder is used as a remote.
#define _GNU_SOURCE
#include "store_help.h"

#include "courier/arrival.h"
#include "courier/lease.h"
#include "sign/sign.h"
#include "store/seal.h"

enum { MOST = 10000 };

static place_t place;
static char keys[400];
static keel_signing_key_t signer;
static keel_buffer_t entry; // signed by it
static keel_digest_t key;

// ---- keys --------------------------------------------------------------------------------------

static keel_status_t make_key(void) {
    keel_public_key_t made;
    return keel_sign_generate(keys, "ci", &made);
}

static keel_status_t load_key(void) {
    keel_signing_key_t loaded;
    keel_status_t status = keel_sign_load(keys, &loaded);
    keel_sign_forget(&loaded);
    return status;
}

static keel_status_t trust(void) {
    bool is_old;
    return keel_sign_trust(keys, &signer.open, &is_old);
}

static keel_status_t list_trusted(void) {
    keel_public_keys_t trusted;
    KEEL_TRY(keel_sign_trusted(keys, &trusted));
    keel_sign_free(&trusted);
    return NULL;
}

static keel_status_t untrust(void) {
    return keel_sign_untrust(keys, keel_str(signer.open.name));
}

// What failed half-way is as it was, or done.
static void check_keys(void) {
    keel_status_t status = load_key();
    assert_true(!status || keel_status_code(status) == KEEL_NOT_FOUND);
    keel_status_ignore(status);
    assert_ok(list_trusted());
    assert_int_equal(count_below(place.root, ".tmp."), 0);
}

// ---- an entry that arrives ---------------------------------------------------------------------

static void sign_entry(void) {
    fixture_t fixture = fixture_make(1, 1, 5000, false);
    uint8_t *file, signature[KEEL_SEAL_SIGNATURE];
    keel_digest_t message;
    size_t size;
    key = fixture.entry.key;
    assert_ok(keel_entry_encode(&fixture.entry, &file, &size));
    size_t header = (size_t)keel_load_u64(file + 16);
    const keel_bytes_t stored = keel_bytes(file + header, size - header);
    const keel_digest_t payload = keel_digest(stored);
    keel_buffer_initialize(&entry, 0);
    assert_ok(
        keel_seal_begin(keel_bytes(file, header), signer.open.bytes, &payload, &entry, &message));
    keel_sign_make(&signer, keel_bytes(message.bytes, KEEL_DIGEST_SIZE), signature);
    keel_seal_finish(&entry, signature);
    keel_buffer_append(&entry, stored.data, stored.size);
    assert_ok(keel_buffer_status(&entry));
    keel_free(file);
    fixture_free(&fixture);
}

static keel_status_t take_all(arrival_t *arrival) {
    enum { PIECE = 700 };
    for (size_t at = 0; at < entry.size; at += PIECE) {
        size_t size = entry.size - at < PIECE ? entry.size - at : PIECE;
        if (!arrival_take(arrival, entry.data + at, size))
            return keel_status_make(KEEL_IO, "%s", arrival->why);
    }
    return NULL;
}

static keel_status_t arrive_at(keel_tier_t *disk) {
    arrival_t arrival;
    KEEL_TRY(arrival_begin(disk, 0, &key, &arrival));
    keel_status_t status = take_all(&arrival);
    if (!status && arrival_check(&arrival, &key, keys, false) != ARRIVAL_GOOD)
        status = keel_status_make(KEEL_IO, "%s", arrival.why);
    if (!status) return keel_store_disk_adopt(disk, &key, &arrival.draft);
    arrival_discard(&arrival);
    return status;
}

static keel_status_t arrive(void) {
    keel_tier_t disk;
    KEEL_TRY(keel_store_disk(place.cache, 0, false, &disk));
    keel_status_t status = arrive_at(&disk);
    disk.close(disk.context);
    return status;
}

// It is there as a whole, or not at all.
static void check_entry(void) {
    char path[512];
    uint8_t *data;
    size_t size;
    entry_path_of(&place, &key, path);
    if (keel_is_file(path)) {
        assert_ok(keel_file_read(path, entry.size, &data, &size));
        assert_int_equal(size, entry.size);
        assert_memory_equal(data, entry.data, size);
        keel_free(data);
        assert_ok(keel_file_remove(path));
    }
    assert_int_equal(count_below(place.root, ".tmp."), 0);
}

// ---- a folder as a remote ----------------------------------------------------------------------

static keel_status_t count_one(void *visitor, const char *name, const facts_t *facts) {
    (void)name;
    (void)facts;
    ++*(unsigned *)visitor;
    return NULL;
}

static keel_status_t lease_it(const backend_t *backend) {
    leasing_t leasing;
    lease_state_t state;
    KEEL_TRY(lease_begin(backend, "claims/one", "a test", 1000000000u, &leasing));
    keel_status_t status = lease_try(&leasing, &state);
    if (!status && state == LEASE_HELD) status = lease_renew(&leasing);
    keel_status_t released = lease_release(&leasing);
    lease_end(&leasing);
    if (status) keel_status_ignore(released);
    return status ? status : released;
}

static keel_status_t use_backend(const backend_t *backend) {
    const keel_bytes_t head = keel_bytes("head", 4), rest = keel_bytes("rest", 4);
    facts_t facts;
    unsigned count = 0;
    KEEL_TRY(backend->kind->put(backend->context, "a/one", PUT_REPLACE, head, rest));
    KEEL_TRY(backend->kind->put(backend->context, "a/two", PUT_IF_ABSENT, head, rest));
    KEEL_TRY(backend->kind->head(backend->context, "a/one", &facts));
    KEEL_TRY(backend->kind->list(backend->context, "", count_one, &count));
    KEEL_TRY(backend->kind->remove(backend->context, "a/two"));
    return lease_it(backend);
}

static keel_status_t use_folder(void) {
    keel_remotes_t remotes;
    backend_t backend;
    char text[400];
    snprintf(text, sizeof text, "file://%s/share", place.root);
    KEEL_TRY(keel_remotes_parse(text, &remotes));
    KEEL_TRY(backend_open(&remotes.list[0], &backend));
    keel_status_t status = use_backend(&backend);
    backend.kind->close(backend.context);
    return status;
}

static void check_folder(void) {
    char share[300];
    assert_int_equal(count_below(place.root, ".tmp."), 0);
    snprintf(share, sizeof share, "%s/share", place.root);
    nftw(share, place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    assert_ok(keel_directory_make(share));
}

// ------------------------------------------------------------------------------------------------

// How many of the operations made it fail.
static unsigned fail_each(keel_fault_kind_t kind, void (*before)(void), keel_status_t (*go)(void),
                          void (*check)(void)) {
    unsigned failed = 0;
    for (uint64_t nth = 1;; ++nth) {
        assert_true(nth < MOST);
        if (before) before();
        keel_fault_arm(kind, nth);
        keel_status_t status = go();
        bool is_over = keel_fault_count(kind) < nth;
        keel_fault_arm(kind, 0);
        if (is_over && status) fail_msg("%s", keel_status_message(status));
        failed += status != NULL;
        keel_status_ignore(status);
        check();
        if (is_over) return failed;
    }
}

static void forget_keys(void) {
    char path[500];
    snprintf(path, sizeof path, "%s/signing", keys);
    assert_ok(keel_file_remove(path));
}

static void do_trust(void) {
    assert_ok(trust());
}

static void each_failure_leaves_what_was_there_or_what_was_to_be(void **state) {
    (void)state;
    static const struct {
        void (*before)(void);
        keel_status_t (*go)(void);
        void (*check)(void);
        unsigned allocations, files; // that count, at least
    } parts[] = {
        {forget_keys, make_key, check_keys, 1, 3}, {NULL, load_key, check_keys, 1, 1},
        {do_trust, untrust, check_keys, 1, 3},     {do_trust, list_trusted, check_keys, 1, 1},
        {NULL, trust, check_keys, 1, 3},           {do_trust, arrive, check_entry, 3, 4},
        {NULL, use_folder, check_folder, 5, 10}};
    place_make(&place);
    snprintf(keys, sizeof keys, "%s/keys", place.root);
    assert_ok(make_key());
    assert_ok(keel_sign_load(keys, &signer));
    snprintf(signer.open.name, sizeof signer.open.name, "other");
    sign_entry();
    check_folder();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        unsigned allocations =
            fail_each(KEEL_FAULT_ALLOC, parts[i].before, parts[i].go, parts[i].check);
        unsigned files = fail_each(KEEL_FAULT_FILE, parts[i].before, parts[i].go, parts[i].check);
        if (allocations < parts[i].allocations || files < parts[i].files)
            fail_msg("part %zu: %u allocations and %u file operations counted", i, allocations,
                     files);
    }
    keel_buffer_deinitialize(&entry);
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failure_leaves_what_was_there_or_what_was_to_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
