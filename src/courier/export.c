// Entries in one file, which goes where no remote does: an image, a machine without a network, what
// CI hands on. A tar archive of
//
//   keel-export.txt            "keel export 1\n", and a line with the key of each entry
//   entries/ab/<key>.keel      each entry as a remote would have it, so with its signature
//
// The list tells what is missing; nobody signs it, since whoever has the file can leave it alone.
#define _GNU_SOURCE
#include "courier/export.h"

#include <stdio.h>

typedef struct export_t {
    const courier_t *courier;
    const export_order_t *order;
    keel_draft_t draft;
    bool *are_in; // by key
} export_t;

static void tell(const export_order_t *order, const char *word, const keel_digest_t *key,
                 const char *why) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(key, hex);
    order->tell(order->context, word, hex, why);
}

static keel_status_t write_padded(keel_draft_t *draft, keel_bytes_t head, keel_bytes_t rest) {
    static const uint8_t zeros[KEEL_TAR_BLOCK];
    KEEL_TRY(keel_draft_write(draft, head));
    if (rest.size) KEEL_TRY(keel_draft_write(draft, rest));
    return keel_draft_write(draft, keel_bytes(zeros, keel_tar_padding(head.size + rest.size)));
}

static keel_status_t write_member(keel_draft_t *draft, const char *name, keel_bytes_t head,
                                  keel_bytes_t rest) {
    keel_buffer_t block;
    keel_buffer_initialize(&block, 0);
    keel_tar_put_header(&block, name, head.size + rest.size);
    keel_status_t status = keel_buffer_status(&block);
    if (!status) status = keel_draft_write(draft, keel_buffer_bytes(&block));
    if (!status) status = write_padded(draft, head, rest);
    keel_buffer_deinitialize(&block);
    return status;
}

static keel_status_t write_list(export_t *export) {
    char hex[KEEL_DIGEST_HEX];
    keel_buffer_t list;
    keel_buffer_initialize(&list, 0);
    keel_buffer_text(&list, EXPORT_HEAD);
    for (size_t i = 0; i < export->order->count; ++i) {
        if (!export->are_in[i]) continue;
        keel_digest_hex(&export->order->keys[i], hex);
        keel_buffer_format(&list, "%s\n", hex);
    }
    keel_status_t status = keel_buffer_status(&list);
    if (!status)
        status =
            write_member(&export->draft, EXPORT_LIST, keel_buffer_bytes(&list), keel_bytes("", 0));
    keel_buffer_deinitialize(&list);
    return status;
}

static bool open_entry(const export_t *export, const keel_digest_t *key, outgoing_t *out) {
    keel_status_t status = outgoing_open(export->courier, export->order->trusts, key, out);
    if (!status) return true;
    keel_code_t code = keel_status_code(status);
    tell(export->order,
         code == KEEL_NOT_FOUND ? "none"
         : code == KEEL_CORRUPT ? "refused"
                                : "failed",
         key, keel_status_message(status));
    keel_status_ignore(status);
    return false;
}

static keel_status_t write_entry(export_t *export, const keel_digest_t *key) {
    outgoing_t entry;
    char hex[KEEL_DIGEST_HEX], name[KEEL_TAR_NAME];
    if (!open_entry(export, key, &entry)) return NULL; // it was evicted meanwhile
    keel_digest_hex(key, hex);
    snprintf(name, sizeof name, "entries/%.2s/%s.keel", hex, hex);
    keel_status_t status =
        write_member(&export->draft, name, keel_buffer_bytes(&entry.head), entry.rest);
    outgoing_close(&entry);
    if (!status) tell(export->order, "there", key, NULL);
    return status;
}

static keel_status_t write_all(export_t *export) {
    keel_buffer_t end;
    KEEL_TRY(write_list(export));
    for (size_t i = 0; i < export->order->count; ++i)
        if (export->are_in[i]) KEEL_TRY(write_entry(export, &export->order->keys[i]));
    keel_buffer_initialize(&end, 0);
    keel_tar_put_end(&end);
    keel_status_t status = keel_buffer_status(&end);
    if (!status) status = keel_draft_write(&export->draft, keel_buffer_bytes(&end));
    keel_buffer_deinitialize(&end);
    return status;
}

// What cannot be read or signed stays out, and the rest is written.
static void choose(export_t *export) {
    for (size_t i = 0; i < export->order->count; ++i) {
        outgoing_t entry;
        export->are_in[i] = open_entry(export, &export->order->keys[i], &entry);
        if (export->are_in[i]) outgoing_close(&entry);
    }
}

keel_status_t courier_export(const courier_t *courier, const char *path,
                             const export_order_t *order) {
    export_t export = {.courier = courier, .order = order};
    void *memory;
    KEEL_TRY(keel_calloc(order->count ? order->count : 1, sizeof *export.are_in, &memory));
    export.are_in = memory;
    keel_status_t status = keel_draft_open_public(path, &export.draft);
    if (!status) {
        choose(&export);
        status = write_all(&export);
        if (status)
            keel_draft_discard(&export.draft);
        else
            status = keel_draft_publish(&export.draft, path);
    }
    keel_free(export.are_in);
    return status;
}
