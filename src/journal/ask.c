#include "journal/line.h"

// A line that grows past the limit would end the journal, so lists are cut when they take too much.
enum { STACK_LIMIT = 1 << 18 };

const char *keel_ask_word(keel_ask_kind_t kind) {
    static const char *const words[] = {
#define WORD(name, word) word,
        KEEL_ASK_KINDS(WORD)
#undef WORD
    };
    return words[kind];
}

void keel_line_stack(keel_buffer_t *line, const keel_stack_t *stack) {
    keel_line_name(line, "stack");
    keel_buffer_byte(line, '[');
    size_t began = line->size;
    for (uint32_t i = 0; i < stack->count; ++i) {
        if (line->failed || line->size - began > STACK_LIMIT) break;
        const keel_stack_frame_t *frame = &stack->frames[i];
        if (i) keel_buffer_byte(line, ',');
        size_t at = line->size + 1;
        keel_buffer_byte(line, '{');
        keel_line_known_text(line, "file", frame->file);
        if (frame->line) keel_line_number(line, "line", frame->line);
        keel_line_known_text(line, "function", frame->function);
        keel_line_close(line, at);
    }
    keel_buffer_byte(line, ']');
    if (stack->left_out) keel_line_number(line, "stack_left_out", stack->left_out);
    keel_line_known_text(line, "stack_skipped", stack->skipped);
}

// The components that differ from those in the start event.
static void components(keel_buffer_t *line, const keel_journal_ask_t *event) {
    size_t at = keel_line_open(line, "components");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (!keel_digest_equal(&event->key->components[i], &event->backend->components[i]))
            keel_line_digest(line, keel_component_name((keel_component_t)i),
                             &event->key->components[i]);
    keel_line_close(line, at);
    at = keel_line_open(line, "values");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (event->values[i])
            keel_line_text(line, keel_component_name((keel_component_t)i), event->key->values[i]);
    keel_line_close(line, at);
}

void keel_journal_source(keel_journal_t *journal, const char *file, const keel_digest_t *digest) {
    keel_buffer_t line;
    if (!keel_line_begin(journal, &line, "source")) return;
    keel_line_text(&line, "file", file);
    keel_line_digest(&line, "digest", digest);
    keel_line_finish(journal, &line);
}

void keel_journal_ask(keel_journal_t *journal, const keel_journal_ask_t *event) {
    keel_buffer_t line;
    if (!keel_line_begin(journal, &line, "ask")) return;
    keel_line_subject(&line, &event->subject);
    keel_line_text(&line, "what", keel_ask_word(event->kind));
    keel_line_real(&line, "seconds", event->seconds);
    keel_line_real(&line, "compile_seconds", event->compile_seconds);
    keel_line_true(&line, "recompile", event->recompile);
    keel_line_site(&line, &event->site);
    keel_line_known_text(&line, "origin", event->origin);
    keel_line_known_text(&line, "miss", event->miss);
    keel_line_known_text(&line, "miss_note", event->miss_note);
    if (event->sent) keel_line_number(&line, "sent", event->sent);
    keel_line_number(&line, "client", event->client);
    components(&line, event);
    keel_line_stack(&line, event->stack);
    if (event->names && *event->names) keel_line_text(&line, "names", event->names);
    if (event->stack_seconds > 0) keel_line_real(&line, "stack_seconds", event->stack_seconds);
    keel_line_finish(journal, &line);
}
