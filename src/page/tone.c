#include "page/part.h"

uint8_t keel_page_tone(const keel_page_t *page, keel_cause_t cause) {
    return cause < KEEL_CAUSE_COUNT ? page->tones[cause] : KEEL_PAGE_TONE_UNKNOWN;
}

void keel_page_choose_tones(keel_page_t *page) {
    const keel_why_t *why = page->input->why;
    memset(page->tones, KEEL_PAGE_TONE_OTHER, sizeof page->tones);
    uint8_t next = 0;
    for (size_t i = 0; i < why->by_cause_count && next < KEEL_PAGE_OWN_TONES; ++i)
        if (why->by_cause[i].kind != KEEL_CAUSE_FIRST) page->tones[why->by_cause[i].kind] = next++;
    page->tones[KEEL_CAUSE_FIRST] = KEEL_PAGE_TONE_FIRST;
}
