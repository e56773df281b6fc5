#include "courier/netrc.h"

#include <stdio.h>
#include <stdlib.h>

enum { TOKEN = 4096, SIZE = 1 << 20 };

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static char take_char(keel_str_t *rest) {
    char c = *rest->data;
    *rest = (keel_str_t){rest->data + 1, rest->size - 1};
    return c;
}

// Words are between blanks, or between quotes with backslashes in them.
static bool next(keel_str_t *rest, char out[TOKEN]) {
    size_t size = 0;
    while (rest->size && is_blank(*rest->data))
        take_char(rest);
    if (!rest->size) return false;
    bool is_quoted = *rest->data == '"';
    if (is_quoted) take_char(rest);
    while (rest->size && (is_quoted ? *rest->data != '"' : !is_blank(*rest->data))) {
        char c = take_char(rest);
        if (is_quoted && c == '\\' && rest->size) c = take_char(rest);
        if (size + 1 < TOKEN) out[size++] = c;
    }
    if (is_quoted && rest->size) take_char(rest);
    out[size] = 0;
    return true;
}

// A macro ends at an empty line.
static void skip_macro(keel_str_t *rest) {
    keel_str_t line;
    bool is_first = true;
    while (keel_str_line(rest, &line) && (is_first || line.size))
        is_first = false;
}

bool netrc_find_in(keel_str_t text, const char *host, netrc_t *out) {
    char token[TOKEN], login[sizeof out->login] = "", password[sizeof out->password] = "";
    bool is_host = false, has_password = false;
    const char *wanted = out->login;
    for (bool more = true; more;) {
        more = next(&text, token);
        bool is_default = more && strcmp(token, "default") == 0;
        bool is_machine = more && strcmp(token, "machine") == 0;
        if (is_host && has_password && (!more || is_default || is_machine) &&
            (!*wanted || strcmp(wanted, login) == 0))
            break;
        if (is_default || is_machine) {
            is_host = is_default || (next(&text, token) && strcmp(token, host) == 0);
            has_password = false;
            *login = 0;
        } else if (more && strcmp(token, "login") == 0) {
            if (next(&text, token)) snprintf(login, sizeof login, "%.255s", token);
        } else if (more && strcmp(token, "password") == 0) {
            if (next(&text, token)) snprintf(password, sizeof password, "%s", token);
            has_password = true;
        } else if (more && strcmp(token, "macdef") == 0) {
            skip_macro(&text);
        }
        if (!more) return false;
    }
    memcpy(out->login, login, sizeof login);
    memcpy(out->password, password, sizeof password);
    return true;
}

bool netrc_find(const char *host, netrc_t *out) {
    const char *named = getenv("NETRC"), *home = getenv("HOME");
    bool is_named = named && *named;
    char *path;
    uint8_t *text = NULL;
    size_t size = 0;
    if (!is_named && !home) return false;
    keel_status_t status =
        keel_path(&path, "%s%s", is_named ? named : home, is_named ? "" : "/.netrc");
    if (!status) {
        status = keel_file_read(path, SIZE, &text, &size);
        keel_free(path);
    }
    bool found = !status && netrc_find_in((keel_str_t){(const char *)text, size}, host, out);
    keel_status_ignore(status);
    keel_free(text);
    return found;
}
