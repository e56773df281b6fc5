#define _GNU_SOURCE
#include "enforce/ranks_core.h"

keel_status_t ranks_refusal(const keel_buffer_t *message) {
    return message->failed || !message->size
               ? keel_status_make(KEEL_REFUSED, "the processes ask for different programs")
               : keel_status_make(KEEL_REFUSED, "%s", keel_buffer_cstr(message));
}

differ_side_t ranks_side_of(const meeting_t *meeting, uint32_t process, char key[KEEL_MEET_KEY]) {
    differ_side_t side = {.process = process, .key = key};
    ranks_name_ask(meeting->group, meeting->number, process, key);
    if (process != meeting->ask->process) return side;
    side.code = meeting->ask->code;
    keel_digest_hex(&meeting->ask->digest, side.digest);
    return side;
}

keel_status_t ranks_say(const meeting_t *meeting, const char *what, const char *text) {
    char key[KEEL_MEET_KEY];
    ranks_name_letter(meeting->group, meeting->number, what, key);
    return ranks_put_text(meeting->ranks, key, text);
}

void ranks_say_off(const meeting_t *meeting) {
    char key[KEEL_MEET_KEY];
    ranks_name_letter(meeting->group, meeting->number, "said", key);
    ranks_put_off(meeting->ranks, key);
}

keel_status_t ranks_say_difference(const meeting_t *meeting, const uint32_t processes[2],
                                   const keel_buffer_t *text) {
    keel_buffer_t said;
    keel_buffer_initialize(&said, 1 << 15);
    keel_buffer_format(&said, "differ %u %u\n", processes[0], processes[1]);
    keel_buffer_append(&said, text->data, text->size);
    keel_status_t status = keel_buffer_status(text);
    if (!status) status = keel_buffer_status(&said);
    if (!status) status = ranks_say(meeting, "said", keel_buffer_cstr(&said));
    keel_buffer_deinitialize(&said);
    return status;
}

const char *ranks_run_dir(const ranks_t *ranks) {
    return keel_settings_text(ranks->settings, KEEL_SETTING_RUN_DIR);
}
