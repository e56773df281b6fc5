// export: what keel-remote does once, for one command, and not for those who ask over its socket:
// many entries in one file, written and read (export.c has the format), and upkeep of remotes.
//
// Threads: one.
#ifndef KEEL_COURIER_EXPORT_H_
#define KEEL_COURIER_EXPORT_H_

#include "base/tar.h"
#include "courier/courier.h"

#define EXPORT_LIST "keel-export.txt"
#define EXPORT_HEAD "keel export 1\n"

typedef struct export_order_t {
    const keel_digest_t *keys; // to export
    size_t count;
    bool trusts; // unsigned entries are taken too
    // What became of an entry: "there", "none", "untrusted", "refused", "failed", "missing"; why is
    // NULL for the first.
    void (*tell)(void *context, const char *word, const char *hex, const char *why);
    void *context;
} export_order_t;

// Writes the file as a whole, or not at all.
keel_status_t courier_export(const courier_t *courier, const char *path,
                             const export_order_t *order) KEEL_MUST_CHECK;
// KEEL_CORRUPT if it is no such file at all.
keel_status_t courier_import(courier_t *courier, const char *path,
                             const export_order_t *order) KEEL_MUST_CHECK;

// ---- upkeep.c ----------------------------------------------------------------------------------

typedef struct upkept_t {
    keel_digest_t key;
    uint64_t size, age; // as facts_t
} upkept_t;

typedef struct upkeep_order_t {
    uint64_t older;                                     // nanoseconds
    void (*tell)(void *context, const upkept_t *entry); // that is there, or was removed
    void *context;
} upkeep_order_t;

// KEEL_UNSUPPORTED, with why, if this kind of remote has no such function.
keel_status_t courier_list(const place_t *place, const upkeep_order_t *order) KEEL_MUST_CHECK;
// Removes entries that were written that long ago.
keel_status_t courier_prune(const place_t *place, const upkeep_order_t *order) KEEL_MUST_CHECK;

#endif // KEEL_COURIER_EXPORT_H_
