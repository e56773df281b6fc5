// Lines of the user's source, if the file is as the run read it.
#include <inttypes.h>
#include <stdlib.h>

#include "host/source.h"
#include "page/part.h"

enum { AROUND = 3, LONGEST_LINE = 240 };

void keel_page_close_sources(keel_page_t *page) {
    for (size_t i = 0; i < KEEL_PAGE_SOURCES; ++i) {
        keel_free(page->sources[i].file);
        keel_free(page->sources[i].data);
        page->sources[i] = (keel_page_source_t){0};
    }
}

static keel_status_t read_source(const char *path, keel_page_source_t *slot) {
    keel_status_t status = keel_source_read(path, &slot->data, &slot->size);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    if (keel_status_code(status) == KEEL_NOT_FOUND)
        slot->missing = "The file is no longer there.";
    else if (status)
        slot->missing = "The file cannot be read.";
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t open_source(const keel_page_t *page, const char *file,
                                 keel_page_source_t *slot) {
    const keel_why_t *why = page->input->why;
    char *path;
    KEEL_TRY(file[0] == '/' ? keel_path(&path, "%s", file)
                            : keel_path(&path, "%s/%s", why->run.cwd, file));
    keel_status_t status = read_source(path, slot);
    keel_free(path);
    bool is_as_read = slot->missing || keel_source_was_read(&why->run.sources, file,
                                                            keel_bytes(slot->data, slot->size));
    if (!is_as_read) slot->missing = "The file has changed since the run read it.";
    return status;
}

static keel_status_t source_of(keel_page_t *page, const char *file,
                               const keel_page_source_t **out) {
    for (size_t i = 0; i < KEEL_PAGE_SOURCES; ++i)
        if (page->sources[i].file && strcmp(page->sources[i].file, file) == 0) {
            *out = &page->sources[i];
            return NULL;
        }
    keel_page_source_t *slot = &page->sources[page->next_source++ % KEEL_PAGE_SOURCES];
    keel_free(slot->file);
    keel_free(slot->data);
    *slot = (keel_page_source_t){0};
    KEEL_TRY(keel_strdup(keel_str(file), &slot->file));
    *out = slot;
    return open_source(page, file, slot);
}

// ---- lines -------------------------------------------------------------------------------------

static void show_line(keel_buffer_t *out, uint32_t number, keel_str_t text, bool is_told) {
    keel_buffer_format(out, "<span class=\"line%s\"><i>%5" PRIu32 "</i> %s ",
                       is_told ? " told" : "", number, is_told ? "&gt;" : " ");
    bool cut = text.size > LONGEST_LINE;
    if (cut) text.size = LONGEST_LINE;
    keel_page_str(out, text);
    keel_buffer_text(out, cut ? "...</span>" : "</span>");
}

static void show(const keel_page_source_t *source, uint32_t told, keel_buffer_t *out) {
    uint32_t first = told > AROUND ? told - AROUND : 1, number = 0;
    keel_str_t rest = {(const char *)source->data, source->size}, text;
    bool any = false;
    while (keel_str_line(&rest, &text) && ++number <= told + AROUND) {
        if (number < first) continue;
        while (text.size && text.data[text.size - 1] == '\r')
            --text.size;
        if (!any) keel_buffer_text(out, "<pre class=\"source\" tabindex=\"0\"><code>");
        any = true;
        show_line(out, number, text, number == told);
    }
    if (any) keel_buffer_text(out, "</code></pre>\n");
}

keel_status_t keel_page_excerpt(keel_page_t *page, const keel_run_place_t *place) {
    const keel_page_source_t *source;
    const keel_map_t *read = &page->input->why->run.sources;
    bool is_known = place->line && place->line <= INT32_MAX;
    if (!is_known || !keel_source_is_noted(read, place->file)) return NULL;
    KEEL_TRY(source_of(page, place->file, &source));
    if (source->missing)
        keel_buffer_format(page->out, "<p class=\"muted\">%s</p>\n", source->missing);
    else
        show(source, place->line, page->out);
    return NULL;
}
