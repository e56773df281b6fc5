#include "journal/line.h"

// 0: unknown.
static void known_number(keel_buffer_t *line, const char *name, uint64_t value) {
    if (value) keel_line_number(line, name, value);
}

void keel_journal_memory(keel_journal_t *journal, const keel_journal_memory_t *event) {
    keel_buffer_t line;
    if (!keel_line_begin(journal, &line, "memory")) return;
    keel_line_subject(&line, &event->subject);
    keel_line_number(&line, "arguments", event->arguments);
    keel_line_number(&line, "outputs", event->outputs);
    keel_line_number(&line, "aliased", event->aliased);
    keel_line_number(&line, "temporaries", event->temporaries);
    keel_line_number(&line, "code", event->code);
    known_number(&line, "host", event->host);
    known_number(&line, "peak", event->peak);
    keel_line_number(&line, "total", event->total);
    keel_line_finish(journal, &line);
}

void keel_journal_device_memory(keel_journal_t *journal,
                                const keel_journal_device_memory_t *event) {
    keel_buffer_t line;
    if (!keel_line_begin(journal, &line, "device_memory")) return;
    keel_line_text(&line, "device", event->device);
    keel_line_text(&line, "kind", event->kind);
    keel_line_number(&line, "in_use", event->in_use);
    known_number(&line, "peak", event->peak);
    known_number(&line, "limit", event->limit);
    keel_line_finish(journal, &line);
}

void keel_journal_memory_unknown(keel_journal_t *journal, const char *what, const char *message) {
    keel_buffer_t line;
    if (!keel_line_begin(journal, &line, "memory_unknown")) return;
    keel_line_text(&line, "what", what);
    keel_line_text(&line, "message", message);
    keel_line_finish(journal, &line);
}

void keel_journal_host_ops(keel_journal_t *journal, const keel_journal_host_op_t *ops,
                           size_t count) {
    keel_buffer_t line;
    if (!keel_line_begin(journal, &line, "host_ops")) return;
    size_t at = keel_line_open(&line, "ops");
    for (size_t i = 0; i < count; ++i) {
        keel_buffer_byte(&line, ',');
        keel_buffer_json_str(&line, keel_str(ops[i].name));
        keel_buffer_format(&line, ":%llu", (unsigned long long)ops[i].times);
    }
    keel_line_close(&line, at);
    keel_line_finish(journal, &line);
}
