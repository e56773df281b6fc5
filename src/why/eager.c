#include "why/eager.h"

#include <stdlib.h>

// ---- gathering ---------------------------------------------------------------------------------

static keel_status_t add_to(keel_eager_list_t *list, const char *shown, double seconds) {
    size_t at = 0;
    while (at < list->count && strcmp(list->lines[at].shown, shown) != 0)
        ++at;
    if (at == list->count) {
        void *grown = list->lines;
        KEEL_TRY(keel_realloc_array(at + 1, sizeof *list->lines, &grown));
        list->lines = grown;
        list->lines[list->count++] = (keel_eager_line_t){.shown = shown};
    }
    ++list->lines[at].programs;
    list->lines[at].seconds += seconds;
    return NULL;
}

keel_status_t keel_eager_add(keel_eager_lines_t *lines, const keel_run_request_t *request) {
    const keel_run_place_t *site = &request->site;
    KEEL_TRY(add_to(&lines->sites, site->shown, request->seconds));
    if (*site->call_shown) KEEL_TRY(add_to(&lines->calls, site->call_shown, request->seconds));
    ++lines->programs;
    lines->seconds += request->seconds;
    return NULL;
}

void keel_eager_forget(keel_eager_lines_t *lines, const char *shown) {
    for (size_t i = 0; i < lines->sites.count; ++i) {
        keel_eager_line_t *line = &lines->sites.lines[i];
        if (strcmp(line->shown, shown) != 0) continue;
        lines->programs -= line->programs;
        lines->seconds -= line->seconds;
        *line = (keel_eager_line_t){.shown = line->shown};
    }
}

static int dearest(const void *a, const void *b) {
    const keel_eager_line_t *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds < y->seconds ? 1 : -1;
    return strcmp(x->shown, y->shown);
}

void keel_eager_settle(keel_eager_lines_t *lines) {
    keel_eager_list_t *const lists[] = {&lines->sites, &lines->calls};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        if (lists[i]->count)
            qsort(lists[i]->lines, lists[i]->count, sizeof *lists[i]->lines, dearest);
}

void keel_eager_deinitialize(keel_eager_lines_t *lines) {
    keel_free(lines->sites.lines);
    keel_free(lines->calls.lines);
    *lines = (keel_eager_lines_t){0};
}

// ---- what is shown -----------------------------------------------------------------------------

// The line that ran most of them: if they ran on many lines, the one that called these, such as
// model.init above the layers' own.
const char *keel_eager_line(const keel_eager_lines_t *lines) {
    static const double most = 0.8;
    const keel_eager_list_t *const lists[] = {&lines->sites, &lines->calls};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        if (lists[i]->count && lists[i]->lines[0].seconds >= most * lines->seconds)
            return lists[i]->lines[0].shown;
    return lines->sites.count ? lines->sites.lines[0].shown : "";
}

bool keel_eager_is_told(const keel_eager_lines_t *lines, double seconds) {
    enum { LEAST = 16, SHARE = 10 };
    return lines->programs >= LEAST && lines->seconds * SHARE >= seconds;
}
