// Why a refused program differs from those that the run had is worked out by `keel why`, in a
// process of its own that has a few seconds. So the client's process stays small, and a program
// that is hard to explain costs a sentence and nothing else.
#include "engine/verdict.h"

#include <stdio.h>
#include <unistd.h>

#include "compiler/compiler.h"
#include "engine/background.h"
#include "engine/members.h"
#include "engine/once.h"
#include "engine/steps.h"
#include "pjrt/error.h"

enum { EXPLAINED_WITHIN = 5 }; // seconds

static const char *word(keel_verdict_t verdict) {
    static const char *const words[] = {
#define KEEL_VERDICT_WORD(name, word) word,
        KEEL_VERDICTS(KEEL_VERDICT_WORD)
#undef KEEL_VERDICT_WORD
    };
    return words[verdict];
}

const char *keel_engine_ask_names(const keel_engine_ask_t *ask) {
    request_t *request = ask->request;
    ask_names(request->engine, &request->arena, &request->ask, &request->site);
    return request->ask.names;
}

// "train.py:88: ", or "".
static void line_of(const keel_place_t *place, char out[256]) {
    const char *slash = place->file ? strrchr(place->file, '/') : NULL;
    const char *file = slash ? slash + 1 : place->file;
    *out = 0;
    if (file && *file && place->line) snprintf(out, 256, "%.200s:%u: ", file, place->line);
}

// Each sentence once: a loop may ask for the program again and again.
static void warn(const request_t *request, const char *why) {
    char line[256];
    if (!once_first(request->engine->once, ONCE_DRIFT, keel_str_bytes(keel_str(why)))) return;
    line_of(&request->site.place, line);
    keel_log_line("%s%s", line, why);
}

keel_status_t keel_engine_ask_code(const keel_engine_ask_t *ask, keel_bytes_t *out) {
    if (ask->request) KEEL_TRY(request_make_whole(ask->request));
    *out = ask->request ? ask->request->code : ask->code;
    return NULL;
}

keel_status_t keel_engine_ask_members(const keel_engine_ask_t *ask, const uint32_t **out,
                                      size_t *out_count) {
    request_t *request = ask->request;
    keel_bytes_t options = request->sent_options;
    *out = NULL;
    *out_count = 0;
    if (request->client->process_count < 2 || request->unloaded) return NULL;
    if (!options.data)
        options = keel_bytes(request->args->compile_options, request->args->compile_options_size);
    return members_list(request->engine->api, request->client, options, &request->arena, out,
                        out_count);
}

static bool passes(keel_verdict_t verdict) {
    return verdict == KEEL_VERDICT_WARNED || verdict == KEEL_VERDICT_RECORDED;
}

static verdict_t ask_gate(request_t *request) {
    keel_engine_t *engine = request->engine;
    verdict_t out = {.verdict = KEEL_VERDICT_REFUSED};
    if (!engine->gate.check) return out;
    const keel_engine_ask_t ask = {
        .name = request->name,
        .program = &request->program,
        .code = request->code,
        .format = request->format,
        .key = &request->key,
        .site = &request->site,
        .recompile = request->recompile,
        .is_new = !request->has_key,
        .is_eager = request->is_eager,
        .elsewhere = request->kind == REQUEST_ELSEWHERE ? request->loader : NULL,
        .unkept = request->cacheable.yes ? NULL : request->cacheable.reason,
        .is_read = request->is_read,
        .process = request->client->process,
        .request = request};
    out.why = engine->gate.check(engine->gate.context, &ask, &out.verdict);
    if (!out.why) return out;
    const keel_journal_subject_t subject = {
        .program = &request->program, .name = request->name, .key = &request->key.digest};
    const keel_journal_site_t site = engine_site(&request->site.place);
    keel_journal_drift(engine->journal, &subject, &site, word(out.verdict),
                       keel_status_message(out.why));
    if (!passes(out.verdict)) return out;
    if (out.verdict == KEEL_VERDICT_WARNED) warn(request, keel_status_message(out.why));
    keel_status_ignore(out.why);
    out.why = NULL;
    return out;
}

// The gate counts steps up to the program: a server that has served for long does not warm up by
// asking for another bucket.
verdict_t verdict_ask(request_t *request) {
    verdict_t verdict = ask_gate(request);
    if (!verdict.why && request->ask.when.warms_up) steps_warmed_up(request->engine);
    return verdict;
}

PJRT_Error *verdict_unseen(keel_engine_t *engine, keel_status_t why) {
    keel_verdict_t verdict = KEEL_VERDICT_REFUSED;
    keel_status_t refusal =
        engine->gate.unseen
            ? engine->gate.unseen(engine->gate.context, keel_status_message(why), &verdict)
            : NULL;
    keel_journal_fallback(engine->journal, KEEL_JOURNAL_UNSEEN, NULL, keel_status_message(why));
    PJRT_Error *error = NULL;
    if (refusal && passes(verdict))
        keel_log_once("unseen", "%s", keel_status_message(refusal));
    else if (refusal)
        error = keel_pjrt_error(
            keel_status_make(keel_status_code(refusal), "keel: %s", keel_status_message(refusal)));
    else
        keel_log_once("compile", "%s; the run continues without it%s", keel_status_message(why),
                      keel_status_place(why));
    keel_status_ignore(refusal);
    keel_status_ignore(why);
    return error;
}

PJRT_Error *keel_engine_unseen(keel_engine_t *engine, const char *why) {
    if (!engine || atomic_load(&engine->ended) || getpid() != engine->pid) return NULL;
    return verdict_unseen(engine, keel_status_make(KEEL_UNSUPPORTED, "%s", why));
}

// What `keel why` says about the program: text, or nothing.
static void explain(keel_engine_t *engine, const keel_digest_t *program, keel_buffer_t *out) {
    char name[KEEL_DIGEST_HEX], *keel, *run_dir, *run;
    uint64_t until = keel_clock_monotonic() + EXPLAINED_WITHIN * 1000000000ull;
    const char *folder = keel_settings_text(&engine->settings, KEEL_SETTING_RUN_DIR);
    if (!engine->journal || !*folder || !background_wait(engine, until)) return;
    keel_digest_hex(program, name);
    keel_status_t status = keel_compiler_find_worker(NULL, &keel);
    if (status) {
        keel_status_ignore(status);
        return;
    }
    static char why[] = "why", of[] = "--program", in[] = "--run-dir";
    run_dir = (char *)(uintptr_t)folder;
    run = (char *)(uintptr_t)keel_journal_id(engine->journal);
    char *argv[] = {keel, why, of, name, in, run_dir, run, NULL};
    if (keel_answer(argv, until, out) != 0) out->size = 0;
    keel_free(keel);
}

PJRT_Error *verdict_error(keel_engine_t *engine, const keel_digest_t *program,
                          const verdict_t *verdict) {
    keel_status_t why = verdict->why;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 16);
    if (verdict->verdict == KEEL_VERDICT_REFUSED) explain(engine, program, &text);
    while (text.size && strchr("\n ", text.data[text.size - 1]))
        --text.size;
    bool is_explained = text.size && !text.failed;
    PJRT_Error *error = keel_pjrt_error(keel_status_make(
        keel_status_code(why), "keel: %s%s%.*s", keel_status_message(why), is_explained ? "\n" : "",
        is_explained ? (int)text.size : 0, (const char *)text.data));
    keel_status_ignore(why);
    keel_buffer_deinitialize(&text);
    return error;
}
