#include "explain/cause.h"

static const keel_cause_facts_t causes[] = {
#define FACTS(name, word, question, sentence, jax, torch, c)                                       \
    {word, KEEL_QUESTION_##question, sentence, {jax, torch, c}},
    KEEL_CAUSES(FACTS)
#undef FACTS
};

static const char *const questions[] = {
#define SENTENCE(name, sentence) sentence,
    KEEL_QUESTIONS(SENTENCE)
#undef SENTENCE
};

static const struct {
    const char *text, *advice;
} notes[] = {
#define NOTE(name, text, advice) {text, advice},
    KEEL_NOTES(NOTE)
#undef NOTE
};

static const char *const cases[] = {
#define ADVICE(name, advice) advice,
    KEEL_CASES(ADVICE)
#undef ADVICE
};

static const char *const remarks[] = {
#define TEXT(name, text) text,
    KEEL_REMARKS(TEXT)
#undef TEXT
};

const char *keel_remark_text(keel_remark_t remark) {
    return remarks[remark];
}

const char *keel_case_advice(keel_case_t one) {
    return cases[one];
}

const char *keel_note_text(keel_note_t note) {
    return notes[note].text;
}

bool keel_note_leads(const char *text, keel_note_t note) {
    return strncmp(text, notes[note].text, strlen(notes[note].text)) == 0;
}

const char *keel_note_advice(const char *note) {
    for (unsigned i = 0; i < KEEL_NOTE_COUNT; ++i)
        if (keel_note_leads(note, (keel_note_t)i)) return notes[i].advice;
    return NULL;
}

const keel_cause_facts_t *keel_cause_facts(keel_cause_t cause) {
    return &causes[cause];
}

keel_cause_t keel_cause_by_word(const char *word) {
    unsigned cause = 0;
    while (cause < KEEL_CAUSE_COUNT && strcmp(causes[cause].word, word) != 0)
        ++cause;
    return (keel_cause_t)cause;
}

const char *keel_question_sentence(keel_question_t question) {
    return questions[question];
}
