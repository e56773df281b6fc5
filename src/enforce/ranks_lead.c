#define _GNU_SOURCE
#include "enforce/ranks_core.h"

#include <stdio.h>

enum {
    SETTLED_AFTER = 300,  // milliseconds in which another thread would ask
    SHOWN_PROCESSES = 16, // in a message
};

static bool is_same(const said_t *a, const said_t *b) {
    if (a->goes || b->goes) return a->goes && b->goes;
    return strcmp(a->fingerprint, b->fingerprint) == 0 && strcmp(a->options, b->options) == 0;
}

static size_t alike(const meeting_t *meeting, size_t which) {
    size_t sum = 0;
    for (size_t i = 0; i < meeting->ask->member_count; ++i)
        sum += is_same(&meeting->said[i], &meeting->said[which]);
    return sum;
}

// The program that most ask for; of two, that of the lowest process.
static size_t find_usual(const meeting_t *meeting) {
    size_t best = 0, most = 0;
    for (size_t i = 0; i < meeting->ask->member_count && most <= meeting->ask->member_count / 2;
         ++i) {
        size_t count = alike(meeting, i);
        if (count <= most) continue;
        most = count;
        best = i;
    }
    return best;
}

static size_t find_other(const meeting_t *meeting, size_t usual) {
    size_t other = 0;
    while (other < meeting->ask->member_count &&
           is_same(&meeting->said[other], &meeting->said[usual]))
        ++other;
    return other;
}

// "process 3", "processes 0, 1 and 2": those whose program is that one's.
static void list(const meeting_t *meeting, size_t which, keel_buffer_t *out) {
    size_t sum = alike(meeting, which), told = 0;
    keel_buffer_text(out, sum == 1 ? "process " : "processes ");
    for (size_t i = 0; i < meeting->ask->member_count; ++i) {
        if (!is_same(&meeting->said[i], &meeting->said[which])) continue;
        if (told == SHOWN_PROCESSES) {
            keel_buffer_format(out, " and %zu more", sum - told);
            return;
        }
        bool is_last = told + 1 == sum;
        keel_buffer_text(out, !told ? "" : is_last ? " and " : ", ");
        keel_buffer_format(out, "%u", meeting->ask->members[i]);
        ++told;
    }
}

static void describe(const meeting_t *meeting, size_t usual, size_t other, keel_buffer_t *out) {
    list(meeting, other, out);
    keel_buffer_text(out, alike(meeting, other) == 1 ? " asks" : " ask");
    keel_buffer_format(out, " for a different %s than ", meeting->said[usual].name);
    list(meeting, usual, out);
    keel_buffer_text(out, "; executed together, they would wait for each other forever");
    if (strcmp(meeting->said[usual].digest, meeting->said[other].digest) == 0)
        keel_buffer_text(out, "\n  the compile options or flags differ");
}

// Two threads that ask at about the same time may have asked in a different order here than
// elsewhere: then the second one is about to turn its process off.
static bool is_off_soon(const meeting_t *meeting, const uint32_t processes[2]) {
    uint64_t until = keel_clock_monotonic() + SETTLED_AFTER * 1000000ull;
    ranks_t *ranks = meeting->ranks;
    bool finds = false;
    while (!finds && !atomic_load(&ranks->is_off) && keel_clock_monotonic() < until) {
        for (int i = 0; i < 2 && !finds; ++i) {
            char key[KEEL_MEET_KEY];
            keel_buffer_t text;
            if (processes[i] == meeting->ask->process) continue;
            keel_buffer_initialize(&text, 0);
            ranks_name_ask(meeting->group, meeting->number + 1, processes[i], key);
            keel_status_t status =
                letters_get(&ranks->letters, processes[i], key,
                            keel_clock_monotonic() + SETTLED_AFTER * 250000ull, &text);
            finds = !status && ranks_after(keel_buffer_cstr(&text), "off ");
            keel_status_ignore(status);
            keel_buffer_deinitialize(&text);
        }
    }
    return finds || atomic_load(&ranks->is_off);
}

