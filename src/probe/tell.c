// How the child reports: one JSON object per line. lines.c reads them.
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "probe/internal.h"

enum { LINE_LIMIT = 1 << 20 };

void probe_line_begin(keel_buffer_t *line, const char *kind, const char *name) {
    keel_buffer_initialize(line, LINE_LIMIT);
    keel_buffer_byte(line, '{');
    keel_buffer_json_str(line, keel_str(kind));
    keel_buffer_text(line, ": ");
    keel_buffer_json_str(line, keel_str(name));
}

static void begin_field(keel_buffer_t *line, const char *name) {
    keel_buffer_text(line, ", ");
    keel_buffer_json_str(line, keel_str(name));
    keel_buffer_text(line, ": ");
}

void probe_line_text(keel_buffer_t *line, const char *name, keel_str_t text) {
    begin_field(line, name);
    keel_buffer_json_str(line, text);
}

void probe_line_number(keel_buffer_t *line, const char *name, int64_t number) {
    begin_field(line, name);
    keel_buffer_format(line, "%lld", (long long)number);
}

static void write_all(const probe_child_t *child, keel_bytes_t bytes) {
    for (size_t at = 0; at < bytes.size;) {
        ssize_t written = write(child->descriptor, bytes.data + at, bytes.size - at);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        at += (size_t)written;
    }
}

void probe_line_end(const probe_child_t *child, keel_buffer_t *line) {
    static const char lost[] = "{\"fact\": \"no memory\"}\n";
    keel_buffer_text(line, "}\n");
    keel_status_t status = keel_buffer_status(line);
    write_all(child, status ? keel_bytes(lost, sizeof lost - 1) : keel_buffer_bytes(line));
    keel_status_ignore(status);
    keel_buffer_deinitialize(line);
}

keel_status_t probe_line_bundle(const probe_child_t *child, PJRT_Client *client) {
    keel_bundle_t bundle;
    keel_buffer_t line;
    keel_bundle_initialize(&bundle);
    keel_status_t status = keel_bundle_plugin(child->api, client, &bundle);
    if (!status) {
        probe_line_begin(&line, "fact", "bundle");
        keel_buffer_text(&line, ", \"bundle\": ");
        keel_bundle_json(&bundle, &line);
        probe_line_end(child, &line);
    }
    keel_bundle_deinitialize(&bundle);
    return status;
}

void probe_forgive(const probe_child_t *child, keel_status_t status) {
    keel_buffer_t line;
    bool no_memory = keel_status_code(status) == KEEL_NO_MEMORY;
    keel_status_ignore(status);
    if (!no_memory) return;
    probe_line_begin(&line, "fact", "no memory");
    probe_line_end(child, &line);
}
