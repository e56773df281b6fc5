#include "cli/warn.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/cli.h"
#include "text/text.h"

static const uint64_t minute = 60000000000u;

void cli_warn_initialize(cli_warn_t *warn) {
    *warn = (cli_warn_t){.began = 0};
    keel_map_initialize(&warn->counts);
    keel_map_initialize(&warn->reasons);
}

void cli_warn_deinitialize(cli_warn_t *warn) {
    keel_map_deinitialize(&warn->counts);
    keel_map_deinitialize(&warn->reasons);
}

// ---- when --------------------------------------------------------------------------------------

static bool is_round(uint64_t count) {
    while (count > CLI_WARN_FIRST && count % 10 == 0)
        count /= 10;
    return count == CLI_WARN_FIRST;
}

bool cli_warn_counts(cli_warn_t *warn, int64_t pid, uint64_t steady, uint64_t *out_count) {
    keel_bytes_t process = keel_bytes(&pid, sizeof pid);
    const uint64_t *known = keel_map_find(&warn->counts, process);
    uint64_t count = known ? *known + 1 : 1;
    keel_status_ignore(keel_map_put(&warn->counts, process, count));
    *out_count = steady >= CLI_WARN_STEADY ? 0 : count;
    return !*out_count || is_round(count);
}

bool cli_warn_is_new(cli_warn_t *warn, int64_t pid, keel_str_t reason) {
    const uint64_t *known = keel_map_find(&warn->reasons, keel_str_bytes(reason));
    if (known) return *known == (uint64_t)pid;
    keel_status_ignore(keel_map_put(&warn->reasons, keel_str_bytes(reason), (uint64_t)pid));
    return true;
}

static void begin(cli_warn_t *warn, uint64_t now) {
    warn->began = now;
    warn->said = 0;
}

bool cli_warn_has_room(cli_warn_t *warn, uint64_t now) {
    if (!warn->left_out && (!warn->began || now - warn->began >= minute)) begin(warn, now);
    if (warn->said < CLI_WARN_LINES) {
        ++warn->said;
        return true;
    }
    ++warn->left_out;
    return false;
}

uint64_t cli_warn_left_out(cli_warn_t *warn, uint64_t now) {
    uint64_t count = warn->left_out;
    if (!count || now - warn->began < minute) return 0;
    begin(warn, now);
    ++warn->said;
    warn->left_out = 0;
    return count;
}

// ---- what --------------------------------------------------------------------------------------

// As the run's summary has it.
static const char *shown(const keel_place_t *place, const char *folder, char *out, size_t room) {
    if (!place->file || !*place->file) return "";
    snprintf(out, room, "%s:%" PRIu32, keel_run_relative(place->file, folder), place->line);
    return out;
}

static const char *or_empty(const char *text) {
    return text ? text : "";
}

static void put_reason(const keel_analysis_recompile_t *news, keel_buffer_t *out) {
    char site[1024], place[1024];
    const keel_difference_t *cause = news->cause;
    keel_why_recompile_t recompile = {
        .name = news->name,
        .site = {.shown = shown(news->site, news->folder, site, sizeof site)},
        .cause = "",
        .shown = ""};
    if (cause) {
        recompile.cause = keel_cause_facts(cause->kind)->word;
        recompile.subject = or_empty(cause->subject);
        recompile.old_value = or_empty(cause->old_value);
        recompile.new_value = or_empty(cause->new_value);
        recompile.shown = shown(&cause->place, news->folder, place, sizeof place);
    }
    keel_text_recompile(&recompile, out);
}

static void say(const keel_analysis_recompile_t *news, uint64_t count, keel_str_t reason) {
    char took[24];
    keel_format_seconds(news->seconds, took);
    if (count)
        cli_say("step %" PRIu64 ": %" PRIu64 " recompiles so far, the last of %s, %s: %.*s",
                news->step, count, news->name, took, KEEL_STR_ARGS(reason));
    else
        cli_say("step %" PRIu64 ": recompiled %s, %s: %.*s", news->step, news->name, took,
                KEEL_STR_ARGS(reason));
}

static void recompiled(void *context, const keel_analysis_recompile_t *news) {
    cli_warn_t *warn = context;
    uint64_t count;
    keel_buffer_t text;
    if (!cli_warn_counts(warn, news->pid, news->steady, &count)) return;
    keel_buffer_initialize(&text, 1 << 16);
    put_reason(news, &text);
    keel_status_t status = keel_buffer_status(&text);
    keel_str_t reason = keel_bytes_str(keel_buffer_bytes(&text));
    if (!status && cli_warn_is_new(warn, news->pid, reason) &&
        cli_warn_has_room(warn, keel_clock_monotonic()))
        say(news, count, reason);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&text);
}

static void looked(void *context) {
    uint64_t count = cli_warn_left_out(context, keel_clock_monotonic());
    if (count)
        cli_say("%" PRIu64 " more recompile%s since; run `keel why`", count, count == 1 ? "" : "s");
}

const keel_analysis_listener_t cli_warn_listener = {.recompiled = recompiled, .looked = looked};
