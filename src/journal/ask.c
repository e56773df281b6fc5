#include "journal/line.h"

const char *keel_ask_word(keel_ask_kind_t kind) {
    static const char *const words[] = {
#define WORD(name, word) word,
        KEEL_ASK_KINDS(WORD)
#undef WORD
    };
    return words[kind];
}

void keel_line_stack(keel_json_t *line, const keel_stack_t *stack) {
    keel_json_array(line, "stack");
    size_t began = line->out->size;
    for (uint32_t i = 0; i < stack->count && keel_line_has_room(line, began); ++i) {
        const keel_stack_frame_t *frame = &stack->frames[i];
        keel_line_object(line, NULL);
        keel_line_known_text(line, "file", frame->file);
        if (frame->line) keel_json_unsigned(line, "line", frame->line);
        keel_line_known_text(line, "function", frame->function);
        keel_json_end_object(line);
    }
    keel_json_end_array(line);
    if (stack->left_out) keel_json_unsigned(line, "stack_left_out", stack->left_out);
    keel_line_known_text(line, "stack_skipped", stack->skipped);
}

// The components that differ from those in the start event.
static void components(keel_json_t *line, const keel_journal_ask_t *event) {
    keel_line_object(line, "components");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (!keel_digest_equal(&event->key->components[i], &event->backend->components[i]))
            keel_line_digest(line, keel_component_name((keel_component_t)i),
                             &event->key->components[i]);
    keel_json_end_object(line);
    keel_line_object(line, "values");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (event->values[i])
            keel_line_text(line, keel_component_name((keel_component_t)i), event->key->values[i]);
    keel_json_end_object(line);
}

static void made(keel_json_t *line, const keel_journal_ask_t *event) {
    keel_json_array(line, "made");
    size_t began = line->out->size;
    for (uint32_t i = 0; i < event->made_count && keel_line_has_room(line, began); ++i) {
        const keel_place_t *place = &event->made[i].place;
        keel_line_object(line, NULL);
        keel_line_text(line, "type", event->made[i].type);
        keel_line_known_text(line, "file", place->file);
        keel_json_unsigned(line, "line", place->line);
        keel_line_known_text(line, "function", place->function);
        keel_json_end_object(line);
    }
    keel_json_end_array(line);
}

void keel_journal_source(keel_journal_t *journal, const char *file, const keel_digest_t *digest) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "source")) return;
    keel_line_text(&line.json, "file", file);
    keel_line_digest(&line.json, "digest", digest);
    keel_line_finish(journal, &line);
}

// Of folders, a line each.
static void folder_items(keel_json_t *line, const char *folders) {
    for (size_t length; *folders; folders += length + (folders[length] == '\n')) {
        length = strcspn(folders, "\n");
        keel_str_t folder = {folders, length};
        if (length) keel_json_str(line, NULL, folder);
    }
}

void keel_journal_folders(keel_journal_t *journal, const char *folders) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "folders")) return;
    keel_json_array(&line.json, "folders");
    folder_items(&line.json, folders);
    keel_json_end_array(&line.json);
    keel_line_finish(journal, &line);
}

void keel_journal_ask(keel_journal_t *journal, const keel_journal_ask_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "ask")) return;
    keel_line_subject(&line.json, &event->subject);
    keel_line_text(&line.json, "what", keel_ask_word(event->kind));
    keel_line_real(&line.json, "seconds", event->seconds);
    keel_line_real(&line.json, "compile_seconds", event->compile_seconds);
    keel_json_bool(&line.json, "recompile", event->recompile);
    if (event->step) keel_json_unsigned(&line.json, "step", event->step);
    if (event->steady) keel_json_unsigned(&line.json, "steady", event->steady);
    keel_line_site(&line.json, &event->site);
    keel_line_known_text(&line.json, "origin", event->origin);
    keel_line_known_text(&line.json, "elsewhere", event->elsewhere);
    keel_line_known_text(&line.json, "miss", event->miss);
    keel_line_known_text(&line.json, "miss_note", event->miss_note);
    if (event->sent) keel_json_unsigned(&line.json, "sent", event->sent);
    if (event->made_count) made(&line.json, event);
    keel_json_unsigned(&line.json, "client", event->client);
    components(&line.json, event);
    keel_line_stack(&line.json, event->stack);
    if (event->names && *event->names) keel_line_text(&line.json, "names", event->names);
    if (event->call && *event->call) keel_line_text(&line.json, "call", event->call);
    if (event->stack_seconds > 0) keel_line_real(&line.json, "stack_seconds", event->stack_seconds);
    keel_line_finish(journal, &line);
}
