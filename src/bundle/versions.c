#include "bundle/versions.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

const struct keel_bundle_tried_t keel_bundle_tried[] = {
    {"jax", "0.6.2", "0.12"},
    {"torch-xla", "2.9", "2.9"},
};

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

void keel_bundle_judge_client(const keel_bundle_t *bundle, size_t client,
                              keel_bundle_verdict_t *out) {
    const struct keel_bundle_tried_t *tried = &keel_bundle_tried[client];
    const char *version = keel_bundle_find(bundle, KEEL_BUNDLE_CLIENTS, tried->name);
    char what[96];
    snprintf(what, sizeof what, "%s %.64s", tried->name, version ? version : "");
    judge_range(what, version ? version : "", tried->oldest, tried->newest, out);
}

void keel_bundle_judge_api(const char *plugin, const char *api, keel_bundle_verdict_t *out) {
    char what[300], oldest[16], newest[16];
    snprintf(what, sizeof what, "plugin %.200s of PJRT %.64s", plugin, api);
    snprintf(oldest, sizeof oldest, "%d.%d", PJRT_API_MAJOR, KEEL_BUNDLE_API_OLDEST);
    snprintf(newest, sizeof newest, "%d.%d", PJRT_API_MAJOR, KEEL_BUNDLE_API_NEWEST);
    judge_range(what, api, oldest, newest, out);
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
        keel_bundle_judge_api(path ? path : "", api, out);
    } else if (trouble) {
        snprintf(out->text, sizeof out->text,
                 "plugin %.200s cannot be inspected: %.200s; the run continues, and `keel probe` "
                 "shows more",
                 path ? path : "", trouble);
    }
}
