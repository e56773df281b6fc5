// store: executables by key. Two tiers, memory and disk, behind one struct of functions; a remote
// tier would be a third.
//
// An entry describes itself: key, components, who wrote it and with what, the payload and a digest
// over all of it (entry.h has the grammar). The store never executes anything and knows nothing of
// PJRT: an intact entry may still be a bad executable, so the engine tries it before it publishes.
//
// Ownership: the caller owns the `keel_entry_t` from a get and frees it with
// keel_entry_deinitialize.
// Threads: all functions may be called from any thread; processes share the disk tier.
#ifndef KEEL_STORE_STORE_H_
#define KEEL_STORE_STORE_H_

#include "base/base.h"

typedef struct keel_entry_t {
    keel_digest_t key;
    keel_digest_t program;  // digest of the program's raw bytes, to find it among the kept programs
    char *components;       // JSON object: component name -> {digest, value}; owned
    char *name;             // module name; owned
    char *writer;           // "keel 0.1.0 pid 4711 host", owned
    uint64_t created;       // nanoseconds since 1970
    double compile_seconds; // what the compile cost, which this entry saves
    uint8_t *payload;       // the serialized executable, uncompressed; owned
    size_t payload_size;
} keel_entry_t;

void keel_entry_initialize(keel_entry_t *entry);
void keel_entry_deinitialize(keel_entry_t *entry);

// Why a get found nothing.
typedef enum keel_miss {
    KEEL_MISS_ABSENT,      // no entry with that key
    KEEL_MISS_DAMAGED,     // there was one; it is now in quarantine
    KEEL_MISS_FOREIGN,     // of a newer format; the next put replaces it by one that both can read
    KEEL_MISS_QUARANTINED, // loading it crashed a process; it is in quarantine
    KEEL_MISS_UNREADABLE,  // the file system refused
} keel_miss_t;
const char *keel_miss_name(keel_miss_t miss);

// One tier. `context` is the tier's own.
typedef struct keel_tier_t {
    const char *name; // "memory", "disk"
    void *context;
    // KEEL_NOT_FOUND, with *out_miss set, if there is no good entry; the message says why.
    // KEEL_NO_MEMORY (and KEEL_MISS_UNREADABLE) if there is no memory to hold it.
    keel_status_t (*get)(void *context, const keel_digest_t *key, keel_entry_t *out,
                         keel_miss_t *out_miss);
    keel_status_t (*put)(void *context, const keel_entry_t *entry);
    keel_status_t (*remove)(void *context, const keel_digest_t *key);
    // Calls visit for each entry, without its payload.
    keel_status_t (*list)(void *context,
                          keel_status_t (*visit)(void *visitor, const keel_entry_t *entry,
                                                 uint64_t stored_bytes, uint64_t last_used),
                          void *visitor);
    void (*close)(void *context);
} keel_tier_t;

// limit: bytes of payload kept; the least recently used go first.
keel_status_t keel_store_memory(uint64_t limit, keel_tier_t *out) KEEL_MUST_CHECK;
// The first put makes the folder. A path with a URI scheme ("gs://...") is refused with a message
// that names the setting to use. limit: bytes of entry files, 0 for no limit; the least recently
// used go first. readonly: put and remove are refused, and times of use are not written.
keel_status_t keel_store_disk(const char *folder, uint64_t limit, bool readonly,
                              keel_tier_t *out) KEEL_MUST_CHECK;

// ---- one compile for one key -------------------------------------------------------------------

// Held by the thread that compiles a key, across threads and processes. When the holder dies, the
// system frees the claim and the next one takes over.
typedef struct keel_claim_t {
    keel_lock_t lock;
    char *path;
} keel_claim_t;

// Who claims a key, and how long it waits.
typedef struct keel_claimant_t {
    const char *name;  // for people; one line
    uint64_t patience; // nanoseconds; a multiple of what the compile should cost
    // Called once with the holder's name after 2 s; may be NULL.
    void (*waiting)(void *context, const char *holder);
    void *context;
} keel_claimant_t;

