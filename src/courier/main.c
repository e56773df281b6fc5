// keel-remote: reaches remotes for the Keels of this machine (remote/remote.h). They start it:
//
//   keel-remote --cache-dir DIR --cache-limit SIZE --remotes REMOTES --keys-dir DIR
//               [--idle TIME] [--down TIME] [--lease TIME]
//   keel-remote --cache-dir DIR ... --export FILE --keys FILE|--import FILE [--trusts yes]
//   keel-remote --cache-dir DIR ... --list N|--prune N --older SECONDS
//
// It goes into the background once it listens, and ends when nobody has asked it for a while. If
// another of the same settings listens already, it ends at once, well. The last three are for
// tests: limits that base/limits.h has.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "courier/export.h"
#include "remote/remote.h"

static bool read_limit(const char *word, const char *value) {
    static const struct {
        const char *word;
        keel_limit_t limit;
    } limits[] = {{"--idle", KEEL_LIMIT_REMOTE_IDLE},
                  {"--down", KEEL_LIMIT_REMOTE_DOWN},
                  {"--lease", KEEL_LIMIT_REMOTE_LEASE}};
    uint64_t seconds;
    size_t i = 0;
    while (i < sizeof limits / sizeof *limits && strcmp(limits[i].word, word) != 0)
        ++i;
    if (i == sizeof limits / sizeof *limits || !keel_parse_age(value, &seconds)) return false;
    keel_limit_set(limits[i].limit, seconds * 1000);
    return true;
}

// One that does a thing for one command, prints a line for each entry, and ends.
typedef struct errand_t {
    const char *exported, *imported; // a file
    const char *keys;                // a file with the keys to export, a line each
    const char *listed, *pruned;     // number of a remote
    const char *older;               // seconds
    const char *trusts;
} errand_t;

static bool read_errand(const char *word, const char *value, errand_t *errand) {
    const struct {
        const char *word, **value;
    } words[] = {{"--export", &errand->exported}, {"--import", &errand->imported},
                 {"--keys", &errand->keys},       {"--list", &errand->listed},
                 {"--prune", &errand->pruned},    {"--older", &errand->older},
                 {"--trusts", &errand->trusts}};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        if (strcmp(word, words[i].word) != 0) continue;
        *words[i].value = value;
        return true;
    }
    return false;
}

static bool is_errand(const errand_t *errand) {
    return errand->exported || errand->imported || errand->listed || errand->pruned;
}

static bool read_flags(char **words, const char *flags[KEEL_SETTING_COUNT], errand_t *errand) {
    for (; words[0] && words[1]; words += 2) {
        int which = 0;
        while (which < KEEL_SETTING_COUNT &&
               strcmp(keel_setting_facts((keel_setting_t)which)->flag, words[0]) != 0)
            ++which;
        if (which < KEEL_SETTING_COUNT)
            flags[which] = words[1];
        else if (!read_errand(words[0], words[1], errand) && !read_limit(words[0], words[1]))
            return false;
    }
    return !words[0];
}

// ---- the socket --------------------------------------------------------------------------------

typedef struct listening_t {
    char *folder, name[KEEL_REMOTE_NAME], *lock_path;
    keel_lock_t lock;
    int socket;
    bool is_other; // another listens
} listening_t;

// Another holds the lock: it listens, or will in a moment.
static keel_status_t await_other(listening_t *listening) {
    enum { TRIES = 400, PAUSE = 10000 }; // microseconds
    for (int i = 0; i < TRIES; ++i) {
        int socket;
        keel_status_t status = keel_socket_connect(listening->folder, listening->name, &socket);
        if (!status) close(socket);
        listening->is_other = !status;
        if (!status) return NULL;
        keel_status_ignore(status);
        usleep(PAUSE);
    }
    return keel_status_make(KEEL_IO, "another keel-remote holds %s and does not listen",
                            listening->lock_path);
}

static keel_status_t begin(const courier_t *courier, listening_t *out) {
    *out = (listening_t){.socket = -1, .lock = KEEL_NO_LOCK};
    KEEL_TRY(keel_remote_place(&courier->settings, courier->cache_dir, &out->folder, out->name));
    KEEL_TRY(keel_directory_make(out->folder));
    KEEL_TRY(keel_directory_check_owner(out->folder));
    KEEL_TRY(keel_path(&out->lock_path, "%s/%s.lock", out->folder, out->name));
    keel_status_t status = keel_lock_take(out->lock_path, &out->lock);
    if (keel_status_code(status) == KEEL_REFUSED) {
        keel_status_ignore(status);
        return await_other(out);
    }
    KEEL_TRY(status);
    return keel_socket_listen(out->folder, out->name, &out->socket);
}

// The name goes first: who comes now starts another.
static void end(listening_t *listening) {
    char *path;
    keel_status_t status = NULL;
    if (listening->socket >= 0) {
        status = keel_path(&path, "%s/%s", listening->folder, listening->name);
        if (!status) {
            status = keel_file_remove(path);
            keel_free(path);
        }
        close(listening->socket);
    }
    keel_status_ignore(status);
    if (listening->lock_path && listening->lock.descriptor >= 0)
        keel_lock_remove(&listening->lock, listening->lock_path);
    keel_free(listening->lock_path);
    keel_free(listening->folder);
}

// ---- the process -------------------------------------------------------------------------------

