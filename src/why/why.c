#include "why/internal.h"

static const char *const pattern_words[] = {
#define WORD(name, word, sentence) word,
    KEEL_PATTERNS(WORD)
#undef WORD
};

static const char *const pattern_sentences[] = {
#define SENTENCE(name, word, sentence) sentence,
    KEEL_PATTERNS(SENTENCE)
#undef SENTENCE
};

const char *keel_pattern_word(keel_pattern_kind_t kind) {
    return pattern_words[kind];
}

const char *keel_pattern_sentence(keel_pattern_kind_t kind) {
    return pattern_sentences[kind];
}

bool keel_why_is_shown(const keel_why_entry_t *entry) {
    if (entry->left_out) return false;
    if (entry->asked->is_refused) return true;
    if (entry->asked->is_eager) return entry->recompile; // otherwise they stopped coming
    if (keel_run_is_retrace(entry->asked)) return true;
    if (!entry->asked->is_compile) return false;
    return entry->recompile || (*entry->asked->against_program && !entry->asked->against_is_ours);
}

bool keel_why_ruins(const keel_why_entry_t *entry) {
    static const keel_note_t notes[] = {KEEL_NOTE_ABANDONED, KEEL_NOTE_REPLACED};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; ++i)
        if (entry->root_count && keel_note_leads(entry->roots[0].note, notes[i])) return true;
    return false;
}

const keel_run_difference_t *keel_why_cause(const keel_why_entry_t *entry) {
    return entry->root_count ? &entry->roots[0] : NULL;
}

const keel_run_place_t *keel_why_place(const keel_why_entry_t *entry) {
    const keel_run_difference_t *cause = keel_why_cause(entry);
    return cause && *cause->place.file ? &cause->place : &entry->asked->site;
}

const keel_run_difference_t *keel_why_told(const keel_why_entry_t *entry,
                                           const keel_why_pattern_t *pattern) {
    for (size_t i = 0; pattern && i < entry->root_count; ++i) {
        const keel_run_difference_t *root = &entry->roots[i];
        bool is_subject = !*pattern->subject || strcmp(root->subject, pattern->subject) == 0;
        if (root->kind == pattern->cause && is_subject) return root;
    }
    return keel_why_cause(entry);
}

const char *keel_why_sentence(const keel_why_pattern_t *pattern) {
    if (pattern->counted) return keel_note_text(KEEL_NOTE_COUNTED);
    if (pattern->kind == KEEL_PATTERN_UNPADDED && pattern->cause == KEEL_CAUSE_SIZE)
        return pattern->grows ? "a size grows with each step" : "a size varies freely";
    if (!pattern->grows) return keel_pattern_sentence(pattern->kind);
    return "a dimension grows with each step";
}

bool keel_why_is_of_run(keel_cause_t kind) {
    return kind == KEEL_CAUSE_FLAG || kind == KEEL_CAUSE_BACKEND || kind == KEEL_CAUSE_DEVICES;
}
