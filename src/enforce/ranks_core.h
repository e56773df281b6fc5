// ranks_core: what the files of the ranks share (ranks.h). From the top:
//
//   ranks.c         its life, its place, the way of one program
//   ranks_lead.c    the first process of a group: gathers, compares, says the verdict
//   ranks_follow.c  the others
//   ranks_part.c    processes that ask for nothing while others wait for them
//   ranks_say.c     verdicts and messages
//   ranks_await.c   what each says of its program; waiting for others
//   ranks_off.c     comparing no more; the names of letters
#ifndef KEEL_ENFORCE_RANKS_CORE_H_
#define KEEL_ENFORCE_RANKS_CORE_H_

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "enforce/differ.h"
#include "enforce/ranks.h"
#include "enforce/watch.h"

#define RANKS_SECOND_THREAD "several threads of a process ask for programs"

enum {
    NAME_MOST = 256, // bytes of a module's name
    WHY_MOST = 700,  // bytes of a reason
};

// A program that a group agreed on.
typedef struct agreed_t {
    keel_digest_t digest;
    char name[NAME_MOST];
} agreed_t;

// The processes that execute a program together.
typedef struct group_t {
    struct group_t *next;
    char name[17];
    uint64_t asked; // programs so far
    bool knows_off; // the others of the group know that this process does not compare any more
    bool is_first;  // this process leads it
    uint64_t gone;  // the number at which this process said that it goes on; 0: it did not
    agreed_t *programs;
    size_t program_count, program_capacity;
} group_t;

struct ranks_t {
    const keel_settings_t *settings; // borrowed
    ranks_executions_t executions;
    pid_t pid;
    char *folder;
    watch_t watch;
    atomic_bool is_asked; // a thread asks
    pthread_mutex_t lock; // held while a program is compared, for the letters
    pthread_t thread;     // that asked for the first one
    bool has_thread;
    letters_t letters; // without a meeting place until the first program
    keel_meet_t *service, *other;
    pthread_mutex_t clients;
    const PJRT_Client *client; // whose service it is; under `clients`
    pthread_mutex_t state;     // for what follows
    group_t *groups;
    keel_map_t agreed;  // programs, with their group
    keel_map_t counted; // their digests
    bool is_ambiguous;  // two groups have the same one, so nobody knows who executed it
    char *stopped;      // the message with which all stop for good
    uint32_t process;
    bool is_open, is_broken; // the meeting place: not even that this process is off can be put
    atomic_bool is_off;
    char why[WHY_MOST]; // it is off
};

// What a process says of its n-th program.
typedef struct said_t {
    char fingerprint[KEEL_FINGERPRINT_HEX], options[KEEL_FINGERPRINT_HEX];
    char digest[KEEL_DIGEST_HEX];
    char name[NAME_MOST];
    bool goes; // it asks for none
} said_t;

// One comparison.
typedef struct meeting_t {
    ranks_t *ranks;
    const ranks_ask_t *ask;
    group_t *group;
    uint64_t number;
    said_t *said; // by each member
} meeting_t;

// ---- ranks_off.c -------------------------------------------------------------------------------

void ranks_name_letter(const group_t *group, uint64_t number, const char *what,
                       char out[KEEL_MEET_KEY]);
void ranks_name_ask(const group_t *group, uint64_t number, uint32_t process,
                    char out[KEEL_MEET_KEY]);
// What the others of the group wait for.
void ranks_name_own(const ranks_t *ranks, const group_t *group, uint64_t number,
                    char out[KEEL_MEET_KEY]);
keel_status_t ranks_put_text(const ranks_t *ranks, const char *key, const char *text);

// This process does not compare any more: says so here and to the others.
void ranks_turn_off(ranks_t *ranks, const char *why);
// Takes the status.
void ranks_turn_off_for(ranks_t *ranks, keel_status_t status);
// The others of the group do not wait for this process any more: instead of its next program they
// find that it is off.
void ranks_tell_off(ranks_t *ranks, group_t *group);
// In the place of what the others wait for.
void ranks_put_off(ranks_t *ranks, const char *key);

// ---- ranks_await.c -----------------------------------------------------------------------------

keel_status_t ranks_put_ask(const meeting_t *meeting);
// False if it is something else.
bool ranks_read_said(const char *letter, said_t *out);
// The rest of a letter that begins so.
const char *ranks_after(const char *letter, const char *word);
// Waits for a letter of that process. False if there will be none: then this process is off.
bool ranks_await(const meeting_t *meeting, uint32_t process, const char *key, keel_buffer_t *out);
// How many executions of the programs that the group agreed on this process has begun.
uint64_t ranks_position(ranks_t *ranks, const group_t *group);

// ---- ranks_say.c -------------------------------------------------------------------------------

keel_status_t ranks_say(const meeting_t *meeting, const char *what, const char *text);
// Instead of a verdict; this process is off.
void ranks_say_off(const meeting_t *meeting);
keel_status_t ranks_say_difference(const meeting_t *meeting, const uint32_t processes[2],
                                   const keel_buffer_t *text);
// The error that the client gets.
keel_status_t ranks_refusal(const keel_buffer_t *message);
// A program as `process` has it, with the key of its letters.
differ_side_t ranks_side_of(const meeting_t *meeting, uint32_t process, char key[KEEL_MEET_KEY]);
const char *ranks_run_dir(const ranks_t *ranks);

// ---- ranks_lead.c, ranks_follow.c --------------------------------------------------------------

// NULL or the refusal, of a comparison in which this process has put its program.
keel_status_t ranks_lead(const meeting_t *meeting);
keel_status_t ranks_follow(const meeting_t *meeting);

// ---- ranks_part.c ------------------------------------------------------------------------------

// One process asks for a program, `going` go on without. Under the lock.
keel_status_t ranks_part(const meeting_t *meeting, uint32_t asking, const said_t *said,
                         const char *going);
// From now on nothing passes.
void ranks_stop_for_good(ranks_t *ranks, const char *message);
// NULL until then. If this process has said that it goes on, waits for the message.
keel_status_t ranks_check_stopped(ranks_t *ranks, const group_t *group);
// What the watch does; false: there is nothing to look for any more.
bool ranks_look(void *context);

#endif // KEEL_ENFORCE_RANKS_CORE_H_
