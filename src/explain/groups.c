#include "explain/groups.h"

#include <string.h>

static bool is_scalar(const keel_difference_t *difference) {
    return keel_str_ends(keel_str(difference->new_value), KEEL_STR("[]"));
}

// HLO numbers its arguments backward from the results. The first one in the source leads; but a
// number has the type of the arrays that it is combined with, and a parameter comes into use with
// what was just moved to the device.
static bool stands_before(const keel_difference_t *a, bool is_sent, const keel_root_t *root) {
    const keel_difference_t *b = &root->difference;
    if (a->kind == KEEL_CAUSE_DTYPE && is_scalar(a) != is_scalar(b)) return is_scalar(b);
    if (is_sent != root->is_sent) return is_sent;
    return a->place.line < b->place.line && strcmp(a->place.file, b->place.file) == 0;
}

static bool is_result(const keel_difference_t *difference) {
    return strncmp(difference->subject, "result ", strlen("result ")) == 0;
}

keel_group_t *keel_groups_find(keel_groups_t *groups, keel_cause_t kind, uint64_t key) {
    for (uint32_t i = 0; i < groups->count; ++i)
        if (groups->items[i].key == key && groups->items[i].kind == kind) return &groups->items[i];
    return NULL;
}

keel_group_t *keel_groups_of(keel_groups_t *groups, keel_cause_t kind, uint32_t root) {
    for (uint32_t i = 0; i < groups->count; ++i)
        if (groups->items[i].root == root && groups->items[i].kind == kind)
            return &groups->items[i];
    return NULL;
}

void keel_groups_put(keel_groups_t *groups, keel_cause_t kind, uint64_t key, uint32_t root) {
    if (groups->count < KEEL_GROUPS)
        groups->items[groups->count++] = (keel_group_t){.key = key, .root = root, .kind = kind};
}

keel_status_t keel_groups_add_argument(keel_diff_t *diff, keel_groups_t *groups, uint64_t key,
                                       const keel_difference_t *difference, bool is_sent,
                                       uint32_t *out) {
    const keel_group_t *group = keel_groups_find(groups, difference->kind, key);
    if (!group) {
        uint32_t known = diff->root_count;
        KEEL_TRY(keel_diff_root(diff, difference, out));
        if (diff->root_count > known) diff->roots[*out].is_sent = is_sent;
        keel_groups_put(groups, difference->kind, key, *out);
        if (groups->items[groups->count - 1].root == *out)
            groups->items[groups->count - 1].results = is_result(difference);
        return NULL;
    }
    *out = group->root;
    keel_group_t *counted = keel_groups_of(groups, difference->kind, *out);
    ++counted->more;
    counted->results += is_result(difference);
    keel_difference_t follower = *difference;
    if (stands_before(difference, is_sent, &diff->roots[*out])) {
        follower = diff->roots[*out].difference;
        diff->roots[*out].difference = *difference;
        diff->roots[*out].is_sent = is_sent;
    }
    return keel_diff_fold(diff, *out, &follower);
}

keel_status_t keel_groups_add(keel_diff_t *diff, keel_groups_t *groups, uint64_t key,
                              const keel_difference_t *difference, uint32_t *out) {
    return keel_groups_add_argument(diff, groups, key, difference, false, out);
}

static const char *counted(keel_diff_t *diff, uint32_t count, const char *what) {
    return keel_diff_text(diff, "%u %s%s", count, what, count == 1 ? "" : "s");
}

// "2 more arguments", "1 more argument and 3 results".
static const char *others(keel_diff_t *diff, const keel_group_t *group,
                          const keel_difference_t *root) {
    uint32_t results = group->results - is_result(root), arguments = group->more - results;
    if (!results) return counted(diff, arguments, "more argument");
    if (!arguments) return counted(diff, results, is_result(root) ? "more result" : "result");
    return keel_diff_text(diff, "%s and %s", counted(diff, arguments, "more argument"),
                          counted(diff, results, "result"));
}

void keel_groups_tell(keel_diff_t *diff, const keel_groups_t *groups) {
    for (uint32_t i = 0; i < groups->count; ++i) {
        keel_difference_t *root = &diff->roots[groups->items[i].root].difference;
        if (!groups->items[i].more) continue;
        // A program may name one mesh several times: that is not a difference.
        if (strncmp(root->subject, "mesh ", 5) == 0) continue;
        root->note = keel_diff_text(diff, "%s%sand %s", root->note, *root->note ? "; " : "",
                                    others(diff, &groups->items[i], root));
    }
}
