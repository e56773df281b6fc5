#define _GNU_SOURCE // memmem
#include "bundle/versions.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "bundle/internal.h"

static const struct client_t {
    const char *name, *oldest, *newest, *file, *word;
} clients[] = {
#define ROW(name, oldest, newest, file, word) {name, oldest, newest, file, word},
    KEEL_BUNDLE_CLIENTS_TRIED(ROW)
#undef ROW
};

size_t keel_bundle_client_count(void) {
    return sizeof clients / sizeof *clients;
}

const char *keel_bundle_client_name(size_t client) {
    return clients[client].name;
}

// ---- versions ----------------------------------------------------------------------------------

// The first numbers of "0.12.0.1" or "2.9.0+cu128", at most three; returns their number.
static int read_version(const char *text, unsigned long out[3]) {
    int count = 0;
    while (count < 3 && isdigit((unsigned char)*text)) {
        char *end;
        out[count++] = strtoul(text, &end, 10);
        if (*end != '.') break;
        text = end + 1;
    }
    return count;
}

// Compares as many numbers as the bound has.
static int compare_versions(const unsigned long version[3], const char *bound) {
    unsigned long other[3];
    int count = read_version(bound, other);
    for (int i = 0; i < count; ++i)
        if (version[i] != other[i]) return version[i] < other[i] ? -1 : 1;
    return 0;
}

// `what` is a thing with a version, such as "jax 0.13.1".
static void judge_range(const char *what, const char *version, const char *oldest,
                        const char *newest, keel_bundle_verdict_t *out) {
    unsigned long numbers[3] = {0};
    *out = (keel_bundle_verdict_t){.support = KEEL_BUNDLE_UNKNOWN};
    if (read_version(version, numbers) < 2) return;
    int below = compare_versions(numbers, oldest), above = compare_versions(numbers, newest);
    out->support = below < 0   ? KEEL_BUNDLE_OLDER
                   : above > 0 ? KEEL_BUNDLE_NEWER
                               : KEEL_BUNDLE_TRIED;
    if (out->support == KEEL_BUNDLE_TRIED) return;
    snprintf(out->text, sizeof out->text,
             "%s is %s than the versions Keel was tested with (%s%s%s); the run continues. If it "
             "fails, try KEEL_MODE=off to see whether Keel is the cause",
             what, below < 0 ? "older" : "newer", oldest, strcmp(oldest, newest) ? " to " : "",
             strcmp(oldest, newest) ? newest : "");
}

// ---- clients -----------------------------------------------------------------------------------

typedef struct word_search_t {
    const struct client_t *client;
    const char *folder;
    bool seen, holds; // the file; and whether it contains the word
} word_search_t;

static keel_status_t look_into(word_search_t *search, const char *name) {
    char *path;
    keel_bytes_t mapping;
    KEEL_TRY(keel_path(&path, "%s/%s", search->folder, name));
    keel_status_t status = keel_file_map(path, &mapping);
    keel_free(path);
    KEEL_TRY(status);
    const char *word = search->client->word;
    search->seen = true;
    if (memmem(mapping.data, mapping.size, word, strlen(word))) search->holds = true;
    keel_file_unmap(mapping);
    return NULL;
}

static keel_status_t visit_name(void *context, const char *name) {
    word_search_t *search = context;
    size_t length = strlen(search->client->file) - 1;
    return strncmp(name, search->client->file, length) == 0 ? look_into(search, name) : NULL;
}

// False only if that is certain. A file that cannot be read may be able to.
static bool can_load(const keel_bundle_t *bundle, const struct client_t *client) {
    const char *list = keel_bundle_find(bundle, KEEL_BUNDLE_INTERPRETER, BUNDLE_SITES);
    char folder[BUNDLE_PATH];
    word_search_t search = {.client = client, .folder = folder};
    bool by_start = client->file[strlen(client->file) - 1] == '*';
    while (list && !search.seen && bundle_folder(&list, folder))
        keel_status_ignore(by_start ? keel_directory_walk(folder, visit_name, &search)
                                    : look_into(&search, client->file));
    return !search.seen || search.holds;
}

void keel_bundle_judge_client(const keel_bundle_t *bundle, size_t index, bool looks,
                              keel_bundle_verdict_t *out) {
    const struct client_t *client = &clients[index];
    const char *version = keel_bundle_find(bundle, KEEL_BUNDLE_CLIENTS, client->name);
    char what[96];
    snprintf(what, sizeof what, "%s %.64s", client->name, version ? version : "");
    judge_range(what, version ? version : "", client->oldest, client->newest, out);
    if (out->support != KEEL_BUNDLE_OLDER || !looks || can_load(bundle, client)) return;
    out->support = KEEL_BUNDLE_IMPOSSIBLE;
    snprintf(out->text, sizeof out->text,
             "%s cannot load Keel: it does not know %s; Keel supports %s from %s on, so upgrade "
             "it, or run the command without `keel run`",
             what, client->word, client->name, client->oldest);
}

// ---- plugins -----------------------------------------------------------------------------------

static void judge_api(const char *plugin, const char *api, keel_bundle_verdict_t *out) {
    char what[300], oldest[16], newest[16];
    snprintf(what, sizeof what, "plugin %.200s of PJRT %.64s", plugin, api);
    snprintf(oldest, sizeof oldest, "%d.%d", PJRT_API_MAJOR, KEEL_BUNDLE_API_OLDEST);
    snprintf(newest, sizeof newest, "%d.%d", PJRT_API_MAJOR, KEEL_BUNDLE_API_NEWEST);
    judge_range(what, api, oldest, newest, out);
}

void keel_bundle_judge_api(const char *plugin, int major, int minor, keel_bundle_verdict_t *out) {
    char api[32];
    snprintf(api, sizeof api, "%d.%d", major, minor);
    judge_api(plugin, api, out);
}

void keel_bundle_judge_plugin(const keel_bundle_t *bundle, keel_bundle_verdict_t *out) {
    const char *api = keel_bundle_find(bundle, KEEL_BUNDLE_PLUGIN, "api");
    const char *path = keel_bundle_find(bundle, KEEL_BUNDLE_PLUGIN, "path");
    const char *refused = keel_bundle_find(bundle, KEEL_BUNDLE_PLUGIN, KEEL_BUNDLE_REFUSED);
    const char *trouble = keel_bundle_find(bundle, KEEL_BUNDLE_PLUGIN, KEEL_BUNDLE_TROUBLE);
    *out = (keel_bundle_verdict_t){.support = KEEL_BUNDLE_UNKNOWN};
    if (refused) {
        out->support = KEEL_BUNDLE_IMPOSSIBLE;
        snprintf(out->text, sizeof out->text, "%.500s", refused);
    } else if (api) {
        judge_api(path ? path : "", api, out);
    } else if (trouble) {
        snprintf(out->text, sizeof out->text,
                 "plugin %.200s cannot be inspected: %.200s; the run continues, and `keel probe` "
                 "shows more",
                 path ? path : "", trouble);
    }
}
