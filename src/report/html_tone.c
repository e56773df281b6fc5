#include "report/html_part.h"

uint8_t keel_html_tone(const keel_html_page_t *page, keel_cause_t cause) {
    return cause < KEEL_CAUSE_COUNT ? page->tones[cause] : KEEL_HTML_TONE_UNKNOWN;
}

void keel_html_choose_tones(keel_html_page_t *page) {
    const keel_why_t *why = page->input->why;
    memset(page->tones, KEEL_HTML_TONE_OTHER, sizeof page->tones);
    uint8_t next = 0;
    for (size_t i = 0; i < why->by_cause_count && next < KEEL_HTML_OWN_TONES; ++i)
        if (why->by_cause[i].kind != KEEL_CAUSE_FIRST) page->tones[why->by_cause[i].kind] = next++;
    page->tones[KEEL_CAUSE_FIRST] = KEEL_HTML_TONE_FIRST;
}
