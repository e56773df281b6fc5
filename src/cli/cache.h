// cache: `keel cache`, of which cache.c has what concerns this machine's folder; cache_keys.c,
// keys; cache_remotes.c and cache_pull.c, remotes; cache_export.c, exported files; cache_select.c,
// which programs are meant.
#ifndef KEEL_CLI_CACHE_H_
#define KEEL_CLI_CACHE_H_

#include "cli/cli.h"

// Options beside --json and settings.
enum {
    CACHE_RUN = 1,      // --run
    CACHE_CONTRACT = 2, // --contract: of programs that are here, as keys do not tell the program
    CACHE_TRUSTS = 4,   // --trusted
    CACHE_REMOTE = 8,   // --remote
    CACHE_AGES = 16,    // --older
};

// name, options, sentence
#define CACHE_COMMANDS(X)                                                                          \
    X(ls, CACHE_REMOTE, "list the stored programs, last used first")                               \
    X(stat, CACHE_REMOTE, "show how many programs are stored and how large they are")              \
    X(verify, 0, "read and check every stored program; exit code 1 if one is damaged")             \
    X(prune, CACHE_REMOTE | CACHE_AGES,                                                            \
      "remove least recently used programs down to the limit, and leftovers")                      \
    X(clear, 0, "remove all stored programs and plans")                                            \
    X(path, 0, "print the folder")

// name, its argument (NULL: none), whether that must be there, options, sentence
#define CACHE_FLEET_COMMANDS(X)                                                                    \
    X(remotes, NULL, false, 0, "try each remote, and show what was fetched and stored lately")     \
    X(push, NULL, false, CACHE_RUN | CACHE_CONTRACT,                                               \
      "store the programs of this machine in each remote that is read-write")                      \
    X(pull, NULL, false, CACHE_RUN, "fetch programs that this machine does not have")              \
    X(sync, NULL, false, CACHE_RUN, "push, then pull")                                             \
    X(export, "FILE", true, CACHE_RUN | CACHE_CONTRACT | CACHE_TRUSTS,                             \
      "write programs to one file, signed")                                                        \
    X(import, "FILE", true, CACHE_TRUSTS, "take the programs of such a file that are trusted")     \
    X(keygen, "[NAME]", false, 0, "make a key that signs what this user stores in remotes")        \
    X(trust, "KEY", true, 0, "load what this public key signed")                                   \
    X(untrust, "NAME", true, 0, "do not load any more what this key signed")                       \
    X(keys, NULL, false, 0, "list one's own public key, and those that are trusted")

// What a command was asked for and, if it did not fail itself, its outcome.
typedef struct cache_work_t {
    const char *argument;       // of the command; NULL: none
    const char *run, *contract; // the programs that are meant; both NULL: all
    const char *older;          // NULL: any age
    bool trusts, remote;
    int code;          // the exit code
    uint64_t unlisted; // entries that cannot be read
} cache_work_t;

#define CACHE_DECLARE(name, ...)                                                                   \
    keel_status_t cache_##name(const keel_settings_t *settings, bool json, keel_buffer_t *out,     \
                               cache_work_t *work) KEEL_MUST_CHECK;
CACHE_FLEET_COMMANDS(CACHE_DECLARE)
#undef CACHE_DECLARE

// ---- cache_select.c ----------------------------------------------------------------------------

typedef struct cache_keys_t {
    keel_digest_t *list; // in their order, each once
    size_t count, capacity;
} cache_keys_t;

// The programs that are meant: those that the run asked for, wherever they are, or those of this
// machine, if there is a contract only what it lists.
keel_status_t cache_select(const keel_settings_t *settings, const cache_work_t *work,
                           cache_keys_t *out) KEEL_MUST_CHECK;
// Whether the disk tier has it.
keel_status_t cache_is_here(const keel_settings_t *settings, const keel_digest_t *key,
                            bool *out) KEEL_MUST_CHECK;
keel_status_t cache_keys_add(cache_keys_t *keys, const keel_digest_t *key) KEEL_MUST_CHECK;
void cache_keys_sort(cache_keys_t *keys);
void cache_keys_free(cache_keys_t *keys);

// ---- cache_remotes.c ---------------------------------------------------------------------------

// What became of entries, by the words that keel-remote has for that.
#define CACHE_FATES(X) X(there) X(none) X(untrusted) X(refused) X(failed) X(missing)
typedef enum cache_fate_t {
#define CACHE_FATE(word) CACHE_FATE_##word,
    CACHE_FATES(CACHE_FATE)
#undef CACHE_FATE
        CACHE_FATE_COUNT,
} cache_fate_t;
typedef struct cache_fates_t {
    uint64_t counts[CACHE_FATE_COUNT];
    char whys[CACHE_FATE_COUNT][256]; // the first of each
} cache_fates_t;

// By the first word of an answer of keel-remote; `why` is what follows.
cache_fate_t cache_fate_of(const char *word);
void cache_fates_add(cache_fates_t *fates, cache_fate_t fate, const char *why);
// "12 there, 1 untrusted: an entry is not signed"
void cache_fates_text(const cache_fates_t *fates, keel_buffer_t *out);
void cache_fates_json(const cache_fates_t *fates, keel_json_t *json);
bool cache_fates_are_good(const cache_fates_t *fates);

// Runs keel-remote for this command alone. `how`: its words after the settings, up to a NULL.
// `out`, what it printed, is initialized here; the last line is "done" or "error WHY".
keel_status_t cache_run_helper(const keel_settings_t *settings, const char *const *how,
                               keel_buffer_t *out, int *out_code) KEEL_MUST_CHECK;
keel_status_t cache_need_remotes(const keel_settings_t *settings) KEEL_MUST_CHECK;
// Asks the remote for something it does not have. Appends what is wrong with it; nothing if it
// works.
void cache_try_remote(const keel_settings_t *settings, size_t place, keel_buffer_t *out);
// What the helper has done, of its answer to "figures", a line for each remote.
void cache_figures_text(const char *figures, keel_buffer_t *out);
// Sends a request to keel-remote; `out` is initialized here.
keel_status_t cache_ask(const keel_settings_t *settings, const char *request, uint64_t seconds,
                        keel_buffer_t *out) KEEL_MUST_CHECK;

// ---- cache_list.c ------------------------------------------------------------------------------

typedef struct cache_listed_t {
    keel_digest_t key;
    uint64_t bytes, seconds; // since it was written; UINT64_MAX: unknown
} cache_listed_t;
// What the remote at that place has, or, with `older`, was removed there.
typedef struct cache_listing_t {
    cache_listed_t *list;
    size_t count, capacity;
} cache_listing_t;
keel_status_t cache_list_remote(const keel_settings_t *settings, size_t place, const char *older,
                                cache_listing_t *out) KEEL_MUST_CHECK;
void cache_listing_free(cache_listing_t *listing);

// `keel cache ls|stat|prune --remote`
keel_status_t cache_ls_remote(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                              cache_work_t *work) KEEL_MUST_CHECK;
keel_status_t cache_stat_remote(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                                cache_work_t *work) KEEL_MUST_CHECK;
keel_status_t cache_prune_remote(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                                 cache_work_t *work) KEEL_MUST_CHECK;

#endif // KEEL_CLI_CACHE_H_
