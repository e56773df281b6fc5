// The environment variables that clients, plugins and Keel use.
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bundle/internal.h"
#include "key/key.h"

// ---- secrets -----------------------------------------------------------------------------------

// "access_token=word", "sig=word": a name and what its value begins with.
static bool is_secret(const char *name, const char *equals) {
    static const char *const words[] = {"TOKEN",  "SECRET",     "KEY",    "PASSWORD",
                                        "PASSWD", "PASSPHRASE", "PWD",    "CREDENTIAL",
                                        "BEARER", "AUTH",       "COOKIE", "SIGNATURE"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        const char *found = strcasestr(name, words[i]);
        if (found && found < equals) return true;
    }
    return equals - name == 3 && strncasecmp(name, "sig", 3) == 0;
}

// "https://user:word@host" contains a password.
static bool has_password(const char *value) {
    for (const char *url = value; (url = strstr(url, "://")); url += 3) {
        size_t length = strcspn(url + 3, "/ ");
        if (memchr(url + 3, '@', length)) return true;
    }
    return false;
}

// Of "NAME=value", whose value may have such fields too: "https://host/?access_token=word".
static bool is_hidden(const char *text) {
    for (const char *equals = text; (equals = strchr(equals, '=')); ++equals) {
        const char *name = equals;
        while (name > text && (isalnum((unsigned char)name[-1]) || strchr("_-.", name[-1])))
            --name;
        if (equals[1] && is_secret(name, equals)) return true;
    }
    return has_password(text) || strcasestr(text, "bearer ");
}

// A number or a boolean is not a secret, whatever the flag is called.
static bool is_plain(const char *value) {
    return strspn(value, "0123456789.-") == strlen(value) || strcasecmp(value, "true") == 0 ||
           strcasecmp(value, "false") == 0;
}

// ---- flags -------------------------------------------------------------------------------------

static void add_flag(keel_bundle_t *bundle, const char *variable, keel_str_t line) {
    char text[KEEL_BUNDLE_VALUE_LIMIT], name[KEEL_BUNDLE_NAME_LIMIT + 1];
    snprintf(text, sizeof text, "%.*s", KEEL_STR_ARGS(line));
    size_t length = strcspn(text, "=");
    const char *value = text + length + (text[length] == '=');
    snprintf(name, sizeof name, "%s %.*s", variable, (int)length, text);
    keel_bundle_add(bundle, KEEL_BUNDLE_FLAGS, keel_str(name),
                    keel_str(!is_plain(value) && is_hidden(text) ? "***" : value));
}

static void add_flags(keel_bundle_t *bundle, const char *variable) {
    keel_buffer_t canonical;
    keel_buffer_initialize(&canonical, 1 << 20);
    keel_bundle_forgive(bundle, keel_key_flags(getenv(variable), &canonical));
    keel_str_t rest = keel_bytes_str(keel_buffer_bytes(&canonical)), line;
    while (keel_str_line(&rest, &line))
        add_flag(bundle, variable, line);
    keel_buffer_deinitialize(&canonical);
}

// ---- variables ---------------------------------------------------------------------------------

static bool begins_with_one(const char *text, const char *const *list) {
    while (*list && strncmp(text, *list, strlen(*list)) != 0)
        ++list;
    return *list;
}

static void add_variable(keel_bundle_t *bundle, const char *text) {
    static const char *const prefixes[] = {"KEEL_",   "JAX_",    "PJRT_",  "XLA_", "TPU_",
                                           "LIBTPU_", "PT_XLA_", "NPROC=", NULL};
    // The flags have their own section, and a run's name does not matter.
    static const char *const others[] = {
        "XLA_FLAGS=", "LIBTPU_INIT_ARGS=", "KEEL_RUN_ID=", "KEEL_FAULT=", "KEEL_TOLD=", NULL};
    const char *equals = strchr(text, '=');
    if (!equals || begins_with_one(text, others)) return;
    keel_str_t name = {text, (size_t)(equals - text)};
    if (!begins_with_one(text, prefixes) && !keel_key_has_variable(name, keel_key_backends("")))
        return;
    keel_bundle_add(bundle, KEEL_BUNDLE_ENVIRONMENT, name,
                    keel_str(is_hidden(text) ? "***" : equals + 1));
}

void bundle_variables(keel_bundle_t *bundle) {
    bundle->known[KEEL_BUNDLE_FLAGS] = bundle->known[KEEL_BUNDLE_ENVIRONMENT] = true;
    add_flags(bundle, "XLA_FLAGS");
    add_flags(bundle, "LIBTPU_INIT_ARGS");
    for (char **variable = environ; variable && *variable; ++variable)
        add_variable(bundle, *variable);
}
