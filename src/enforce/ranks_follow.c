#define _GNU_SOURCE
#include "enforce/ranks_core.h"

#include <stdio.h>

static keel_status_t stop(const meeting_t *meeting, const char *said) {
    unsigned processes[2] = {0};
    char key[KEEL_MEET_KEY];
    ranks_t *ranks = meeting->ranks;
    const char *line = strchr(said, '\n');
    uint64_t until = keel_clock_monotonic() + (DIFFER_WITHIN + 1) * 1000000000ull;
    keel_status_t status = NULL;
    bool is_read = line && sscanf(said, "%u %u", &processes[0], &processes[1]) == 2;
    uint32_t own = meeting->ask->process;
    if (is_read && (own == processes[0] || own == processes[1])) {
        differ_side_t side = ranks_side_of(meeting, own, key);
        status = differ_give(&ranks->letters, &side);
    }
    keel_status_ignore(status);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 15);
    ranks_name_letter(meeting->group, meeting->number, "why", key);
    status = letters_get(&ranks->letters, meeting->ask->members[0], key, until, &text);
    if (status && line) keel_buffer_text(&text, line + 1);
    keel_status_ignore(status);
    status = ranks_refusal(&text);
    if (is_read && processes[0] == processes[1])
        ranks_stop_for_good(ranks, keel_status_message(status));
    keel_buffer_deinitialize(&text);
    return status;
}

keel_status_t ranks_follow(const meeting_t *meeting) {
    char key[KEEL_MEET_KEY];
    keel_status_t status = NULL;
    keel_buffer_t letter;
    keel_buffer_initialize(&letter, 1 << 16);
    ranks_name_letter(meeting->group, meeting->number, "said", key);
    if (ranks_await(meeting, meeting->ask->members[0], key, &letter)) {
        const char *text = keel_buffer_cstr(&letter);
        const char *why = ranks_after(text, "off "), *differs = ranks_after(text, "differ ");
        if (differs)
            status = stop(meeting, differs);
        else if (strcmp(text, "same") != 0)
            ranks_turn_off(meeting->ranks,
                           why ? why : "a process writes what this version cannot read");
    }
    keel_buffer_deinitialize(&letter);
    return status;
}
