#include "journal/line.h"

// 0: unknown.
static void known_number(keel_json_t *line, const char *name, uint64_t value) {
    if (value) keel_json_unsigned(line, name, value);
}

void keel_journal_memory(keel_journal_t *journal, const keel_journal_memory_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "memory")) return;
    keel_line_subject(&line.json, &event->subject);
    keel_json_unsigned(&line.json, "arguments", event->arguments);
    keel_json_unsigned(&line.json, "outputs", event->outputs);
    keel_json_unsigned(&line.json, "aliased", event->aliased);
    keel_json_unsigned(&line.json, "temporaries", event->temporaries);
    keel_json_unsigned(&line.json, "code", event->code);
    known_number(&line.json, "host", event->host);
    known_number(&line.json, "peak", event->peak);
    keel_json_unsigned(&line.json, "total", event->total);
    keel_line_finish(journal, &line);
}

void keel_journal_device_memory(keel_journal_t *journal,
                                const keel_journal_device_memory_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "device_memory")) return;
    keel_line_text(&line.json, "device", event->device);
    keel_line_text(&line.json, "kind", event->kind);
    keel_json_unsigned(&line.json, "in_use", event->in_use);
    known_number(&line.json, "peak", event->peak);
    known_number(&line.json, "limit", event->limit);
    keel_line_finish(journal, &line);
}

void keel_journal_memory_unknown(keel_journal_t *journal, const char *what, const char *message) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "memory_unknown")) return;
    keel_line_text(&line.json, "what", what);
    keel_line_text(&line.json, "message", message);
    keel_line_finish(journal, &line);
}

void keel_journal_host_ops(keel_journal_t *journal, const keel_journal_host_op_t *ops,
                           size_t count) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "host_ops")) return;
    keel_line_object(&line.json, "ops");
    for (size_t i = 0; i < count; ++i) {
        keel_json_key(&line.json, keel_str(ops[i].name));
        keel_json_unsigned(&line.json, NULL, ops[i].times);
    }
    keel_json_end_object(&line.json);
    keel_line_finish(journal, &line);
}
