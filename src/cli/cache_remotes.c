#define _GNU_SOURCE
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "cli/cache.h"
#include "journal/journal.h"
#include "remote/remote.h"
#include "sign/sign.h"
#include "text/write.h"

static const char *folder_of(const keel_settings_t *settings) {
    return keel_settings_text(settings, KEEL_SETTING_CACHE_DIR);
}

keel_status_t cache_need_remotes(const keel_settings_t *settings) {
    if (settings->remotes.count) return NULL;
    return keel_status_make(KEEL_INVALID, "no remotes are set; set KEEL_REMOTES, or remotes in the "
                                          "config file");
}

keel_status_t cache_ask(const keel_settings_t *settings, const char *request, uint64_t seconds,
                        keel_buffer_t *out) {
    keel_buffer_initialize(out, 1 << 20);
    uint64_t until = keel_clock_monotonic() + seconds * 1000000000u;
    return keel_remote_ask(settings, folder_of(settings), request, until, false, out);
}

keel_status_t cache_run_helper(const keel_settings_t *settings, const char *const *how,
                               keel_buffer_t *out, int *out_code) {
    enum { HOURS = 24, WORDS = 32, LIMIT = 256 << 20 };
    static const keel_setting_t passed[] = {KEEL_SETTING_CACHE_DIR, KEEL_SETTING_CACHE_LIMIT,
                                            KEEL_SETTING_REMOTES, KEEL_SETTING_KEYS_DIR};
    char *words[WORDS] = {NULL}, *helper;
    size_t count = 1;
    KEEL_TRY(keel_settings_helper(&helper));
    if (!*helper) {
        keel_free(helper);
        return keel_status_make(KEEL_UNSUPPORTED,
                                "the program keel-remote, which reaches remotes, is not beside "
                                "Keel's other files; install Keel as a whole");
    }
    words[0] = helper;
    for (size_t i = 0; i < sizeof passed / sizeof *passed; ++i) {
        words[count++] = (char *)(uintptr_t)keel_setting_facts(passed[i])->flag;
        words[count++] = (char *)(uintptr_t)keel_settings_text(settings, passed[i]);
    }
    for (; *how && count < WORDS - 1; ++how)
        words[count++] = (char *)(uintptr_t)*how;
    keel_buffer_initialize(out, LIMIT);
    *out_code = keel_answer(words, keel_clock_monotonic() + HOURS * 3600 * 1000000000ull, out);
    keel_free(helper);
    return NULL;
}

// ---- fates -------------------------------------------------------------------------------------

static const char *const fates[] = {
#define WORD(word) #word,
    CACHE_FATES(WORD)
#undef WORD
};

// "found" says how many bytes came.
cache_fate_t cache_fate_of(const char *word) {
    if (strncmp(word, "found", 5) == 0) return CACHE_FATE_there;
    for (size_t i = 0; i < CACHE_FATE_COUNT; ++i)
        if (strncmp(word, fates[i], strlen(fates[i])) == 0) return (cache_fate_t)i;
    return CACHE_FATE_failed;
}

void cache_fates_add(cache_fates_t *all, cache_fate_t fate, const char *why) {
    if (!all->counts[fate]++)
        snprintf(all->whys[fate], sizeof all->whys[fate], "%s", why ? why : "");
}

bool cache_fates_are_good(const cache_fates_t *all) {
    for (size_t i = CACHE_FATE_untrusted; i < CACHE_FATE_COUNT; ++i)
        if (all->counts[i]) return false;
    return true;
}

void cache_fates_text(const cache_fates_t *all, keel_buffer_t *out) {
    keel_buffer_format(out, "%" PRIu64 " there", all->counts[CACHE_FATE_there]);
    for (size_t i = CACHE_FATE_none; i < CACHE_FATE_COUNT; ++i) {
        if (!all->counts[i]) continue;
        keel_buffer_format(out, ", %" PRIu64 " %s", all->counts[i],
                           i == CACHE_FATE_none ? "not" : fates[i]);
        if (*all->whys[i]) keel_buffer_text(out, ": ");
        keel_write_foreign(out, all->whys[i]);
    }
}

