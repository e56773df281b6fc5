// A process that has executables for all its programs asks for none, while another one waits for it
// to ask. The first process of the group stops both, as soon as one of them has said that it goes
// on.
#define _GNU_SOURCE
#include "enforce/ranks_core.h"

#include <stdio.h>
#include <unistd.h>

void ranks_stop_for_good(ranks_t *ranks, const char *message) {
    char *copy;
    keel_status_t status = keel_strdup(keel_str(message), &copy);
    keel_status_ignore(status);
    if (status) return;
    pthread_mutex_lock(&ranks->state);
    bool is_first = !ranks->stopped;
    if (is_first) ranks->stopped = copy;
    pthread_mutex_unlock(&ranks->state);
    if (!is_first) keel_free(copy);
}

static keel_status_t check_stopped(ranks_t *ranks) {
    pthread_mutex_lock(&ranks->state);
    keel_status_t status =
        ranks->stopped ? keel_status_make(KEEL_REFUSED, "%s", ranks->stopped) : NULL;
    pthread_mutex_unlock(&ranks->state);
    return status;
}

// The last program of that name on which the group agreed.
static bool find_agreed(ranks_t *ranks, const group_t *group, const char *name,
                        differ_side_t *out) {
    *out = (differ_side_t){.is_kept = true};
    pthread_mutex_lock(&ranks->state);
    size_t i = group->program_count;
    while (i && strcmp(group->programs[i - 1].name, name) != 0)
        --i;
    if (i) keel_digest_hex(&group->programs[i - 1].digest, out->digest);
    pthread_mutex_unlock(&ranks->state);
    return i;
}

keel_status_t ranks_part(const meeting_t *meeting, uint32_t asking, const said_t *said,
                         const char *going) {
    const uint32_t processes[2] = {asking, asking};
    ranks_t *ranks = meeting->ranks;
    differ_side_t sides[2];
    char key[KEEL_MEET_KEY];
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 14);
    keel_buffer_format(
        &text,
        "process %u asks for a different %s than %s without a new program; executed together, "
        "they would wait for each other forever",
        asking, said->name, going);
    keel_status_t status = ranks_say_difference(meeting, processes, &text);
    if (status) {
        ranks_turn_off_for(ranks, status);
        ranks_say_off(meeting);
        keel_buffer_deinitialize(&text);
        return NULL;
    }
    sides[1] = ranks_side_of(meeting, asking, key);
    memcpy(sides[1].digest, said->digest, sizeof sides[1].digest);
    if (ranks->folder && find_agreed(ranks, meeting->group, said->name, &sides[0]))
        differ_explain(&ranks->letters, ranks_run_dir(ranks), ranks->folder, sides, &text);
    if (!text.failed) keel_status_ignore(ranks_say(meeting, "why", keel_buffer_cstr(&text)));
    status = ranks_refusal(&text);
    ranks_stop_for_good(ranks, keel_status_message(status));
    keel_buffer_deinitialize(&text);
    return status;
}

// Takes this process's next number, if it is this one: it does not ask then.
static bool take_this_number(ranks_t *ranks, group_t *group, uint64_t number) {
    pthread_mutex_lock(&ranks->state);
    bool is_next = !atomic_load(&ranks->is_off) && group->asked + 1 == number;
    if (is_next) group->asked = group->gone = number;
    pthread_mutex_unlock(&ranks->state);
    return is_next;
}

static keel_status_t peek(const ranks_t *ranks, const char *key, char *out, size_t size) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 16);
    keel_status_t status = letters_peek(&ranks->letters, key, &text);
    snprintf(out, size, "%s", keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
    return status;
}

// Another process waits for this one, which has gone on.
static void go_on(ranks_t *ranks, group_t *group, uint64_t number, uint32_t asking) {
    char key[KEEL_MEET_KEY], letter[1024], going[64];
    const ranks_ask_t none = {.name = "", .process = ranks->process};
    const meeting_t meeting = {.ranks = ranks, .ask = &none, .group = group, .number = number};
    said_t said = {.goes = false};
    if (!take_this_number(ranks, group, number)) return;
    ranks_name_own(ranks, group, number, key);
    if (!group->is_first) {
        keel_status_ignore(ranks_put_text(ranks, key, "goes"));
        return;
    }
    ranks_name_ask(group, number, asking, key);
    keel_status_t status = peek(ranks, key, letter, sizeof letter);
    bool is_read = !status && ranks_read_said(letter, &said) && !said.goes;
    keel_status_ignore(status);
    if (!is_read) {
        ranks_turn_off(ranks, "a process waits and does not say for what");
        ranks_say_off(&meeting);
        return;
    }
    snprintf(going, sizeof going, "process %u, which goes on", ranks->process);
    pthread_mutex_lock(&ranks->lock);
    status = ranks_part(&meeting, asking, &said, going);
    pthread_mutex_unlock(&ranks->lock);
    keel_status_ignore(status);
}

// The message, once the first process has put it.
static void look_for_why(ranks_t *ranks, const group_t *group) {
    char key[KEEL_MEET_KEY], message[4096];
    ranks_name_letter(group, group->gone, "why", key);
    keel_status_t status = peek(ranks, key, message, sizeof message);
    if (!status && *message) ranks_stop_for_good(ranks, message);
    keel_status_ignore(status);
}

keel_status_t ranks_check_stopped(ranks_t *ranks, const group_t *group) {
    uint64_t until = keel_clock_monotonic() + (DIFFER_WITHIN + 1) * 1000000000ull;
    pthread_mutex_lock(&ranks->state);
    bool has_gone = group->gone;
    pthread_mutex_unlock(&ranks->state);
    keel_status_t stopped = check_stopped(ranks);
    while (has_gone && !stopped && keel_clock_monotonic() < until) {
        usleep(20000);
        look_for_why(ranks, group);
        stopped = check_stopped(ranks);
    }
    if (!has_gone || stopped) return stopped;
    ranks_stop_for_good(ranks, "another process waits for a program that this one does not have");
    return check_stopped(ranks);
}

static bool look_at(ranks_t *ranks, group_t *group) {
    char key[KEEL_MEET_KEY], text[NAME_MOST + 64];
    unsigned process;
    unsigned long long executions;
    pthread_mutex_lock(&ranks->state);
    uint64_t next = group->asked + 1, gone = group->gone;
    pthread_mutex_unlock(&ranks->state);
    if (gone) {
        look_for_why(ranks, group);
        return true;
    }
    ranks_name_letter(group, next, "waits", key);
    keel_status_t status = peek(ranks, key, text, sizeof text);
    bool is_absent = keel_status_code(status) == KEEL_NOT_FOUND;
    keel_status_ignore(status);
    if (status) return is_absent;
    uint64_t own = ranks_position(ranks, group);
    if (sscanf(text, "waits %u %llu", &process, &executions) == 2 && own > executions &&
        own != UINT64_MAX)
        go_on(ranks, group, next, process);
    return true;
}

bool ranks_look(void *context) {
    ranks_t *ranks = context;
    bool has_gone = false;
    pthread_mutex_lock(&ranks->state);
    bool goes_on = !atomic_load(&ranks->is_off);
    group_t *group = ranks->groups;
    pthread_mutex_unlock(&ranks->state);
    for (; group && goes_on; group = group->next) {
        goes_on = look_at(ranks, group);
        has_gone = has_gone || group->gone;
    }
    keel_status_t stopped = check_stopped(ranks);
    if (!stopped) return goes_on;
    // The client of the process that asked has it as an error.
    if (has_gone) keel_log_line("%s", keel_status_message(stopped));
    keel_status_ignore(stopped);
    return false;
}
