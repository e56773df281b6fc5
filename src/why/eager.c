#include "why/eager.h"

#include <stdlib.h>

// ---- gathering ---------------------------------------------------------------------------------

static keel_status_t add_to(keel_eager_list_t *list, const char *shown, const keel_took_t *took) {
    size_t at = 0;
    while (at < list->count && strcmp(list->lines[at].shown, shown) != 0)
        ++at;
    if (at == list->count) {
        void *grown = list->lines;
        KEEL_TRY(keel_realloc_array(at + 1, sizeof *list->lines, &grown));
        list->lines = grown;
        list->lines[list->count++] = (keel_eager_line_t){.shown = shown};
    }
    keel_took_add(&list->lines[at].took, took);
    return NULL;
}

keel_status_t keel_eager_add(keel_eager_lines_t *lines, const keel_run_request_t *request) {
    const keel_run_place_t *site = &request->site;
    KEEL_TRY(add_to(&lines->sites, site->shown, &request->took));
    if (*site->call_shown) KEEL_TRY(add_to(&lines->calls, site->call_shown, &request->took));
    keel_took_add(&lines->took, &request->took);
    return NULL;
}

void keel_eager_forget(keel_eager_lines_t *lines, const char *shown) {
    for (size_t i = 0; i < lines->sites.count; ++i) {
        keel_eager_line_t *line = &lines->sites.lines[i];
        if (strcmp(line->shown, shown) != 0) continue;
        lines->took.times -= line->took.times;
        lines->took.unknown -= line->took.unknown;
        lines->took.seconds -= line->took.seconds;
        *line = (keel_eager_line_t){.shown = line->shown};
    }
}

static int dearest(const void *a, const void *b) {
    const keel_eager_line_t *x = a, *y = b;
    // Each is a small program, so their number stands for their size.
    int order = keel_took_order(&x->took, x->took.times, &y->took, y->took.times);
    return order ? order : strcmp(x->shown, y->shown);
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

// A part and all of it, by time, or by the number of programs if that is not known.
typedef struct weights_t {
    double part, all;
} weights_t;

static weights_t weigh(const keel_took_t *part, const keel_took_t *all) {
    if (part->unknown || all->unknown) return (weights_t){(double)part->times, (double)all->times};
    return (weights_t){part->seconds, all->seconds};
}

// The line that ran most of them: if they ran on many lines, the one that called these, such as
// model.init above the layers' own.
const char *keel_eager_line(const keel_eager_lines_t *lines) {
    static const double most = 0.8;
    const keel_eager_list_t *const lists[] = {&lines->sites, &lines->calls};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        if (!lists[i]->count) continue;
        weights_t weights = weigh(&lists[i]->lines[0].took, &lines->took);
        if (weights.part >= most * weights.all) return lists[i]->lines[0].shown;
    }
    return lines->sites.count ? lines->sites.lines[0].shown : "";
}

bool keel_eager_is_told(const keel_eager_lines_t *lines, const keel_took_t *compiles) {
    enum { LEAST = 16, SHARE = 10 };
    weights_t weights = weigh(&lines->took, compiles);
    return lines->took.times >= LEAST && weights.part * SHARE >= weights.all;
}
