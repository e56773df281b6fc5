#define _GNU_SOURCE // memmem
#include "bundle/versions.h"

#include <ctype.h>
#include <limits.h>
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

const char *keel_bundle_support_name(keel_bundle_support_t support) {
    static const char *const names[] = {"tried", "older than tried", "newer than tried",
                                        "impossible", "unknown"};
    return names[support];
}

// ---- versions ----------------------------------------------------------------------------------

// The first three numbers of "0.12.0.1" or "2.9.0+cu128"; false if there are fewer than two.
// Numbers that are missing stay unchanged.
static bool read_version(const char *text, unsigned long out[3]) {
    int count = 0;
    while (count < 3 && isdigit((unsigned char)*text)) {
        char *end;
        out[count++] = strtoul(text, &end, 10);
        text = end;
        if (*text != '.') break;
        ++text;
    }
    return count >= 2;
}

// Compares as many numbers as the bound has, at least two.
static int compare_versions(const unsigned long version[3], const char *bound) {
    unsigned long other[3] = {0, 0, ULONG_MAX};
    read_version(bound, other);
    for (int i = 0; i < 3 && other[i] != ULONG_MAX; ++i)
        if (version[i] != other[i]) return version[i] < other[i] ? -1 : 1;
    return 0;
}

// ---- can it load Keel --------------------------------------------------------------------------

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

// ---- verdicts ----------------------------------------------------------------------------------

static void write_range(const struct client_t *client, char out[64]) {
    bool one = strcmp(client->oldest, client->newest) == 0;
    snprintf(out, 64, "%s%s%s", client->oldest, one ? "" : " to ", one ? "" : client->newest);
}

static void refuse(const struct client_t *client, const char *version, keel_bundle_verdict_t *out) {
    char range[64];
    write_range(client, range);
    out->support = KEEL_BUNDLE_IMPOSSIBLE;
    snprintf(out->text, sizeof out->text,
             "%s %.64s cannot load Keel: it does not know %s; Keel supports %s %s, so upgrade it, "
             "or run the command without `keel run`",
             client->name, version, client->word, client->name, range);
}

void keel_bundle_judge_client(const keel_bundle_t *bundle, size_t index, bool looks,
                              keel_bundle_verdict_t *out) {
    const struct client_t *client = &clients[index];
    const char *version = keel_bundle_find(bundle, KEEL_BUNDLE_CLIENTS, client->name);
    unsigned long numbers[3] = {0};
    char range[64];
    *out = (keel_bundle_verdict_t){.support = KEEL_BUNDLE_UNKNOWN};
    if (!version || !read_version(version, numbers)) return;
    bool older = compare_versions(
        numbers, client->oldest)<0, newer = compare_versions(numbers, client->newest)> 0;
    out->support = older ? KEEL_BUNDLE_OLDER : newer ? KEEL_BUNDLE_NEWER : KEEL_BUNDLE_TRIED;
    if (!older && !newer) return;
    if (older && looks && !can_load(bundle, client)) {
        refuse(client, version, out);
        return;
    }
    write_range(client, range);
    snprintf(out->text, sizeof out->text,
             "%s %.64s is %s than the versions Keel was tested with (%s); the run continues. If it "
             "fails, "
             "try KEEL_MODE=off to see whether Keel is the cause",
             client->name, version, older ? "older" : "newer", range);
}

void keel_bundle_judge_api(const char *plugin, int major, int minor, keel_bundle_verdict_t *out) {
    *out = (keel_bundle_verdict_t){.support = KEEL_BUNDLE_TRIED};
    if (major != PJRT_API_MAJOR) {
        out->support = KEEL_BUNDLE_IMPOSSIBLE;
        snprintf(out->text, sizeof out->text,
                 "plugin %.200s speaks PJRT %d.%d; Keel supports major version %d, so use a plugin "
                 "of that version",
                 plugin, major, minor, PJRT_API_MAJOR);
        return;
    }
    bool older = minor<KEEL_BUNDLE_API_OLDEST, newer = minor> KEEL_BUNDLE_API_NEWEST;
    if (!older && !newer) return;
    out->support = older ? KEEL_BUNDLE_OLDER : KEEL_BUNDLE_NEWER;
    snprintf(out->text, sizeof out->text,
             "plugin %.200s speaks PJRT %d.%d, %s than the versions Keel was tested with (%d.%d to "
             "%d.%d); "
             "the run continues. If it fails, try KEEL_MODE=off to see whether Keel is the cause",
             plugin, major, minor, older ? "older" : "newer", PJRT_API_MAJOR,
             KEEL_BUNDLE_API_OLDEST, PJRT_API_MAJOR, KEEL_BUNDLE_API_NEWEST);
}

void keel_bundle_judge_plugin(const keel_bundle_t *bundle, keel_bundle_verdict_t *out) {
    const char *api = keel_bundle_find(bundle, KEEL_BUNDLE_PLUGIN, "api");
    const char *path = keel_bundle_find(bundle, KEEL_BUNDLE_PLUGIN, "path");
    const char *refused = keel_bundle_find(bundle, KEEL_BUNDLE_PLUGIN, KEEL_BUNDLE_REFUSED);
    unsigned long numbers[3] = {0};
    *out = (keel_bundle_verdict_t){.support = KEEL_BUNDLE_UNKNOWN};
    if (refused) {
        out->support = KEEL_BUNDLE_IMPOSSIBLE;
        snprintf(out->text, sizeof out->text, "%.500s", refused);
        return;
    }
    const char *trouble = keel_bundle_find(bundle, KEEL_BUNDLE_PLUGIN, KEEL_BUNDLE_TROUBLE);
    if (!api && trouble)
        snprintf(out->text, sizeof out->text,
                 "plugin %.200s cannot be inspected: %.200s; the run continues, and `keel probe` "
                 "shows more",
                 path ? path : "", trouble);
    if (!api || !read_version(api, numbers) || numbers[0] > INT_MAX || numbers[1] > INT_MAX) return;
    keel_bundle_judge_api(path ? path : "", (int)numbers[0], (int)numbers[1], out);
}

static keel_status_t add_verdict(keel_bundle_t *bundle, const char *name,
                                 const keel_bundle_verdict_t *verdict) {
    if (verdict->support == KEEL_BUNDLE_UNKNOWN) return NULL;
    return bundle_add(bundle, KEEL_BUNDLE_SUPPORT, keel_str(name),
                      keel_str(keel_bundle_support_name(verdict->support)));
}

keel_status_t keel_bundle_add_support(keel_bundle_t *bundle) {
    keel_bundle_verdict_t verdict;
    bundle->known[KEEL_BUNDLE_SUPPORT] = true;
    keel_bundle_judge_plugin(bundle, &verdict);
    KEEL_TRY(add_verdict(bundle, "plugin", &verdict));
    for (size_t i = 0; i < keel_bundle_client_count(); ++i) {
        keel_bundle_judge_client(bundle, i, true, &verdict);
        KEEL_TRY(add_verdict(bundle, keel_bundle_client_name(i), &verdict));
    }
    bundle_sort(bundle);
    return NULL;
}
