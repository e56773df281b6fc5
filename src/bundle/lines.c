// Files and lists that others write.
#include <stdio.h>

#include "bundle/internal.h"

static keel_str_t trim(keel_str_t text) {
    while (text.size && strchr(" \t\r", text.data[0]))
        text = (keel_str_t){text.data + 1, text.size - 1};
    while (text.size && strchr(" \t\r", text.data[text.size - 1]))
        --text.size;
    return text;
}

bool bundle_field(keel_str_t line, char separator, keel_str_t *out_name, keel_str_t *out_value) {
    const char *at = line.size ? memchr(line.data, separator, line.size) : NULL;
    if (!at) return false;
    *out_name = trim((keel_str_t){line.data, (size_t)(at - line.data)});
    *out_value = trim((keel_str_t){at + 1, (size_t)(line.data + line.size - at - 1)});
    return true;
}

bool bundle_unquote(keel_str_t *value) {
    char quote = value->size > 1 ? value->data[0] : 0;
    if ((quote != '"' && quote != '\'') || value->data[value->size - 1] != quote) return false;
    *value = (keel_str_t){value->data + 1, value->size - 2};
    return true;
}

bool bundle_folder(const char **list, char out[BUNDLE_PATH]) {
    while (**list) {
        size_t length = strcspn(*list, ":");
        const char *folder = *list;
        *list += length + (folder[length] == ':');
        if (!length || length >= BUNDLE_PATH) continue;
        memcpy(out, folder, length);
        out[length] = 0;
        return true;
    }
    return false;
}

void bundle_list_folder(keel_buffer_t *list, keel_str_t folder) {
    const char *rest = keel_buffer_cstr(list);
    char listed[BUNDLE_PATH];
    while (bundle_folder(&rest, listed))
        if (keel_str_is(folder, listed)) return;
    keel_buffer_format(list, "%s%.*s", list->size ? ":" : "", KEEL_STR_ARGS(folder));
}

bool bundle_read_head(bundle_head_t *out, const char *format, ...) {
    char path[BUNDLE_PATH];
    keel_file_facts_t facts;
    va_list arguments;
    out->rest = (keel_str_t){out->data, 0};
    va_start(arguments, format);
    int length = vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof path) return false;
    keel_status_t status =
        keel_file_read_head(path, (uint8_t *)out->data, sizeof out->data, &out->rest.size, &facts);
    keel_status_ignore(status);
    return !status;
}

void bundle_looking(const keel_bundle_request_t *request, const char *path) {
    if (request->looking) request->looking(path);
}
