// store: executables by key. Two tiers, memory and disk, behind one struct of functions; remote
// tiers come as further ones.
//
// An entry describes itself: key, components, who wrote it and with what, the payload and a digest
// over all of it (entry.h holds the grammar). The store never executes anything and knows nothing
// of PJRT: an entry that is whole is not yet a good executable; the engine proves it before it
// publishes.
//
// Ownership: `keel_entry_t` from a get is the caller's, freed with keel_entry_deinitialize.
// Threads: all functions may be called from any thread; processes share the disk tier.
#ifndef KEEL_STORE_STORE_H_
#define KEEL_STORE_STORE_H_

#include "base/base.h"

typedef struct keel_entry_t {
    keel_digest_t key;
    keel_digest_t program;  // digest of the program's own bytes, to find it among the programs
    char *components;       // JSON object: component name -> {digest, value}; owned
    char *name;             // module name; owned
    char *writer;           // "keel 0.1.0 pid 4711 host", owned
    uint64_t created;       // nanoseconds since 1970
    double compile_seconds; // what the compile cost that this entry saves
    uint8_t *payload;       // the serialized executable, uncompressed; owned
    size_t payload_size;
} keel_entry_t;

void keel_entry_initialize(keel_entry_t *entry);
void keel_entry_deinitialize(keel_entry_t *entry);

// Why a get gave nothing.
typedef enum keel_miss {
    KEEL_MISS_ABSENT,      // no entry of that key
    KEEL_MISS_DAMAGED,     // one was there, and was put in quarantine
    KEEL_MISS_FOREIGN,     // an entry of a newer format; the next put replaces it by one both read
    KEEL_MISS_QUARANTINED, // loading it crashed a process; put in quarantine
    KEEL_MISS_UNREADABLE,  // the file system refused
} keel_miss_t;
const char *keel_miss_name(keel_miss_t miss);

// One tier. `context` is the tier's own.
typedef struct keel_tier_t {
    const char *name; // "memory", "disk"
    void *context;
    // KEEL_NOT_FOUND with *out_miss set where there is no good entry; the message says why.
    // KEEL_NO_MEMORY (and KEEL_MISS_UNREADABLE) where there was no room to hold it.
    keel_status_t (*get)(void *context, const keel_digest_t *key, keel_entry_t *out,
                         keel_miss_t *out_miss);
    keel_status_t (*put)(void *context, const keel_entry_t *entry);
    keel_status_t (*remove)(void *context, const keel_digest_t *key);
    // Calls visit for each entry; the payload is left out.
    keel_status_t (*list)(void *context,
                          keel_status_t (*visit)(void *visitor, const keel_entry_t *entry,
                                                 uint64_t stored_bytes, uint64_t last_used),
                          void *visitor);
    void (*close)(void *context);
} keel_tier_t;

// limit: bytes of payload kept, least recently used out first.
keel_status_t keel_store_memory(uint64_t limit, keel_tier_t *out) KEEL_MUST_CHECK;
// Folder is made when something is first put. A path with a URI scheme ("gs://...") is refused and
// the message names the setting to use. limit: bytes of entry files, least recently used out first;
// 0 is no limit. readonly: put and remove are refused, times of use are not written.
keel_status_t keel_store_disk(const char *folder, uint64_t limit, bool readonly,
                              keel_tier_t *out) KEEL_MUST_CHECK;

// ---- one compile for one key -------------------------------------------------------------------

// Held by whoever compiles a key, across threads and processes; freed by the system when the holder
// dies, and then the next one takes over.
typedef struct keel_claim_t {
    keel_lock_t lock;
    char *path;
} keel_claim_t;

// Who claims a key, and how it waits.
typedef struct keel_claimant_t {
    const char *name;  // for people; one line
    uint64_t patience; // nanoseconds; a multiple of what the compile should cost
    // Called once with the holder's name after 2 s; may be NULL.
    void (*waiting)(void *context, const char *holder);
    void *context;
} keel_claimant_t;