void cache_fates_json(const cache_fates_t *all, keel_json_t *json) {
    for (size_t i = 0; i < CACHE_FATE_COUNT; ++i)
        keel_json_unsigned(json, fates[i], all->counts[i]);
    keel_json_object(json, "why");
    for (size_t i = 0; i < CACHE_FATE_COUNT; ++i)
        if (*all->whys[i]) keel_json_string(json, fates[i], all->whys[i]);
    keel_json_end_object(json);
}

// ---- remotes -----------------------------------------------------------------------------------

// What works is of no use without keys.
static void look_for_keys(const keel_settings_t *settings, const keel_remote_t *remote,
                          keel_buffer_t *out) {
    const char *folder = keel_settings_text(settings, KEEL_SETTING_KEYS_DIR);
    keel_signing_key_t own;
    keel_public_keys_t trusted = {.count = 0};
    if (remote->trusted) return;
    keel_status_t none = keel_sign_load(folder, &own);
    keel_sign_forget(&own);
    keel_status_t status = keel_sign_trusted(folder, &trusted);
    if (none && keel_status_code(none) != KEEL_NOT_FOUND)
        keel_buffer_text(out, keel_status_message(none));
    else if (status)
        keel_buffer_text(out, keel_status_message(status));
    else if (none && remote->writes)
        keel_buffer_text(out, "it answers, but there is no key to sign with, so nothing is stored "
                              "there; make one with `keel cache keygen`");
    else if (none && !trusted.count)
        keel_buffer_text(out, "it answers, but no key is trusted, so nothing is loaded from it; "
                              "trust its writer's with `keel cache trust KEY`");
    keel_status_ignore(none);
    keel_status_ignore(status);
    keel_sign_free(&trusted);
}

void cache_try_remote(const keel_settings_t *settings, size_t place, keel_buffer_t *out) {
    char request[32];
    keel_buffer_t answer;
    uint64_t patience = settings->remotes.list[place].timeout / 1000000000u + 5;
    snprintf(request, sizeof request, "try %zu", place);
    keel_status_t status = cache_ask(settings, request, patience, &answer);
    const char *text = keel_buffer_cstr(&answer);
    if (status)
        keel_buffer_text(out, keel_status_message(status));
    else if (strncmp(text, "failed ", 7) == 0)
        keel_buffer_text(out, text + 7);
    else
        look_for_keys(settings, &settings->remotes.list[place], out);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&answer);
}

// `wrong` is "" for one that works.
static void remote_text(const keel_remote_t *remote, const char *wrong, keel_buffer_t *out) {
    keel_write_foreign(out, remote->url);
    keel_buffer_format(out, "  %s, %s  ", remote->writes ? "read-write" : "read",
                       remote->trusted ? "trusted without signatures" : "signed entries only");
    keel_write_foreign(out, *wrong ? wrong : "works");
    keel_buffer_byte(out, '\n');
}

static void remote_json(const keel_remote_t *remote, const char *wrong, keel_json_t *json) {
    keel_json_object(json, NULL);
    keel_json_string(json, "remote", remote->url);
    keel_json_bool(json, "writes", remote->writes);
    keel_json_bool(json, "trusted", remote->trusted);
    keel_json_bool(json, "works", !*wrong);
    if (*wrong) keel_json_string(json, "why", wrong);
    keel_json_end_object(json);
}

