// depends: which lines of a Python source a line may depend on, found by the names that it reads.
// Not an interpreter: it follows names, whatever they hold, within one file, and from file to file
// by imports.
//
// A line depends on the headers of the blocks around it, and on assignments to the names that it
// reads, at the top of the file or in a function that is on the stack. A function that it names may
// have run: what that returns counts too. So does what a class does to make an object.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_DEPENDS_H_
#define KEEL_EXPLAIN_DEPENDS_H_

#include "program/program.h"
#include "pysource/pysource.h"

typedef struct keel_depends_statement_t keel_depends_statement_t;
typedef struct keel_depends_word_t keel_depends_word_t;

typedef struct keel_depends_line_t {
    uint32_t size; // of its code: without a comment, and without blanks at its end
    bool is_code;  // false if it is empty, or a part of a text that stands alone (a docstring)
} keel_depends_line_t;

typedef struct keel_depends_t {
    keel_py_tree_t tree;
    keel_depends_line_t *lines; // the first one at 0
    uint32_t line_count;
    keel_depends_statement_t *statements;
    uint32_t count;
    keel_depends_word_t *words;
    uint32_t word_count;
    uint8_t *names; // by name: how it is read, and whether a module has it
    uint32_t name_count;
    keel_map_t known; // text -> name
    uint64_t budget;  // visits of a statement that are left
    bool has_calls;   // of the functions on the stack, the calls are on it too
} keel_depends_t;

// One name that a file has from another: `import a.b as name`, `from ..a import taken as name`.
typedef struct keel_import_t {
    keel_str_t module; // "a.b"; "" after `from . import`
    keel_str_t taken;  // of the module; "" if it is imported itself
    uint32_t level;    // dots before the module
    uint32_t name;     // of the file that imports it
    bool is_star;      // all names
} keel_import_t;

// The text is borrowed; most of the rest is in `arena`. Deinitialize it even on failure.
keel_status_t keel_depends_parse(keel_depends_t *reads, keel_str_t text,
                                 keel_arena_t *arena) KEEL_MUST_CHECK;
void keel_depends_deinitialize(keel_depends_t *reads);

// Forgets what was started and found. `has_calls`: the stack has more than one frame.
void keel_depends_reset(keel_depends_t *reads, bool has_calls);
// Another file has functions and classes whose calls matter. True if that is new here.
bool keel_depends_start_calls(keel_depends_t *reads, const keel_depends_t *other);
// The function around a line was traced: its name alone does not lead into it.
void keel_depends_exclude(keel_depends_t *reads, uint32_t line);
// A line on the stack. If the frame has columns, only the names within them are read.
void keel_depends_start(keel_depends_t *reads, const keel_frame_t *frame);
// True if the file may read what it imports so.
bool keel_depends_reads(const keel_depends_t *reads, const keel_import_t *import);
// Another file takes names of this module. True if that added one to what is read here.
bool keel_depends_start_import(keel_depends_t *reads, const keel_depends_t *other,
                               const keel_import_t *import);
// Another file reads attributes of something that comes from here; `is_module`: also of the module
// itself. True if that added a name to what is read here.
bool keel_depends_start_attributes(keel_depends_t *reads, const keel_depends_t *other,
                                   bool is_module);
// Finds what the lines on the stack depend on.
void keel_depends_follow(keel_depends_t *reads);
bool keel_depends_has(const keel_depends_t *reads, uint32_t line);
// What a line belongs to: its function or class, or at the top of the file the name that it
// assigns; "".
keel_str_t keel_depends_owner(const keel_depends_t *reads, uint32_t line, bool *out_is_function);

#endif // KEEL_EXPLAIN_DEPENDS_H_
