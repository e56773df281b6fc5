// store: executables by key. A list of tiers behind one struct of functions: memory, then disk; a
// remote tier would be a third. What the disk tier is made of: disk.h.
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
    // What loading it back took when it was proved, or later if that was more than the compile.
    // Then the entry is a record without a payload: compiling is faster. 0: unknown.
    double load_seconds;
    uint8_t *payload; // what the engine keeps of an executable, uncompressed; owned, or of `shared`
    size_t payload_size;
    bool is_signed;        // it came from elsewhere: a remote, an exported file
    uint64_t fetched;      // bytes of its file, if it is; otherwise 0
    keel_shared_t *shared; // holds the payload for several owners; NULL: the entry alone does
    bool needs_version_2;  // of the format: version 1 does not know this kind of payload
} keel_entry_t;

// A record that compiling this program is faster than loading it.
static inline bool keel_entry_is_record(const keel_entry_t *entry) {
    return entry->load_seconds > 0 && !entry->payload_size;
}

void keel_entry_initialize(keel_entry_t *entry);
void keel_entry_deinitialize(keel_entry_t *entry);
// Gives the payload several owners, so that nobody copies it.
keel_status_t keel_entry_share(keel_entry_t *entry) KEEL_MUST_CHECK;

// Why a get found nothing.
typedef enum keel_miss {
    KEEL_MISS_ABSENT,      // no entry with that key
    KEEL_MISS_DAMAGED,     // there was one; it is now in quarantine
    KEEL_MISS_FOREIGN,     // of a newer format; the next put replaces it by one that both can read
    KEEL_MISS_QUARANTINED, // loading it crashed a process; it is in quarantine
    KEEL_MISS_UNREADABLE,  // the file system refused
    KEEL_MISS_LATE,        // loading it does not end
    KEEL_MISS_SLOW,        // compiling it is faster than loading it
    KEEL_MISS_UNTRUSTED,   // nobody who is trusted signed what a remote has
    KEEL_MISS_REFUSED,     // what a remote has is not the entry of that key
    KEEL_MISS_FAILED,      // a remote failed
    KEEL_MISS_UNASKED,     // a remote is not asked, because it failed before
} keel_miss_t;
const char *keel_miss_name(keel_miss_t miss);

// ---- what a tier can offer besides its entries -------------------------------------------------

// Held by the thread that compiles a key, across threads and processes. When the holder dies, the
// claim is free and the next one takes over. All zero: no claim.
typedef struct keel_claim_t {
    void *held;
    void (*release)(void *held);
} keel_claim_t;

// Who claims a key, and how long it waits.
typedef struct keel_claimant_t {
    const char *name;  // for people; one line
    uint64_t patience; // nanoseconds; a multiple of what the compile should cost
    // Called once with the holder's name after 2 s; may be NULL.
    void (*waiting)(void *context, const char *holder);
    void *context;
} keel_claimant_t;

// More than once does nothing.
void keel_claim_release(keel_claim_t *claim);

// Kept while an entry is being loaded or proved, whatever tier it comes from. Its file is locked,
// so that every process on the machine (in other containers too) can check whether its maker still
// lives. A process keeps a few such files and reuses them.
typedef struct keel_mark_t {
    keel_lock_t lock;
    char *path;
} keel_mark_t;

void keel_store_unmark(keel_mark_t *mark);

// Records which loads killed their process. `context` is the tier's.
typedef struct keel_marks_t {
    // Records that this process is loading `key`, until keel_store_unmark; if the process dies, the
    // record stays. With a script, it loads a program of the script's plan (plan.h) before the
    // client asked for it: the process may be ended at any time then, so its death accuses no
    // entry.
    keel_status_t (*make)(void *context, const keel_digest_t *key, const char *script,
                          keel_mark_t *out);
    // How many processes died within the last day while they loaded or proved this key's entry,
    // unless a load or proof of it has succeeded since.
    unsigned (*crashes)(void *context, const keel_digest_t *key);
    // A proof succeeded: forgets the deaths and what was set aside for them.
    void (*forgive)(void *context, const keel_digest_t *key);
    // Once at start: sets aside each entry that a dead process was loading, and calls `found` for
    // each.
    keel_status_t (*sweep)(void *context, void (*found)(void *finder, const keel_digest_t *key),
                           void *finder);
} keel_marks_t;

// ---- tiers -------------------------------------------------------------------------------------

// One tier: its operations and what it can do. `context` is its own. The engine knows tiers only
// through this struct.
typedef struct keel_tier_t {
    const char *name; // "memory", "disk"; for the journal
    void *context;
    bool persists; // entries outlive the process: only then is something published
    bool readonly; // put, remove and quarantine are refused
    bool fills;    // what its get finds is in the faster tiers that persist, too
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
    // Takes an entry that does not load out of use; `reason` is for people. A missing entry is not
    // an error.
    keel_status_t (*quarantine)(void *context, const keel_digest_t *key, const char *reason);
    void (*close)(void *context);
    // NULL if it cannot claim. Waits while another holds the claim on `key`. KEEL_REFUSED, with the
    // reason, if waiting is useless.
    keel_status_t (*claim)(void *context, const keel_digest_t *key, const keel_claimant_t *claimant,
                           keel_claim_t *out);
    const keel_marks_t *marks; // NULL if it keeps none
} keel_tier_t;

// limit: bytes of payload kept; the least recently used go first.
keel_status_t keel_store_memory(uint64_t limit, keel_tier_t *out) KEEL_MUST_CHECK;
// The first put makes the folder. A path with a URI scheme ("gs://...") is refused with a message
// that names the setting to use. limit: bytes of entry files, 0 for no limit; the least recently
// used go first. readonly: also, times of use are not written, and there are no claims and no
// marks. An entry that anyone but this user and root owns or can write is KEEL_MISS_UNREADABLE.
keel_status_t keel_store_disk(const char *folder, uint64_t limit, bool readonly,
                              keel_tier_t *out) KEEL_MUST_CHECK;
// Gives out other users' entries too. Before the tier is used.
void keel_store_disk_share(keel_tier_t *tier);

// The tiers of a process, the fastest first. All zero: none.
enum { KEEL_TIERS_MOST = 8 };
typedef struct keel_tiers_t {
    size_t count;
    keel_tier_t list[KEEL_TIERS_MOST];
} keel_tiers_t;

// Takes over the tier, also on failure.
keel_status_t keel_tiers_add(keel_tiers_t *tiers, const keel_tier_t *tier) KEEL_MUST_CHECK;
void keel_tiers_close(keel_tiers_t *tiers);

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