// Takes the claim on `key` in the disk tier's folder, and waits for whoever holds it. KEEL_REFUSED,
// with the reason, if that is in vain: the holder is stopped, or has ended and left its lock to a
// process that it forked, or the patience is used up.
keel_status_t keel_store_claim(const char *folder, const keel_digest_t *key,
                               const keel_claimant_t *claimant, keel_claim_t *out) KEEL_MUST_CHECK;
void keel_store_release(keel_claim_t *claim);

// ---- marks: a load that kills the process ------------------------------------------------------

// Kept while an entry is being loaded or proved. Its file is locked, so that everyone on the
// machine (other containers too) can tell whether who left it still lives; a process keeps a few
// such files and uses them again.
typedef struct keel_mark_t {
    keel_lock_t lock;
    char *path;
} keel_mark_t;

// Says that `key` is being loaded by this process, until keel_store_unmark or for good when the
// process dies.
keel_status_t keel_store_mark(const char *folder, const keel_digest_t *key,
                              keel_mark_t *out) KEEL_MUST_CHECK;
// Says that a program of the script's plan (plan.h) is being loaded before anybody asked for it.
// The process may be told to end at any time then, so its death accuses no entry.
keel_status_t keel_store_mark_ahead(const char *folder, const char *script,
                                    keel_mark_t *out) KEEL_MUST_CHECK;
void keel_store_unmark(keel_mark_t *mark);
// Puts each entry in quarantine whose mark was left by a process that is no more; calls `found`
// (may be NULL) for each. Where there is no such entry (its proof crashed) that is put on record
// all the same: until the record is cleared, a get of the key without an entry is
// KEEL_MISS_QUARANTINED. A plan that was being loaded ahead is removed: what crashes does so when
// it is asked for, and is known then. Called once at start.
keel_status_t keel_store_sweep_marks(const char *folder,
                                     void (*found)(void *context, const keel_digest_t *key),
                                     void *context) KEEL_MUST_CHECK;

// How many processes died within the last day while they loaded or proved this key's entry, and no
// load or proof of it has succeeded since.
unsigned keel_store_crashes(const char *folder, const keel_digest_t *key);
// A proof succeeded: forgets the deaths, with what was set aside for them.
void keel_store_forgive(const char *folder, const keel_digest_t *key);

// Puts an entry of the disk tier in quarantine (a load that the plugin refused, a failed proof);
// `reason` becomes part of the file's name there. An absent entry is no error. Quarantine is
// bounded: the oldest go first.
keel_status_t keel_store_quarantine(const char *folder, const keel_digest_t *key,
                                    const char *reason) KEEL_MUST_CHECK;

// ---- upkeep (keel cache) -----------------------------------------------------------------------

typedef struct keel_disk_facts_t {
    uint64_t entries, bytes, quarantined, quarantined_bytes, locks, oldest, newest;
} keel_disk_facts_t;
keel_status_t keel_store_disk_facts(const char *folder, keel_disk_facts_t *out) KEEL_MUST_CHECK;
// Reads every entry whole; calls `bad` for each that is damaged (left where it is).
keel_status_t keel_store_disk_verify(const char *folder,
                                     void (*bad)(void *context, const char *path, const char *why),
                                     void *context, uint64_t *out_good) KEEL_MUST_CHECK;
// Evicts least recently used entries down to `limit` bytes (0 is no limit), and takes away
// temporary files and locks of processes that are no more, and plans (plan.h) that were not written
// anew for 90 days.
keel_status_t keel_store_disk_prune(const char *folder, uint64_t limit, uint64_t *out_removed,
                                    uint64_t *out_bytes) KEEL_MUST_CHECK;
// Removes all entries, plans, and what is in quarantine; locks and marks of living processes stay.
keel_status_t keel_store_disk_clear(const char *folder, uint64_t *out_removed) KEEL_MUST_CHECK;

#endif // KEEL_STORE_STORE_H_
