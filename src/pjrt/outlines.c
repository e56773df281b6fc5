#include "pjrt/outlines.h"

#include <stddef.h>

static _Thread_local struct {
    unsigned asked, made;
    const PJRT_Executable *taken; // since the last of the makings began
} marks;

// What runs inside of a making, such as a callback while the compiler runs, is before the
// executable is taken. So whatever is taken when one begins or ends is another one.
void keel_outlines_mark(keel_outlines_t kind, bool begins) {
    unsigned *mark = kind == KEEL_OUTLINES_MADE ? &marks.made : &marks.asked;
    if (begins)
        ++*mark;
    else if (*mark)
        --*mark;
    if (kind == KEEL_OUTLINES_MADE) marks.taken = NULL;
}

void keel_outlines_taken(const PJRT_Executable *executable) {
    if (marks.made) marks.taken = executable;
}

bool keel_outlines_suffice(const PJRT_Executable *executable) {
    return marks.asked || (marks.made && marks.taken == executable);
}
