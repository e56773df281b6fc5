#define _GNU_SOURCE
#include "enforce/ranks_core.h"

#include <stdio.h>

enum {
    LOOK_FOR = 500,  // milliseconds between looks at what else happened
    WAITS_AFTER = 1, // seconds of waiting
    TELL_AFTER = 10, // likewise
};

// Whoever is waited for will not come; says so.
static bool is_vain(const meeting_t *meeting, uint32_t process, uint64_t waited) {
    const uint64_t come = keel_limit(KEEL_LIMIT_AGREE_COME) / 1000,
                   most = keel_limit(KEEL_LIMIT_AGREE_WAIT) / 1000;
    ranks_t *ranks = meeting->ranks;
    const char *shown = ranks->letters.meet->shown;
    char why[WHY_MOST];
    bool has_come = letters_has_come(&ranks->letters, process);
    if (ranks->letters.has_twins)
        snprintf(why, sizeof why,
                 "two processes that run are process %u in %s: another job is there under the same "
                 "name",
                 process, shown);
    else if (letters_is_gone(&ranks->letters, process))
        snprintf(why, sizeof why, "process %u has ended", process);
    else if (!has_come && waited >= come && !ranks->letters.meet->is_for_all)
        snprintf(why, sizeof why,
                 "process %u has not come to %s within %u seconds: it has ended or meets elsewhere",
                 process, shown, (unsigned)come);
    else if (waited >= most)
        snprintf(why, sizeof why, "process %u has not asked for %s within %u minutes", process,
                 meeting->ask->name, (unsigned)(most / 60));
    else
        return false;
    ranks_turn_off(ranks, why);
    return true;
}

uint64_t ranks_position(ranks_t *ranks, const group_t *group) {
    uint64_t sum = 0;
    pthread_mutex_lock(&ranks->state);
    for (size_t i = 0; i < group->program_count; ++i)
        sum += ranks->executions.count(ranks->executions.context, &group->programs[i].digest);
    if (ranks->is_ambiguous) sum = UINT64_MAX;
    pthread_mutex_unlock(&ranks->state);
    return sum;
}

// For those that ask for nothing.
static void put_waiting(const meeting_t *meeting) {
    char key[KEEL_MEET_KEY], text[64];
    snprintf(text, sizeof text, "waits %u %llu", meeting->ask->process,
             (unsigned long long)ranks_position(meeting->ranks, meeting->group));
    ranks_name_letter(meeting->group, meeting->number, "waits", key);
    keel_status_ignore(ranks_put_text(meeting->ranks, key, text)); // another one may have
}

static void tell_waiting(const meeting_t *meeting, uint32_t process) {
    if (meeting->group->is_first)
        keel_log_line("process %u waits for process %u, which has not asked for %s yet",
                      meeting->ask->process, process, meeting->ask->name);
    else
        keel_log_line("process %u waits for the others, which have not all asked for %s yet",
                      meeting->ask->process, meeting->ask->name);
}

bool ranks_await(const meeting_t *meeting, uint32_t process, const char *key, keel_buffer_t *out) {
    ranks_t *ranks = meeting->ranks;
    uint64_t began = keel_clock_monotonic();
    bool has_told = false, has_put = false;
    while (!atomic_load(&ranks->is_off)) {
        uint64_t until = keel_clock_monotonic() + LOOK_FOR * 1000000ull;
        keel_status_t status = letters_get(&ranks->letters, process, key, until, out);
        if (!status) return true;
        if (keel_status_code(status) != KEEL_NOT_FOUND) {
            ranks_turn_off_for(ranks, status);
            return false;
        }
        keel_status_ignore(status);
        uint64_t waited = (keel_clock_monotonic() - began) / 1000000000ull;
        if (is_vain(meeting, process, waited)) return false;
        if (waited >= WAITS_AFTER && !has_put) {
            put_waiting(meeting);
            has_put = true;
        }
        if (waited >= TELL_AFTER && !has_told) {
            tell_waiting(meeting, process);
            has_told = true;
        }
    }
    return false;
}

const char *ranks_after(const char *letter, const char *word) {
    size_t size = strlen(word);
    return strncmp(letter, word, size) == 0 ? letter + size : NULL;
}

bool ranks_read_said(const char *letter, said_t *out) {
    out->goes = strcmp(letter, "goes") == 0;
    return out->goes || sscanf(letter, "ask %32s %32s %64s %255s", out->fingerprint, out->options,
                               out->digest, out->name) == 4;
}

keel_status_t ranks_put_ask(const meeting_t *meeting) {
    const ranks_ask_t *ask = meeting->ask;
    char key[KEEL_MEET_KEY], digest[KEEL_DIGEST_HEX], text[512];
    keel_digest_hex(&ask->digest, digest);
    snprintf(text, sizeof text, "ask %s %s %s %.255s", ask->fingerprint, ask->options, digest,
             *ask->name ? ask->name : "program");
    ranks_name_ask(meeting->group, meeting->number, ask->process, key);
    return ranks_put_text(meeting->ranks, key, text);
}