// Adds what differs between the two, and says it.
static void explain(const meeting_t *meeting, const size_t pair[2], keel_buffer_t *text) {
    ranks_t *ranks = meeting->ranks;
    char keys[2][KEEL_MEET_KEY];
    differ_side_t sides[2];
    for (int i = 0; i < 2; ++i) {
        sides[i] = ranks_side_of(meeting, meeting->ask->members[pair[i]], keys[i]);
        memcpy(sides[i].digest, meeting->said[pair[i]].digest, sizeof sides[i].digest);
    }
    bool is_program = strcmp(sides[0].digest, sides[1].digest) != 0;
    if (is_program && ranks->folder)
        differ_explain(&ranks->letters, ranks_run_dir(ranks), ranks->folder, sides, text);
    keel_status_t status = keel_buffer_status(text);
    if (!status) status = ranks_say(meeting, "why", keel_buffer_cstr(text));
    keel_status_ignore(status); // the others then say less
}

// If the others cannot know of it, this process does not stop alone.
static keel_status_t disagree(const meeting_t *meeting, const size_t pair[2]) {
    const uint32_t processes[2] = {meeting->ask->members[pair[0]], meeting->ask->members[pair[1]]};
    keel_buffer_t text;
    if (is_off_soon(meeting, processes)) {
        ranks_turn_off(meeting->ranks, RANKS_SECOND_THREAD);
        ranks_say_off(meeting);
        return NULL;
    }
    keel_buffer_initialize(&text, 1 << 14);
    describe(meeting, pair[0], pair[1], &text);
    keel_status_t status = ranks_say_difference(meeting, processes, &text);
    if (status) {
        ranks_turn_off_for(meeting->ranks, status);
        ranks_say_off(meeting);
        status = NULL;
    } else {
        explain(meeting, pair, &text);
        status = ranks_refusal(&text);
    }
    keel_buffer_deinitialize(&text);
    return status;
}

// Of those that were gathered.
static keel_status_t part_gathered(const meeting_t *meeting, size_t going) {
    size_t asking = 0;
    while (meeting->said[asking].goes)
        ++asking;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 12);
    list(meeting, going, &text);
    keel_buffer_text(&text, alike(meeting, going) == 1 ? ", which goes on" : ", which go on");
    keel_status_t status = ranks_part(meeting, meeting->ask->members[asking],
                                      &meeting->said[asking], keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
    return status;
}

// False if the process is off, or does not come.
static bool gather(const meeting_t *meeting, size_t which) {
    const ranks_ask_t *ask = meeting->ask;
    char key[KEEL_MEET_KEY];
    keel_buffer_t letter;
    keel_buffer_initialize(&letter, 1 << 12);
    ranks_name_ask(meeting->group, meeting->number, ask->members[which], key);
    bool came = ranks_await(meeting, ask->members[which], key, &letter);
    const char *text = keel_buffer_cstr(&letter), *why = ranks_after(text, "off ");
    if (came && !ranks_read_said(text, &meeting->said[which])) {
        ranks_turn_off(meeting->ranks,
                       why ? why : "a process writes what this version cannot read");
        came = false;
    }
    keel_buffer_deinitialize(&letter);
    return came;
}

keel_status_t ranks_lead(const meeting_t *meeting) {
    const ranks_ask_t *ask = meeting->ask;
    for (size_t i = 0; i < ask->member_count; ++i) {
        if (gather(meeting, i)) continue;
        ranks_say_off(meeting);
        return NULL;
    }
    for (size_t i = 0; i < ask->member_count; ++i)
        if (meeting->said[i].goes) return part_gathered(meeting, i);
    size_t usual = find_usual(meeting);
    const size_t pair[2] = {usual, find_other(meeting, usual)};
    if (pair[1] < ask->member_count) return disagree(meeting, pair);
    keel_status_t status = ranks_say(meeting, "said", "same");
    if (!status) return NULL;
    ranks_turn_off_for(meeting->ranks, status);
    ranks_say_off(meeting);
    return NULL;
}
