#include "report/eager.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/steps.h"
#include "report/write.h"

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

keel_status_t keel_eager_add(keel_eager_lines_t *lines, const json_t *event, const char *cwd,
                             keel_arena_t *texts) {
    const json_t *site = json_object_get(event, "site");
    const char *shown, *call;
    double seconds = keel_event_number(event, "seconds");
    KEEL_TRY(keel_event_place(texts, keel_event_text(site, "file"), keel_event_line(site, "line"),
                              cwd, &shown));
    KEEL_TRY(keel_event_place(texts, keel_event_text(site, "call_file"),
                              keel_event_line(site, "call_line"), cwd, &call));
    KEEL_TRY(add_to(&lines->sites, shown, seconds));
    if (*call) KEEL_TRY(add_to(&lines->calls, call, seconds));
    ++lines->programs;
    lines->seconds += seconds;
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

// ---- telling -----------------------------------------------------------------------------------

// The line that ran most of them: where they ran on many lines, the one that called these, such as
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

void keel_eager_sentence(const keel_eager_lines_t *lines, keel_buffer_t *out) {
    const char *line = keel_eager_line(lines);
    keel_write_counted(out, lines->programs, "small program");
    keel_buffer_text(out, " ran one by one, outside jit, and cost ");
    keel_write_seconds(out, lines->seconds);
    if (!*line) return;
    keel_buffer_text(out, ", most at ");
    keel_write_foreign(out, line);
}
