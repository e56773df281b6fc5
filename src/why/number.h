// number: which lines of a Python source file work on a number that the host read. Nothing is
// executed: a number is followed by the names that lines assign and use. What a line computes from
// it and from the tensor that it was read from is a tensor, and followed no more.
//
// For the files of this room. What is bounded: how many lines are followed, and how many names.
#ifndef KEEL_WHY_NUMBER_H_
#define KEEL_WHY_NUMBER_H_

#include "why/source.h"

// Where a number came from: the line that read it or, with the name of the function that it called
// ("Net.forward"), the line that got it from there; "" if the line itself read.
typedef struct keel_number_t {
    uint32_t line;
    const char *callee;
} keel_number_t;

// True if the line `used` works on the number, and could have it where the program has `subject`
// ("slice start", "power"). For the same line: false only if another of its statements reads.
bool keel_number_reaches(const keel_source_t *source, const keel_number_t *from, uint32_t used,
                         const char *subject);
// True if the function that this line is part of returns what the line read.
bool keel_number_is_returned(const keel_source_t *source, uint32_t line, const char *function);

#endif // KEEL_WHY_NUMBER_H_
