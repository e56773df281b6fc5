// cache: `keel cache`, of which cache.c has what concerns this machine's folder; cache_keys.c,
// keys; cache_remotes.c, remotes.
#ifndef KEEL_CLI_CACHE_H_
#define KEEL_CLI_CACHE_H_

#include "cli/cli.h"

// name, sentence
#define CACHE_COMMANDS(X)                                                                          \
    X(ls, "list the stored programs, last used first")                                             \
    X(stat, "show how many programs are stored and how large they are")                            \
    X(verify, "read and check every stored program; exit code 1 if one is damaged")                \
    X(prune, "remove least recently used programs down to the limit, and leftovers")               \
    X(clear, "remove all stored programs and plans")                                               \
    X(path, "print the folder")

// name, its argument (NULL: none), whether that must be there, sentence
#define CACHE_FLEET_COMMANDS(X)                                                                    \
    X(remotes, NULL, false, "try each remote, and show what was fetched and stored lately")        \
    X(push, NULL, false, "store the programs of this machine in each remote that is read-write")   \
    X(keygen, "[NAME]", false, "make a key that signs what this user stores in remotes")           \
    X(trust, "KEY", true, "load what this public key signed")                                      \
    X(untrust, "NAME", true, "do not load any more what this key signed")                          \
    X(keys, NULL, false, "list one's own public key, and those that are trusted")

// The outcome of a command that did not fail itself.
typedef struct cache_outcome_t {
    const char *argument; // of the command; NULL: none
    int code;             // the exit code
    uint64_t unlisted;    // entries that cannot be read
} cache_outcome_t;

#define CACHE_DECLARE(name, ...)                                                                   \
    keel_status_t cache_##name(const keel_settings_t *settings, bool json, keel_buffer_t *out,     \
                               cache_outcome_t *outcome) KEEL_MUST_CHECK;
CACHE_FLEET_COMMANDS(CACHE_DECLARE)
#undef CACHE_DECLARE

#endif // KEEL_CLI_CACHE_H_
