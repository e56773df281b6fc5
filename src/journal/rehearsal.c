// Events of a rehearsal.
#include "journal/line.h"

void keel_journal_compiled(keel_journal_t *journal, const keel_journal_compiled_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "compiled")) return;
    keel_line_subject(&line.json, &event->subject);
    keel_line_real(&line.json, "seconds", event->seconds);
    keel_line_real(&line.json, "cpu_seconds", event->cpu_seconds);
    keel_json_unsigned(&line.json, "peak_memory", event->peak_memory);
    keel_json_unsigned(&line.json, "payload_bytes", event->payload_bytes);
    if (event->failed) keel_json_bool(&line.json, "failed", true);
    keel_line_finish(journal, &line);
}

void keel_journal_unreal(keel_journal_t *journal, const keel_journal_unreal_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "unreal")) return;
    keel_line_text(&line.json, "maker", event->maker);
    keel_line_text(&line.json, "into", event->into);
    keel_line_site(&line.json, &event->site);
    keel_json_unsigned(&line.json, "count", event->count);
    if (event->refused) keel_json_unsigned(&line.json, "refused", event->refused);
    keel_line_finish(journal, &line);
}

void keel_journal_left(keel_journal_t *journal, const keel_journal_left_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "left")) return;
    keel_line_text(&line.json, "maker", event->maker);
    keel_line_site(&line.json, &event->site);
    keel_line_object(&line.json, "loop");
    keel_line_text(&line.json, "file", event->loop.file);
    keel_json_unsigned(&line.json, "line", event->loop.line);
    keel_line_text(&line.json, "function", event->loop.function);
    keel_json_end_object(&line.json);
    if (event->rounds) {
        keel_json_unsigned(&line.json, "round", event->round);
        keel_json_unsigned(&line.json, "rounds", event->rounds);
    }
    keel_json_bool(&line.json, "decides", event->decides);
    if (event->raised) keel_json_bool(&line.json, "raised", true);
    keel_line_finish(journal, &line);
}

void keel_journal_refused(keel_journal_t *journal, const keel_journal_refused_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "refused")) return;
    keel_line_text(&line.json, "action", event->action);
    keel_line_text(&line.json, "name", event->name);
    keel_line_text(&line.json, "message", event->message);
    keel_line_site(&line.json, &event->site);
    keel_json_unsigned(&line.json, "count", event->count);
    keel_line_finish(journal, &line);
}

void keel_journal_written(keel_journal_t *journal, const keel_journal_written_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "written")) return;
    keel_json_unsigned(&line.json, "files", event->files);
    keel_json_unsigned(&line.json, "bytes", event->bytes);
    keel_json_unsigned(&line.json, "removed", event->removed);
    keel_json_array(&line.json, "groups");
    for (size_t i = 0; i < event->group_count; ++i) {
        keel_json_object(&line.json, NULL);
        keel_line_known_text(&line.json, "path", event->groups[i].path);
        keel_json_unsigned(&line.json, "files", event->groups[i].files);
        keel_json_unsigned(&line.json, "bytes", event->groups[i].bytes);
        keel_json_unsigned(&line.json, "removed", event->groups[i].removed);
        keel_json_end_object(&line.json);
    }
    keel_json_end_array(&line.json);
    keel_line_finish(journal, &line);
}

void keel_journal_living(keel_journal_t *journal, const keel_digest_t *program, uint64_t bytes,
                         uint64_t adds, bool spans) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "living")) return;
    keel_line_digest(&line.json, "program", program);
    keel_json_unsigned(&line.json, "bytes", bytes);
    if (adds) keel_json_unsigned(&line.json, "adds", adds);
    if (spans) keel_json_bool(&line.json, "spans", true);
    keel_line_finish(journal, &line);
}