keel_status_t cache_remotes(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                            cache_work_t *work) {
    keel_json_t array = keel_json(out, KEEL_JSON_SPACED);
    KEEL_TRY(cache_need_remotes(settings));
    if (json) keel_json_object(&array, NULL);
    if (json) keel_json_array(&array, "remotes");
    for (size_t i = 0; i < settings->remotes.count; ++i) {
        keel_buffer_t wrong;
        keel_buffer_initialize(&wrong, 0);
        cache_try_remote(settings, i, &wrong);
        const char *text = keel_buffer_cstr(&wrong);
        if (*text) work->code = CLI_NO;
        if (json)
            remote_json(&settings->remotes.list[i], text, &array);
        else
            remote_text(&settings->remotes.list[i], text, out);
        keel_buffer_deinitialize(&wrong);
    }
    if (!json) return NULL;
    keel_json_end_array(&array);
    keel_buffer_t figures;
    keel_status_t status = cache_ask(settings, "figures", 5, &figures);
    if (!status) keel_buffer_text(keel_json_value(&array, "helper"), keel_buffer_cstr(&figures));
    keel_status_ignore(status);
    keel_buffer_deinitialize(&figures);
    keel_json_end_object(&array);
    return NULL;
}

// "  asked 12 times: 10 found, 2 not there; 3.1 MB in 0.2 s"
static void figures_line(const json_t *remote, keel_buffer_t *out) {
    static const char *const counts[] = {"found", "none", "untrusted", "refused", "failed"};
    char size[16];
    keel_write_foreign(out, keel_event_text(remote, "remote"));
    keel_buffer_text(out, "  since keel-remote started: ");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i)
        keel_buffer_format(out, "%s%" PRIu64 " %s", i ? ", " : "",
                           keel_event_count(remote, counts[i]), counts[i]);
    keel_format_size(keel_event_count(remote, "fetched_bytes"), size);
    keel_buffer_format(out, "; %s in ", size);
    keel_write_seconds(out, keel_event_number(remote, "fetch_seconds"));
    keel_format_size(keel_event_count(remote, "sent_bytes"), size);
    keel_buffer_format(out, "; %" PRIu64 " stored, %s\n", keel_event_count(remote, "stored"), size);
}

void cache_figures_text(const char *figures, keel_buffer_t *out) {
    json_t *all = json_loadb(figures, strlen(figures), 0, NULL), *remote;
    size_t i;
    json_array_foreach(json_object_get(all, "remotes"), i, remote) figures_line(remote, out);
    json_decref(all);
}

// ---- push --------------------------------------------------------------------------------------

typedef struct push_t {
    const keel_settings_t *settings;
    size_t place;
    uint64_t queued, refused;
    char why[512];
} push_t;

static keel_status_t push_key(push_t *push, const keel_digest_t *key) {
    char request[128], hex[KEEL_DIGEST_HEX];
    keel_buffer_t answer;
    keel_digest_hex(key, hex);
    snprintf(request, sizeof request, "put %zu %s", push->place, hex);
    keel_status_t status = cache_ask(push->settings, request, 30, &answer);
    const char *text = keel_buffer_cstr(&answer);
    bool is_queued = !status && strcmp(text, "queued") == 0;
    if (is_queued)
        ++push->queued;
    else if (!status) {
        ++push->refused;
        snprintf(push->why, sizeof push->why, "%s", text);
    }
    keel_buffer_deinitialize(&answer);
    return status;
}

// "failed N WHY"
static void take_finish(push_t *push, const char *answer) {
    unsigned failed = 0;
    int at = 0;
    if (sscanf(answer, "failed %u %n", &failed, &at) < 1) return;
    push->refused += failed;
    push->queued -= failed < push->queued ? failed : push->queued;
    snprintf(push->why, sizeof push->why, "%s", answer + at);
}