// What the parent waits for: nothing, or why it failed.
static void tell(int parent, const char *text) {
    if (parent < 0) return;
    (void)!write(parent, text, strlen(text));
    close(parent);
}

static int serve(const char *const flags[], int parent) {
    courier_t courier;
    listening_t listening = {.socket = -1, .lock = KEEL_NO_LOCK};
    signal(SIGPIPE, SIG_IGN);
    keel_status_t status = courier_open(flags, &courier);
    if (!status) status = begin(&courier, &listening);
    tell(parent, status ? keel_status_message(status) : "");
    dup2(STDERR_FILENO, STDOUT_FILENO); // whoever reads what it says need not wait any more
    if (!status && !listening.is_other) courier_serve(&courier, listening.socket);
    int code = status ? 1 : 0;
    keel_status_ignore(status);
    end(&listening);
    courier_close(&courier);
    return code;
}

// Prints what the child says, which is nothing if it listens.
static int await_child(int from) {
    char said[KEEL_REMOTE_LINE];
    size_t size = 0;
    for (ssize_t got = 1; got > 0 && size<sizeof said; size += got> 0 ? (size_t)got : 0)
        got = read(from, said + size, sizeof said - size);
    if (size) printf("%.*s\n", (int)size, said);
    fflush(stdout);
    return size ? 1 : 0;
}

// ---- errands -----------------------------------------------------------------------------------

// "there KEY", "untrusted KEY WHY"
static void print_entry(void *context, const char *word, const char *hex, const char *why) {
    (void)context;
    printf("%s %s%s", word, hex, why ? " " : "");
    for (const char *c = why ? why : ""; *c; ++c)
        putchar((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
    putchar('\n');
}

static keel_status_t read_keys(const char *path, keel_digest_t **out, size_t *out_count) {
    enum { LINE = KEEL_DIGEST_HEX };
    keel_bytes_t text;
    void *memory;
    *out_count = 0;
    KEEL_TRY(keel_file_map(path, &text));
    keel_status_t status = keel_calloc(text.size / LINE + 1, sizeof **out, &memory);
    *out = status ? NULL : memory;
    for (size_t at = 0; !status && at + LINE <= text.size; at += LINE)
        if (!keel_digest_unhex((keel_str_t){(const char *)text.data + at, LINE - 1},
                               &(*out)[(*out_count)++]))
            status = keel_status_make(KEEL_INVALID, "%s: not a list of keys", path);
    keel_file_unmap(text);
    return status;
}

// "entry KEY BYTES SECONDS"; the last is - if it is not known.
static void print_upkept(void *context, const upkept_t *entry) {
    char hex[KEEL_DIGEST_HEX];
    (void)context;
    keel_digest_hex(&entry->key, hex);
    printf("entry %s %llu ", hex, (unsigned long long)entry->size);
    if (entry->age == AGE_UNKNOWN)
        puts("-");
    else
        printf("%llu\n", (unsigned long long)(entry->age / 1000000000u));
}

static keel_status_t do_upkeep(courier_t *courier, const errand_t *errand) {
    size_t place = strtoul(errand->listed ? errand->listed : errand->pruned, NULL, 10);
    const upkeep_order_t order = {
        .older = errand->older ? strtoull(errand->older, NULL, 10) * 1000000000u : 0,
        .tell = print_upkept};
    if (place >= courier->count) return keel_status_make(KEEL_INVALID, "there is no such remote");
    return (errand->listed ? courier_list : courier_prune)(&courier->places[place], &order);
}

static keel_status_t do_errand(courier_t *courier, const errand_t *errand) {
    keel_digest_t *keys = NULL;
    export_order_t order = {.trusts = errand->trusts, .tell = print_entry};
    if (errand->listed || errand->pruned) return do_upkeep(courier, errand);
    if (errand->imported) return courier_import(courier, errand->imported, &order);
    if (!errand->keys) return keel_status_make(KEEL_INVALID, "--export needs --keys");
    keel_status_t status = read_keys(errand->keys, &keys, &order.count);
    order.keys = keys;
    if (!status) status = courier_export(courier, errand->exported, &order);
    keel_free(keys);
    return status;
}

// The last line is "done", or why it could not be.
static int run_errand(const char *const flags[], const errand_t *errand) {
    courier_t courier;
    keel_status_t status = courier_open(flags, &courier);
    if (!status) {
        status = do_errand(&courier, errand);
        courier_close(&courier);
    }
    printf("%s%s\n", status ? "error " : "done", status ? keel_status_message(status) : "");
    int code = status ? 1 : 0;
    keel_status_ignore(status);
    return code;
}

int main(int count, char **words) {
    const char *flags[KEEL_SETTING_COUNT] = {NULL};
    errand_t errand = {.trusts = NULL};
    int ends[2];
    (void)count;
    close_range(STDERR_FILENO + 1, ~0u, 0); // who started it may wait for the end of one
    if (!read_flags(words + 1, flags, &errand)) {
        printf("usage: keel-remote --cache-dir DIR --cache-limit SIZE --remotes REMOTES "
               "--keys-dir DIR [--idle TIME] [--down TIME] [--lease TIME]\n");
        return 2;
    }
    if (is_errand(&errand)) return run_errand(flags, &errand);
    if (pipe(ends)) return 1;
    pid_t child = fork();
    if (child < 0) return 1;
    if (child) {
        close(ends[1]);
        return await_child(ends[0]);
    }
    close(ends[0]);
    setsid();
    return serve(flags, ends[1]);
}
