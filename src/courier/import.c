// An exported file (export.c), read entry by entry. It comes from anywhere, so each entry takes the
// way of one that a remote sends (arrival.h). Where a header is damaged, the next one is looked
// for, so damage costs the entry that it is in.
#define _GNU_SOURCE
#include "courier/arrival.h"
#include "courier/export.h"

#include <stdio.h>

#include "store/layout.h"

enum { PIECE = 1 << 20, LIST_LIMIT = 64 << 20 };

typedef struct import_t {
    courier_t *courier;
    const export_order_t *order;
    keel_input_file_t file;
    uint64_t at;
    keel_map_t missing; // keys in hex that the list has -> 1 once they came
    bool has_list;
    uint8_t *piece;
} import_t;

static void tell(const import_t *import, const char *word, const char *hex, const char *why) {
    import->order->tell(import->order->context, word, hex, why);
}

// ---- the list ----------------------------------------------------------------------------------

static keel_status_t take_line(import_t *import, keel_str_t line) {
    keel_digest_t key;
    keel_bytes_t kept;
    if (!keel_digest_unhex(line, &key)) return NULL;
    return keel_map_keep(&import->missing, keel_str_bytes(line), &kept);
}

static keel_status_t take_list(import_t *import, uint64_t size) {
    enum { LINE = KEEL_DIGEST_HEX }; // with its newline
    static const size_t head = sizeof EXPORT_HEAD - 1;
    void *memory;
    if (size < head || size > LIST_LIMIT) return NULL;
    KEEL_TRY(keel_alloc((size_t)size, &memory));
    const char *text = memory;
    keel_status_t status = keel_input_file_read(&import->file, import->at, memory, (size_t)size);
    import->has_list = !status && memcmp(text, EXPORT_HEAD, head) == 0;
    for (size_t at = head; import->has_list && !status && at + LINE <= size; at += LINE)
        status = take_line(import, (keel_str_t){text + at, LINE - 1});
    keel_free(memory);
    return status;
}

// ---- an entry ----------------------------------------------------------------------------------

// As much of it as there is.
static keel_status_t feed(import_t *import, uint64_t size, arrival_t *arrival) {
    uint64_t there = import->file.size - import->at;
    if (size > there) size = there;
    for (uint64_t done = 0; done < size; done += PIECE) {
        size_t part = size - done < PIECE ? (size_t)(size - done) : PIECE;
        KEEL_TRY(keel_input_file_read(&import->file, import->at + done, import->piece, part));
        if (!arrival_take(arrival, import->piece, part)) break;
    }
    return NULL;
}

static keel_status_t judge(import_t *import, const keel_digest_t *key, const char *hex,
                           arrival_t *arrival) {
    arrival_verdict_t verdict =
        arrival_check(arrival, key, import->courier->keys_dir, import->order->trusts);
    if (verdict == ARRIVAL_GOOD) {
        KEEL_TRY(keel_store_disk_adopt(&import->courier->disk, key, &arrival->draft));
        tell(import, "there", hex, NULL);
        return NULL;
    }
    tell(import, verdict == ARRIVAL_UNTRUSTED ? "untrusted" : "refused", hex, arrival->why);
    arrival_discard(arrival);
    return NULL;
}

static keel_status_t take_entry(import_t *import, const keel_digest_t *key, uint64_t size) {
    arrival_t arrival;
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(key, hex);
    KEEL_TRY(keel_map_put(&import->missing, keel_str_bytes(keel_str(hex)), 1));
    KEEL_TRY(arrival_begin(&import->courier->disk, import->courier->settings.cache_limit, key,
                           &arrival));
    keel_status_t status = feed(import, size, &arrival);
    if (!status && arrival.disk_failed) status = keel_status_make(KEEL_IO, "%s", arrival.why);
    if (!status) return judge(import, key, hex, &arrival);
    arrival_discard(&arrival);
    return status;
}

// ---- the file ----------------------------------------------------------------------------------

// "entries/ab/<key>.keel"
static bool key_of(const char *name, keel_digest_t *out) {
    const char *slash = strrchr(name, '/'), *rest;
    return strncmp(name, "entries/", 8) == 0 && slash &&
           keel_store_parse_name(slash + 1, out, &rest) && strcmp(rest, "keel") == 0;
}

static keel_status_t take_member(import_t *import, const keel_tar_member_t *member) {
    keel_digest_t key;
    if (strcmp(member->name, EXPORT_LIST) == 0) return take_list(import, member->size);
    return key_of(member->name, &key) ? take_entry(import, &key, member->size) : NULL;
}

// The next header from here on. False at the end of the file, or of the archive.
static keel_status_t find_header(import_t *import, keel_tar_member_t *out, bool *out_found) {
    uint8_t block[KEEL_TAR_BLOCK];
    *out_found = false;
    for (; import->file.size - import->at >= KEEL_TAR_BLOCK; import->at += KEEL_TAR_BLOCK) {
        bool is_end;
        keel_digest_t key;
        KEEL_TRY(keel_input_file_read(&import->file, import->at, block, sizeof block));
        keel_status_t status = keel_tar_read_header(block, out, &is_end);
        *out_found =
            !status && !is_end && (key_of(out->name, &key) || strcmp(out->name, EXPORT_LIST) == 0);
        keel_status_ignore(status);
        if (!*out_found) continue;
        import->at += KEEL_TAR_BLOCK;
        return NULL;
    }
    return NULL;
}

static keel_status_t take_all(import_t *import) {
    keel_tar_member_t member;
    bool found;
    for (;;) {
        KEEL_TRY(find_header(import, &member, &found));
        if (!found) return NULL;
        KEEL_TRY(take_member(import, &member));
        uint64_t whole = member.size + keel_tar_padding(member.size);
        uint64_t there = import->file.size - import->at;
        import->at += whole < there ? whole : there;
    }
}

static void tell_missing(const import_t *import) {
    char hex[KEEL_DIGEST_HEX];
    for (const keel_map_slot_t *slot = NULL; (slot = keel_map_next(&import->missing, slot));) {
        if (slot->value) continue;
        snprintf(hex, sizeof hex, "%.*s", (int)slot->key.size, (const char *)slot->key.data);
        tell(import, "missing", hex, "the file does not have it any more");
    }
}

keel_status_t courier_import(courier_t *courier, const char *path, const export_order_t *order) {
    import_t import = {.courier = courier, .order = order};
    void *memory;
    KEEL_TRY(keel_input_file_open(path, &import.file));
    keel_map_initialize(&import.missing);
    keel_status_t status = keel_alloc(PIECE, &memory);
    if (!status) {
        import.piece = memory;
        status = take_all(&import);
        keel_free(import.piece);
    }
    if (!status && !import.has_list && !import.missing.count)
        status = keel_status_make(KEEL_CORRUPT, "%s: not a file of `keel cache export`", path);
    if (!status) tell_missing(&import);
    keel_map_deinitialize(&import.missing);
    keel_input_file_close(&import.file);
    return status;
}