// Takes the claim on `key` in the disk tier's folder; waits while another holds it. KEEL_REFUSED,
// with the reason, if waiting is useless: the holder is stopped, or has exited while a process that
// it forked still holds the lock, or the patience is used up.
keel_status_t keel_store_claim(const char *folder, const keel_digest_t *key,
                               const keel_claimant_t *claimant, keel_claim_t *out) KEEL_MUST_CHECK;
void keel_store_release(keel_claim_t *claim);

// ---- marks: a load that kills the process ------------------------------------------------------

// Kept while an entry is being loaded or proved. Its file is locked, so that every process on the
// machine (in other containers too) can check whether its maker still lives. A process keeps a few
// such files and reuses them.
typedef struct keel_mark_t {
    keel_lock_t lock;
    char *path;
} keel_mark_t;

// Records that this process is loading `key`, until keel_store_unmark; if the process dies, the
// record stays.
keel_status_t keel_store_mark(const char *folder, const keel_digest_t *key,
                              keel_mark_t *out) KEEL_MUST_CHECK;
// Records that this process is loading a program of the script's plan (plan.h) before the client
// asked for it. The process may be ended at any time then, so its death accuses no entry.
keel_status_t keel_store_mark_ahead(const char *folder, const char *script,
                                    keel_mark_t *out) KEEL_MUST_CHECK;
void keel_store_unmark(keel_mark_t *mark);
// Quarantines each entry whose mark was left by a dead process; calls `found` (may be NULL) for
// each. If there is no such entry (its proof crashed), the crash is still recorded: until the
// record is cleared, a get of the key without an entry is KEEL_MISS_QUARANTINED. Removes a plan
// that was being loaded ahead: a program that crashes will crash again when it is asked for, and
// then the key is known. Called once at start.
keel_status_t keel_store_sweep_marks(const char *folder,
                                     void (*found)(void *context, const keel_digest_t *key),
                                     void *context) KEEL_MUST_CHECK;

// How many processes died within the last day while they loaded or proved this key's entry, unless
// a load or proof of it has succeeded since.
unsigned keel_store_crashes(const char *folder, const keel_digest_t *key);
// A proof succeeded: forgets the deaths and what was set aside for them.
void keel_store_forgive(const char *folder, const keel_digest_t *key);

// Moves an entry of the disk tier to quarantine (a load that the plugin refused, a failed proof);
// `reason` becomes part of the file's name. A missing entry is not an error. Quarantine is bounded:
// the oldest go first.
keel_status_t keel_store_quarantine(const char *folder, const keel_digest_t *key,
                                    const char *reason) KEEL_MUST_CHECK;

// ---- upkeep (keel cache) -----------------------------------------------------------------------

typedef struct keel_disk_facts_t {
    uint64_t entries, bytes, quarantined, quarantined_bytes, locks, oldest, newest;
} keel_disk_facts_t;
keel_status_t keel_store_disk_facts(const char *folder, keel_disk_facts_t *out) KEEL_MUST_CHECK;
// Reads every entry in full; calls `bad` for each damaged one, and leaves it in place.
keel_status_t keel_store_disk_verify(const char *folder,
                                     void (*bad)(void *context, const char *path, const char *why),
                                     void *context, uint64_t *out_good) KEEL_MUST_CHECK;
// Evicts least recently used entries down to `limit` bytes (0: no limit), and removes temporary
// files and locks of dead processes, and plans (plan.h) that were last written more than 90 days
// ago.
keel_status_t keel_store_disk_prune(const char *folder, uint64_t limit, uint64_t *out_removed,
                                    uint64_t *out_bytes) KEEL_MUST_CHECK;
// Removes all entries, plans and quarantined files; locks and marks of living processes stay.
keel_status_t keel_store_disk_clear(const char *folder, uint64_t *out_removed) KEEL_MUST_CHECK;

#endif // KEEL_STORE_STORE_H_
