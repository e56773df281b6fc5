// What grew, what differs, and whether that is a no.
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "cli/replay.h"

const char *const replay_measure_words[REPLAY_MEASURE_COUNT] = {
#define WORD(name, word, ...) word,
    REPLAY_MEASURES(WORD)
#undef WORD
};

static const struct {
    double limit, least;
} measures[REPLAY_MEASURE_COUNT] = {
#define MEASURE(name, word, limit, least, ...) {limit, least},
    REPLAY_MEASURES(MEASURE)
#undef MEASURE
};

// ---- limits ------------------------------------------------------------------------------------

static bool read_percent(keel_str_t text, double *out) {
    char copy[32], *end;
    if (!text.size || text.size >= sizeof copy) return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    if (!keel_is_digit(*copy)) return false;
    *out = strtod(copy, &end);
    return !*end || (*end == '%' && !end[1]);
}

static bool read_one(keel_str_t item, replay_limits_t *out) {
    const char *equals = memchr(item.data, '=', item.size);
    double percent;
    if (!equals) {
        if (!read_percent(item, &percent)) return false;
        for (int i = 0; i < REPLAY_MEASURE_COUNT; ++i)
            if (measures[i].limit >= 0) out->percent[i] = percent;
        return true;
    }
    size_t size = (size_t)(equals - item.data);
    for (int i = 0; i < REPLAY_MEASURE_COUNT; ++i)
        if (keel_str_is((keel_str_t){item.data, size}, replay_measure_words[i]))
            return read_percent((keel_str_t){equals + 1, item.size - size - 1}, &out->percent[i]);
    return false;
}

bool replay_limits_read(const char *text, replay_limits_t *out) {
    for (int i = 0; i < REPLAY_MEASURE_COUNT; ++i)
        out->percent[i] = measures[i].limit;
    for (const char *at = text; text;) {
        size_t size = strcspn(at, ",");
        if (!read_one((keel_str_t){at, size}, out)) return false;
        if (!at[size]) break;
        at += size + 1;
    }
    return true;
}

void replay_limits_settle(replay_t *replay) {
    char host[256] = "";
    gethostname(host, sizeof host);
    if (!replay->before.plugin && strcmp(host, replay->run.host) != 0)
        replay->limits.percent[REPLAY_TIME] = -1;
}

// ---- figures -----------------------------------------------------------------------------------

void replay_figure(replay_figures_t *figures, replay_measure_t measure, double value) {
    figures->is_known[measure] = true;
    figures->value[measure] = value;
}

bool replay_grew(const replay_limits_t *limits, const replay_figures_t *before,
                 const replay_figures_t *after, replay_measure_t measure) {
    if (limits->percent[measure] < 0 || !before->is_known[measure] || !after->is_known[measure])
        return false;
    double old = before->value[measure], more = after->value[measure] - old;
    return more >= measures[measure].least && more * 100 > old * limits->percent[measure];
}

static bool has_any(const replay_figures_t *figures) {
    for (int i = 0; i < REPLAY_MEASURE_COUNT; ++i)
        if (figures->is_known[i]) return true;
    return false;
}

const replay_figures_t *replay_base(const replay_program_t *program) {
    const replay_figures_t *before = &program->figures[REPLAY_BEFORE];
    return has_any(before) ? before : &program->figures[REPLAY_RUN_OWN];
}

bool replay_program_grew(const replay_t *replay, const replay_program_t *program) {
    for (int i = 0; i < REPLAY_MEASURE_COUNT; ++i)
        if (replay_grew(&replay->limits, replay_base(program), &program->figures[REPLAY_AFTER],
                        (replay_measure_t)i))
            return true;
    return false;
}

bool replay_is_different(const replay_t *replay, const replay_program_t *program) {
    return program->results == REPLAY_DIFFERENT &&
           !(program->difference.relative <= replay->tolerance);
}

bool replay_recompiles(const replay_program_t *program) {
    return program->is_keyed && program->has_key &&
           !keel_digest_equal(&program->key.digest, &program->recorded_key);
}

// ---- the sum -----------------------------------------------------------------------------------

static void add_both(const replay_program_t *program, replay_sum_t *out) {
    const replay_figures_t *before = replay_base(program), *after = &program->figures[REPLAY_AFTER];
    for (int i = 0; i < REPLAY_MEASURE_COUNT; ++i) {
        if (!before->is_known[i] || !after->is_known[i]) continue;
        out->before.is_known[i] = out->after.is_known[i] = true;
        out->before.value[i] += before->value[i];
        out->after.value[i] += after->value[i];
    }
}

void replay_sum(const replay_t *replay, replay_sum_t *out) {
    *out = (replay_sum_t){0};
    for (size_t i = 0; i < replay->count; ++i) {
        const replay_program_t *program = replay->programs[i];
        bool is_compiled = program->outcome == REPLAY_COMPILED;
        bool is_different = program->results == REPLAY_DIFFERENT;
        out->left_out += program->outcome == REPLAY_LEFT_OUT;
        out->failed += program->outcome == REPLAY_FAILED;
        out->grew += replay_program_grew(replay, program);
        out->equal += program->results == REPLAY_EQUAL;
        out->different += replay_is_different(replay, program);
        out->within += is_different && !replay_is_different(replay, program);
        out->not_run += is_compiled && program->results == REPLAY_NOT_RUN;
        out->keyed += program->is_keyed && program->has_key;
        out->recompile += replay_recompiles(program);
        if (is_compiled) add_both(program, out);
    }
    for (int i = 0; i < REPLAY_MEASURE_COUNT; ++i)
        out->total_grew |=
            replay_grew(&replay->limits, &out->before, &out->after, (replay_measure_t)i);
}

// Another plugin always means other keys.
static bool is_same_plugin(const replay_t *replay) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(&replay->after.build, hex);
    return strcmp(hex, replay->recorded_build) == 0;
}

int replay_verdict(const replay_t *replay, const replay_sum_t *sum) {
    bool is_no = sum->failed || sum->grew || sum->total_grew || sum->different ||
                 (sum->recompile && is_same_plugin(replay));
    return is_no ? CLI_NO : CLI_OK;
}
