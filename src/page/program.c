#include <stdio.h>

#include "page/part.h"
#include "read/read.h"

// Reading a larger one takes longer than its view is worth.
#define LARGEST ((uint64_t)64 << 20)

static void close_program(keel_page_program_t *slot) {
    keel_program_deinitialize(&slot->program);
    keel_free(slot->data);
    keel_free(slot->digest);
    *slot = (keel_page_program_t){0};
}

void keel_page_close_programs(keel_page_t *page) {
    for (size_t i = 0; i < KEEL_PAGE_PROGRAMS; ++i)
        if (page->programs[i].digest) close_program(&page->programs[i]);
}

static void set_missing(keel_page_program_t *slot, const char *why) {
    snprintf(slot->missing, sizeof slot->missing, "%s", why);
}

static keel_status_t read_file(keel_page_t *page, const char *path, keel_page_program_t *slot) {
    keel_file_facts_t facts;
    KEEL_TRY(keel_file_facts(path, &facts));
    if (facts.size > LARGEST || facts.size > page->budget) {
        set_missing(slot, "left out: it would take too long to read");
        return NULL;
    }
    size_t size = 0;
    KEEL_TRY(keel_journal_read_program(path, &slot->data, &size));
    page->budget -= size < page->budget ? size : page->budget;
    return keel_read(keel_bytes(slot->data, size), &slot->program);
}

static keel_status_t open_program(keel_page_t *page, const char *digest,
                                  keel_page_program_t *slot) {
    if (!page->input->run_dir || strlen(digest) != KEEL_DIGEST_HEX - 1 ||
        strspn(digest, "0123456789abcdef") != KEEL_DIGEST_HEX - 1) {
        set_missing(slot, "not kept");
        return NULL;
    }
    char *path;
    KEEL_TRY(keel_journal_find_program(page->input->run_dir, digest, &path));
    keel_status_t status = read_file(page, path, slot);
    keel_free(path);
    return status;
}

keel_status_t keel_page_program(keel_page_t *page, const char *digest,
                                const keel_page_program_t **out) {
    keel_page_program_t *slot = &page->programs[0];
    for (size_t i = 0; i < KEEL_PAGE_PROGRAMS; ++i) {
        keel_page_program_t *each = &page->programs[i];
        if (each->digest && strcmp(each->digest, digest) == 0) {
            each->used = ++page->uses;
            *out = each;
            return NULL;
        }
        if (!each->digest || (slot->digest && each->used < slot->used)) slot = each;
    }
    if (slot->digest) close_program(slot);
    KEEL_TRY(keel_strdup(keel_str(digest), &slot->digest));
    slot->used = ++page->uses;
    keel_program_initialize(&slot->program);
    keel_status_t status = open_program(page, digest, slot);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    if (keel_status_code(status) == KEEL_NOT_FOUND)
        set_missing(slot, "no longer kept");
    else if (status)
        set_missing(slot, keel_status_message(status));
    keel_status_ignore(status);
    *out = slot;
    return NULL;
}
