// remote: programs that others compiled, from outside this machine. What reaches the remotes is a
// process of its own, the helper (src/courier): it holds the connections, and a client's process
// has no code for networks in it. A process asks it over a Unix socket in the cache folder, and
// starts it if nobody listens there; it ends when nobody has asked for a while.
//
// The helper puts what it finds into the folder of the disk tier, where the asker reads it, so one
// download serves all processes of a machine. What is to be stored elsewhere it reads there, and
// sends it while the asker goes on.
//
// A request is a line, and so is its answer:
//
//   get N KEY     found BYTES | none | untrusted WHY | refused WHY | failed WHY
//   put N KEY     queued | failed WHY
//   try N         works WHAT | failed WHY: the remote is asked for something it does not have
//   figures       a JSON object: what the helper has done since it started
//   claim N KEY MILLISECONDS HOLDER
//                 held | left | late HOLDER | none | failed WHY, after any number of
//                 `waits HOLDER`: who compiles it, with the same remote, in all of the fleet
//   keep N SCRIPT  queued: this machine's plan of the script (store/travel.h) is stored there
//   ahead N SCRIPT  queued: the newest plan of the script is fetched, and all that it names
//   plan N SCRIPT  planned COUNT | none | other WHY | untrusted WHY | refused WHY | failed WHY: the
//                 plan there for this machine's client is now that of the script here, and what it
//                 names is being fetched; other: it has one for other clients only
//   finish        done, once nothing is queued; `failed N WHY` if some of it could not be stored
//
// N is the remote's place in the setting, from 0. WHY is a sentence for people. A claim that is
// held is so as long as the connection stays; it then gets a line, `done`, unless the asker died.
// `left`: another held it, and has ended well.
//
// Any failure is a miss. A remote that did not answer in time is not asked again by the same
// process.
//
// Ownership: a tier owns nothing of the settings' or of the disk tier's, which outlive it.
// Threads: any.
#ifndef KEEL_REMOTE_REMOTE_H_
#define KEEL_REMOTE_REMOTE_H_

#include "settings/settings.h"
#include "store/store.h"

enum { KEEL_REMOTE_LINE = 4096, KEEL_REMOTE_NAME = 24 };

// Where the helper of these settings is asked: a folder in the cache folder, for this user alone,
// and a name in it that depends on the settings. The caller frees *out_folder.
keel_status_t keel_remote_place(const keel_settings_t *settings, const char *cache_dir,
                                char **out_folder, char out_name[KEEL_REMOTE_NAME]) KEEL_MUST_CHECK;

// Sends a request, and gets its answer into `out`, which the caller initialized with a limit of
// KEEL_REMOTE_LINE (or more, for figures). Starts the helper if need be, unless `is_running` is
// set: then KEEL_NOT_FOUND if there is none. KEEL_IO if no answer comes until that time.
keel_status_t keel_remote_ask(const keel_settings_t *settings, const char *cache_dir,
                              const char *request, uint64_t until, bool is_running,
                              keel_buffer_t *out) KEEL_MUST_CHECK;

// Sends a request, as above; the caller reads answers from the socket, and closes it.
keel_status_t keel_remote_begin(const keel_settings_t *settings, const char *cache_dir,
                                const char *request, uint64_t until,
                                int *out_socket) KEEL_MUST_CHECK;

// Asks one of the last three, at that place. `out` is initialized by the caller.
keel_status_t keel_remote_plan(const keel_settings_t *settings, const char *cache_dir,
                               const char *verb, size_t place, const char *script,
                               keel_buffer_t *out) KEEL_MUST_CHECK;

// The tier of the remote at that place of the settings.
keel_status_t keel_remote_tier(const keel_settings_t *settings, const char *cache_dir, size_t place,
                               const keel_tier_t *disk, keel_tier_t *out) KEEL_MUST_CHECK;

#endif // KEEL_REMOTE_REMOTE_H_
