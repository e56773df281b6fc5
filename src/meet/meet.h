// meet: a place where the processes of one job leave values for each other: the client's key-value
// service (client.c), a folder (folder.c), or Redis (redis.c). A value is put once, under a key of
// letters, digits, - and ., and any number of processes get it, then or later.
//
// Every wait ends: a get at the time it is given, an answer of Redis within its limit
// (KEEL_LIMIT_REDIS_ANSWER), and everything else when the client's service gives up.
//
// Ownership: a place is made once and destroyed by its owner. Threads: any function from any
// thread, except keel_meet_destroy, which comes last.
#ifndef KEEL_MEET_MEET_H_
#define KEEL_MEET_MEET_H_

#include "pjrt/pjrt.h"
#include "settings/address.h"

enum {
    KEEL_MEET_VALUE = 1 << 20, // bytes of a value, at most
    KEEL_MEET_KEY = 160,       // bytes of a key with its zero byte
};

typedef struct keel_meet_t keel_meet_t;

// A kind of place. `self` begins with its keel_meet_t.
typedef struct keel_meet_kind_t {
    keel_status_t (*put)(keel_meet_t *self, const char *key, keel_bytes_t value);
    keel_status_t (*get)(keel_meet_t *self, const char *key, uint64_t until, uint8_t **out,
                         size_t *out_size);
    bool (*is_gone)(keel_meet_t *self, const char *process);
    void (*destroy)(keel_meet_t *self);
} keel_meet_kind_t;

struct keel_meet_t {
    const keel_meet_kind_t *kind;
    char shown[400]; // for messages: "Redis at localhost:6379"
    // All processes of the job are known to come here; otherwise some may go elsewhere, as on
    // another machine.
    bool is_for_all;
};

// ---- what one does there -----------------------------------------------------------------------

keel_status_t keel_meet_put(keel_meet_t *meet, const char *key, keel_bytes_t value) KEEL_MUST_CHECK;

// The value, copied; the caller frees it with keel_free. Waits for it until that time of
// keel_clock_monotonic, then KEEL_NOT_FOUND. Any other status: the place does not work any more.
keel_status_t keel_meet_get(keel_meet_t *meet, const char *key, uint64_t until, uint8_t **out,
                            size_t *out_size) KEEL_MUST_CHECK;

// Whether the process of this name (keel_process_name) has ended for certain, or has left.
bool keel_meet_is_gone(keel_meet_t *meet, const char *process);

// NULL is allowed.
void keel_meet_destroy(keel_meet_t *meet);

// ---- the places --------------------------------------------------------------------------------

// The folder need not be there yet.
keel_status_t keel_meet_in_folder(const char *folder, keel_meet_t **out) KEEL_MUST_CHECK;

// The key-value service of a client; none at first. Without one, its functions fail.
keel_status_t keel_meet_in_client(keel_meet_t **out) KEEL_MUST_CHECK;
// Takes the service that PJRT_Client_Create gets. False, and without effect, if the client passes
// none, or if another one's is in use.
bool keel_meet_enter_client(keel_meet_t *meet, const PJRT_Client_Create_Args *args);
// Before that client is destroyed. Waits for calls that are under way, which takes at most as long
// as their gets.
void keel_meet_leave_client(keel_meet_t *meet);

// Redis. `process` is this process's name: others see it leave once it ends. Connects. Values stay
// there for an hour. Several jobs may share a server: the address names this one, or launchers'
// variables do. KEEL_UNSUPPORTED if Keel was built without Redis.
keel_status_t keel_meet_in_redis(const keel_redis_address_t *address, const char *process,
                                 keel_meet_t **out) KEEL_MUST_CHECK;

// ---- job.c -------------------------------------------------------------------------------------

// A name that all processes of this job find and no other job has: from what Slurm, torchrun, other
// launchers and Cloud TPU set, otherwise from KEEL_RUN_ID. KEEL_NOT_FOUND if nothing is set. The
// caller frees it. Reads the environment.
keel_status_t keel_meet_job(char **out) KEEL_MUST_CHECK;

#endif // KEEL_MEET_MEET_H_
