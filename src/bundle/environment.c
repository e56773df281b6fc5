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

static bool is_secret(keel_str_t name) {
    static const char *const words[] = {"TOKEN",  "SECRET",     "KEY",    "PASSWORD",
                                        "PASSWD", "PASSPHRASE", "PWD",    "CREDENTIAL",
                                        "BEARER", "AUTH",       "COOKIE", "SIGNATURE"};
    char text[KEEL_BUNDLE_NAME_LIMIT + 1];
    size_t size = name.size < KEEL_BUNDLE_NAME_LIMIT ? name.size : KEEL_BUNDLE_NAME_LIMIT;
    memcpy(text, name.data, size);
    text[size] = 0;
    // A name too long for the buffer could hide a word, so its value is hidden too.
    if (size < name.size) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (strcasestr(text, words[i])) return true;
    return strcasecmp(text, "sig") == 0;
}

// "https://user:word@host" contains a password.
static bool has_password(const char *value) {
    for (const char *url = value; (url = strstr(url, "://")); url += 3) {
        size_t length = strcspn(url + 3, "/ ");
        if (memchr(url + 3, '@', length)) return true;
    }
    return false;
}

// So does "https://host/?access_token=word": a secret name precedes an equals sign.
static bool has_secret_field(const char *value) {
    for (const char *equals = value; (equals = strchr(equals, '=')); ++equals) {
        const char *name = equals;
        while (name > value && (isalnum((unsigned char)name[-1]) || strchr("_-.", name[-1])))
            --name;
        if (equals[1] && is_secret((keel_str_t){name, (size_t)(equals - name)})) return true;
    }
    return false;
}

// A number or a boolean is not a secret, whatever the flag is called.
static bool is_plain(const char *value) {
    return strspn(value, "0123456789.-") == strlen(value) || strcasecmp(value, "true") == 0 ||
           strcasecmp(value, "false") == 0;
}

static bool hides(keel_str_t name, const char *value) {
    if (!*value) return false;
    return is_secret(name) || has_password(value) || has_secret_field(value) ||
           strcasestr(value, "bearer ");
}

// ---- flags -------------------------------------------------------------------------------------

static keel_status_t add_flag(keel_bundle_t *bundle, const char *variable, keel_str_t line) {
    const char *equals = memchr(line.data, '=', line.size);
    size_t length = equals ? (size_t)(equals - line.data) : line.size;
    keel_str_t flag = {line.data, length};
    char name[KEEL_BUNDLE_NAME_LIMIT + 32], value[KEEL_BUNDLE_VALUE_LIMIT + 1];
    snprintf(name, sizeof name, "%s %.*s", variable, KEEL_STR_ARGS(flag));
    snprintf(value, sizeof value, "%.*s", equals ? (int)(line.size - length - 1) : 0,
             line.data + length + (equals ? 1 : 0));
    bool hidden = !is_plain(value) && hides(flag, value);
    return keel_bundle_add(bundle, KEEL_BUNDLE_FLAGS, keel_str(name),
                           keel_str(hidden ? "***" : value));
}

static keel_status_t add_flags(keel_bundle_t *bundle, const char *variable) {
    keel_buffer_t canonical;
    keel_buffer_initialize(&canonical, 1 << 20);
    keel_status_t status = keel_key_flags(getenv(variable), &canonical);
    keel_str_t rest = keel_bytes_str(keel_buffer_bytes(&canonical)), line;
    while (!status && keel_str_line(&rest, &line))
        status = add_flag(bundle, variable, line);
    keel_buffer_deinitialize(&canonical);
    return bundle_forgive(status);
}

keel_status_t bundle_flags(keel_bundle_t *bundle) {
    bundle->known[KEEL_BUNDLE_FLAGS] = true;
    KEEL_TRY(add_flags(bundle, "XLA_FLAGS"));
    return add_flags(bundle, "LIBTPU_INIT_ARGS");
}

// ---- variables ---------------------------------------------------------------------------------

static bool is_listed(const char *variable) {
    static const char *const prefixes[] = {"KEEL_", "JAX_",    "PJRT_",  "XLA_",
                                           "TPU_",  "LIBTPU_", "PT_XLA_"};
    // The flags have their own section, and a run's name does not matter.
    static const char *const others[] = {
        "XLA_FLAGS=", "LIBTPU_INIT_ARGS=", "KEEL_RUN_ID=", "KEEL_FAULT=", "KEEL_TOLD="};
    bool told = false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; ++i)
        told = told || strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        told = told && strncmp(variable, others[i], strlen(others[i])) != 0;
    return told;
}

static keel_status_t add_variable(keel_bundle_t *bundle, const char *variable) {
    const char *equals = strchr(variable, '=');
    if (!equals || !is_listed(variable)) return NULL;
    keel_str_t name = {variable, (size_t)(equals - variable)};
    return keel_bundle_add(bundle, KEEL_BUNDLE_ENVIRONMENT, name,
                           hides(name, equals + 1) ? KEEL_STR("***") : keel_str(equals + 1));
}

keel_status_t bundle_variables(keel_bundle_t *bundle) {
    bundle->known[KEEL_BUNDLE_ENVIRONMENT] = true;
    for (char **variable = environ; variable && *variable; ++variable)
        KEEL_TRY(add_variable(bundle, *variable));
    return NULL;
}