// So that a machine that has not run a script begins with its programs.
static keel_status_t push_plan(void *context, const char *name) {
    static const char ending[] = ".travel.plan";
    const push_t *push = context;
    const keel_str_t whole = keel_str(name);
    keel_buffer_t answer;
    char *script;
    if (!keel_str_ends(whole, keel_str(ending))) return NULL;
    KEEL_TRY(keel_path(&script, "%.*s", (int)(whole.size - (sizeof ending - 1)), name));
    keel_buffer_initialize(&answer, KEEL_REMOTE_LINE);
    keel_status_t status = keel_remote_plan(push->settings, folder_of(push->settings), "keep",
                                            push->place, script, &answer);
    keel_buffer_deinitialize(&answer);
    keel_free(script);
    return status;
}

static keel_status_t push_plans(push_t *push) {
    char *folder;
    KEEL_TRY(keel_path(&folder, "%s/plans", folder_of(push->settings)));
    keel_status_t status = keel_directory_walk(folder, push_plan, push);
    keel_free(folder);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t push_to(push_t *push, const cache_keys_t *keys) {
    enum { HOURS = 24 };
    keel_buffer_t answer;
    KEEL_TRY(push_plans(push));
    for (size_t i = 0; i < keys->count; ++i)
        KEEL_TRY(push_key(push, &keys->list[i]));
    keel_status_t status = cache_ask(push->settings, "finish", HOURS * 3600, &answer);
    if (!status) take_finish(push, keel_buffer_cstr(&answer));
    keel_buffer_deinitialize(&answer);
    return status;
}

static void push_text(const push_t *push, keel_buffer_t *out) {
    keel_write_foreign(out, push->settings->remotes.list[push->place].url);
    keel_buffer_format(out, "  %" PRIu64 " entr%s there, %" PRIu64 " not", push->queued,
                       push->queued == 1 ? "y" : "ies", push->refused);
    if (push->refused) keel_buffer_text(out, ": ");
    if (push->refused) keel_write_foreign(out, push->why);
    keel_buffer_byte(out, '\n');
}

static void push_json(const push_t *push, keel_json_t *json) {
    keel_json_object(json, NULL);
    keel_json_string(json, "remote", push->settings->remotes.list[push->place].url);
    keel_json_unsigned(json, "there", push->queued);
    keel_json_unsigned(json, "not_stored", push->refused);
    if (push->refused) keel_json_string(json, "why", push->why);
    keel_json_end_object(json);
}

static keel_status_t push_all(const keel_settings_t *settings, const cache_keys_t *keys,
                              keel_json_t *json, keel_buffer_t *out, cache_work_t *work) {
    size_t count = 0;
    for (size_t i = 0; i < settings->remotes.count; ++i) {
        if (!settings->remotes.list[i].writes) continue;
        push_t push = {.settings = settings, .place = i};
        KEEL_TRY(push_to(&push, keys));
        if (push.refused) work->code = CLI_NO;
        ++count;
        if (json)
            push_json(&push, json);
        else
            push_text(&push, out);
    }
    if (count) return NULL;
    return keel_status_make(KEEL_INVALID, "every remote is only read; add |read-write to one");
}

// What this machine does not have cannot be pushed.
static keel_status_t leave_absent(const keel_settings_t *settings, cache_keys_t *keys) {
    size_t count = 0;
    for (size_t i = 0; i < keys->count; ++i) {
        bool is_here;
        KEEL_TRY(cache_is_here(settings, &keys->list[i], &is_here));
        if (is_here) keys->list[count++] = keys->list[i];
    }
    keys->count = count;
    return NULL;
}

keel_status_t cache_push(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                         cache_work_t *work) {
    cache_keys_t keys = {.count = 0};
    keel_json_t array = keel_json(out, KEEL_JSON_SPACED);
    KEEL_TRY(cache_need_remotes(settings));
    keel_status_t status = cache_select(settings, work, &keys);
    if (!status) status = leave_absent(settings, &keys);
    if (json) keel_json_array(&array, NULL);
    if (!status) status = push_all(settings, &keys, json ? &array : NULL, out, work);
    if (json) keel_json_end_array(&array);
    cache_keys_free(&keys);
    return status;
}
