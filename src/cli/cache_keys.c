#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "cli/cache.h"
#include "sign/sign.h"

static const char *folder_of(const keel_settings_t *settings) {
    return keel_settings_text(settings, KEEL_SETTING_KEYS_DIR);
}

static void key_json(const keel_public_key_t *key, const char *what, keel_json_t *json) {
    char text[KEEL_SIGN_TEXT];
    keel_sign_show(key, text);
    keel_json_object(json, what);
    keel_json_string(json, "name", key->name);
    keel_json_string(json, "key", text);
    keel_json_end_object(json);
}

// One key, as the answer of a command that made or changed it.
static void one_json(const keel_public_key_t *key, const char *what, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    key_json(key, what, &json);
    keel_json_end_object(&json);
}

static void default_name(char out[KEEL_SIGN_NAME]) {
    char host[KEEL_SIGN_NAME] = "";
    if (gethostname(host, sizeof host - 1) || !*host) snprintf(host, sizeof host, "key");
    host[strcspn(host, ".")] = 0;
    snprintf(out, KEEL_SIGN_NAME, "%s", host);
}

keel_status_t cache_keygen(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                           cache_work_t *work) {
    char name[KEEL_SIGN_NAME], text[KEEL_SIGN_TEXT];
    keel_public_key_t key;
    default_name(name);
    KEEL_TRY(keel_settings_need_folder(settings, KEEL_SETTING_KEYS_DIR));
    KEEL_TRY(keel_sign_generate(folder_of(settings), work->argument ? work->argument : name, &key));
    if (json) {
        one_json(&key, "own", out);
        return NULL;
    }
    keel_sign_show(&key, text);
    keel_buffer_format(out, "%s\n", text);
    cli_say("others load what you store once they trust this key: keel cache trust %s", text);
    return NULL;
}

keel_status_t cache_trust(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                          cache_work_t *work) {
    keel_public_key_t key;
    bool was_there;
    KEEL_TRY(keel_settings_need_folder(settings, KEEL_SETTING_KEYS_DIR));
    KEEL_TRY(keel_sign_read(keel_str(work->argument), &key));
    KEEL_TRY(keel_sign_trust(folder_of(settings), &key, &was_there));
    if (json)
        one_json(&key, "trusted", out);
    else
        keel_buffer_format(out, "%s is trusted%s\n", key.name,
                           was_there ? "; it has the place of another key of that name" : "");
    return NULL;
}

keel_status_t cache_untrust(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                            cache_work_t *work) {
    KEEL_TRY(keel_settings_need_folder(settings, KEEL_SETTING_KEYS_DIR));
    KEEL_TRY(keel_sign_untrust(folder_of(settings), keel_str(work->argument)));
    if (json) {
        keel_json_t object = keel_json(out, KEEL_JSON_SPACED);
        keel_json_object(&object, NULL);
        keel_json_string(&object, "untrusted", work->argument);
        keel_json_end_object(&object);
    } else {
        keel_buffer_format(out,
                           "%s is not trusted any more; what it signed and is in the cache already "
                           "stays there\n",
                           work->argument);
    }
    return NULL;
}

static void keys_text(const keel_public_key_t *own, const keel_public_keys_t *trusted,
                      keel_buffer_t *out) {
    char text[KEEL_SIGN_TEXT];
    if (own) {
        keel_sign_show(own, text);
        keel_buffer_format(out, "own      %s\n", text);
    }
    for (size_t i = 0; i < trusted->count; ++i) {
        keel_sign_show(&trusted->keys[i], text);
        keel_buffer_format(out, "trusted  %s\n", text);
    }
    if (!own && !trusted->count)
        keel_buffer_text(out, "no keys: `keel cache keygen` makes one, `keel cache trust` takes "
                              "another's\n");
}

static void keys_json(const keel_public_key_t *own, const keel_public_keys_t *trusted,
                      keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    if (own) key_json(own, "own", &json);
    keel_json_array(&json, "trusted");
    for (size_t i = 0; i < trusted->count; ++i)
        key_json(&trusted->keys[i], NULL, &json);
    keel_json_end_array(&json);
    keel_json_end_object(&json);
}

keel_status_t cache_keys(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                         cache_work_t *work) {
    keel_signing_key_t own;
    keel_public_keys_t trusted;
    (void)work;
    KEEL_TRY(keel_settings_need_folder(settings, KEEL_SETTING_KEYS_DIR));
    keel_status_t none = keel_sign_load(folder_of(settings), &own);
    const keel_public_key_t open = own.open;
    keel_sign_forget(&own);
    if (none && keel_status_code(none) != KEEL_NOT_FOUND) return none;
    bool has_own = !none;
    keel_status_ignore(none);
    KEEL_TRY(keel_sign_trusted(folder_of(settings), &trusted));
    (json ? keys_json : keys_text)(has_own ? &open : NULL, &trusted, out);
    keel_sign_free(&trusted);
    return NULL;
}
