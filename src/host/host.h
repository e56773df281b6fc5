// host: the client's own code: the script that runs, the Python stack of a thread, and the line of
// the user's source that a program comes from.
//
//   script     what a process runs, as a name                                  script.c
//   where      which files are the user's                                      where.c
//   stack      the host's call stack                                           stack.c
//   site       the user's line that asked for a program                        site.c
//   origin     which function a program is of                                  origin.c
//   closure    two functions of one origin                                     closure.c
//   lambdas    which lambda of a line an expression is in                      lambdas.c
//   names      what the user calls a program's arguments                       names.c
//   call       what else JAX compares of a call                                call.c
//   preparing  what this thread's client did before it asks                  preparing.c
//   traced     the functions of torch.compile's graphs                     traced.c
//   operation  which programs JAX makes of its own operations                  operation.c
//   gradient   which programs compute a gradient                               gradient.c
//   ending     threads that are left when the interpreter ends                 ending.c
//   python     the interpreter in this process, found at run time              python.h
//   host_ops   what PyTorch/XLA computed on the host                           host_ops.h
//
// Ownership: text lives in the arena that the caller passes. Threads: no shared state.
#ifndef KEEL_HOST_HOST_H_
#define KEEL_HOST_HOST_H_

#include "base/base.h"
#include "program/program.h"

// A place in the user's source. "" and 0 if unknown; the library's file may be NULL too.
typedef struct keel_place_t {
    const char *file;
    uint32_t line;
    const char *function;
    const char *call_file; // where the traced function was called
    uint32_t call_line;
    const char *library_file; // a library's line between it and what was traced
    uint32_t library_line;
    const char *scope; // named scopes around it, "model/block 3"; "" or NULL: none
    // The packages that count as the user's, "levanter,haliax"; and if the line is one of theirs,
    // the line of the user's own that led there. NULL: none.
    const char *application;
    const char *script_file;
    uint32_t script_line;
} keel_place_t;

// A value that was put on the device, and the line that did so.
typedef struct keel_made_t {
    const char *type; // "bf16[64,16]", as src/explain writes it
    keel_place_t place;
} keel_made_t;

// ---- script.c ----------------------------------------------------------------------------------

// Names the script: the file that the interpreter runs ("python -u train.py --lr 1" -> train.py's
// real path), "-m module", or the first word of the command. A launcher is named with what it
// launches ("torchrun train.py"), anything else that is not a file with `cwd`. The caller frees
// *out, which is a file name without a folder: "train.py-1f2e3d4c5b6a7988".
keel_status_t keel_host_script(char *const *argv, const char *cwd, char **out) KEEL_MUST_CHECK;

// ---- where.c -----------------------------------------------------------------------------------

// True if a file belongs to a library (site-packages, the interpreter's own, <frozen ...>).
bool keel_is_library_file(keel_str_t file);
// True for code that was typed in, such as a notebook cell: each edit gives it a different file
// name.
bool keel_is_cell(keel_str_t file);
// The file of an installed package without the folders above it, as people know it:
// "equinox/_jit.py".
const char *keel_library_shown(const char *file);
// The package that an installed file belongs to: ".../site-packages/flax/", or the file itself if
// it is not in a package; "<string>" is a package of its own. Empty for any other file.
keel_str_t keel_package_of(keel_str_t file);
// The name of that package, as people import it: "flax", "six". Empty for any other file.
keel_str_t keel_package_name(keel_str_t file);
// The same as keel_is_library_file, without the packages that `application` names, separated by
// commas: they count as the user's (keel_stack_t). NULL: none.
bool keel_is_foreign_file(keel_str_t file, const char *application);

// ---- stack.c -----------------------------------------------------------------------------------

typedef struct keel_stack_frame_t {
    const char *file;
    const char *function;
    uint32_t line;
} keel_stack_frame_t;

enum { KEEL_STACK_KEPT = 64 };

// The host's stack, innermost first. If user code is on it, the frames of libraries are left out
// and counted. A package is user code too if
//   - a setting names it;
//   - it was started: it is the outermost code, and has no user code outside it
//     (python -m package, the command of a package, a package's own thread);
//   - the user's code calls its `main`, which is what would have been started.
// What only starts other code, such as pytest, is no application.
typedef struct keel_stack_t {
    const keel_stack_frame_t *frames;
    uint32_t count;
    uint32_t left_out;
    const char *skipped; // why there is none; NULL if there is one
    // JAX: the function that was traced, as JAX's compiler knows it. NULL and 0 if unknown.
    const char *traced_file;
    uint32_t traced_line; // of its def
    // JAX: what loads an executable by itself: "JAX's own cache". NULL: nothing that is known.
    const char *loader;
    // JAX: the program was lowered earlier, and a separate call compiles it, maybe on another line.
    bool is_deferred;
    // The innermost line of a library that the user called, other than PyTorch, JAX and the
    // standard library, such as the place in a loop of transformers. NULL if there is none.
    const char *library_file;
    uint32_t library_line;
    const char *application; // the packages that are user code, "levanter,haliax"; NULL: none
    // The innermost line that is in no package, if an application is between it and the program.
    const char *script_file;
    uint32_t script_line;
} keel_stack_t;

// Reads the Python stack of the calling thread through the interpreter's C API, found in the
// process at run time; works for CPython 3.9 and later. `application` is what the setting names, ""
// if nothing. Text lives in `arena`. Never fails: says why it was skipped. Takes the GIL: call it
// with no lock held.
void keel_stack_read(keel_arena_t *arena, const char *application, keel_stack_t *out);
// A client in C says where its thread is: until the next call, the stack is that frame alone. NULL:
// nowhere. Text is borrowed.
void keel_stack_tell(const keel_stack_frame_t *frame);
// The frame that asked, and its caller. The stack must not be empty.
keel_place_t keel_stack_top(const keel_stack_t *stack);

// ---- names.c -----------------------------------------------------------------------------------

// A line for each name that is known. "dynamic['rest'][9]\tbatch['tokens']\n": what the user calls
// an argument, if a library calls the traced function for the user (`is_wrapped`); arguments with
// the same name in both, or without a known name, are left out. "\tparams['bias']\n": an argument
// by the client's name that was passed, and left out of the program because nothing uses it; after
// the last of these "\t\n". "#3\tlayers.0.weight\n": of a client without names, an argument by its
// number (keel_traced_t), "" if it has no name. Runs some Python, so only when a program is
// compiled; takes the GIL. Never fails: "".
const char *keel_names_read(keel_arena_t *arena, bool is_wrapped);
// The user's name, or the client's if there is no other. `names` may be NULL.
keel_str_t keel_names_find(const char *names, keel_str_t client);
// The names of arguments by their numbers, as far as they are known: fills in names.
void keel_names_by_number(const char *names, keel_str_t *out, uint32_t count);
// Whether an argument that is not in the program was passed, by the user's name.
typedef enum keel_passing { KEEL_PASSING_UNKNOWN, KEEL_PASSED, KEEL_NOT_PASSED } keel_passing_t;
keel_passing_t keel_names_passing(const char *names, keel_str_t user);

// ---- preparing.c -------------------------------------------------------------------------------

// What a client does before it asks for a program, on the thread that asks: its own time, without
// that of others within it.
typedef enum keel_preparing_t {
    KEEL_PREPARING_TRACE, // Python functions
    KEEL_PREPARING_LOWER, // what was traced, to a module
    KEEL_PREPARING_CLIENT,
    KEEL_PREPARING_COUNT,
} keel_preparing_t;

void keel_preparing_add(keel_preparing_t what, double seconds);
// All of this thread since the last call.
double keel_preparing_take(keel_preparing_t what);

// ---- call.c ------------------------------------------------------------------------------------

// What JAX compares of the call that it compiles for, a line each: a kind, a name, and what to
// compare. Names are the user's own, or of what was passed to a library's function.
//
//   "f \tone function 0x7f.."    the function, or a method's object; "one" if it is made when its
//                                module is imported
//   "s config\tConfig 0x7f.."    static: a plain value, or class and identity, which has "~"
//                                before it if the class has an __eq__ of its own; long tuples too
//   "b mask\tby name"            an argument that is passed by its name
//   "n batch\tdict"              a container; "x state\t(..)": what it holds besides arrays; of a
//                                dataclass "x state.rate\t0.1", a line a field
//   "l batch['x']\tf32[8] weak"  an array, or a Python number, also if the program does not use it
//   "h params\t5a6.. 9f2.."      a large argument, hashed: containers, arrays
//   "p net.rate\t0.1"            what a library that calls jax.jit was passed, and no array: a
//                                plain value, or a function's identity
//   "c jax_enable_x64\tTrue"     a setting
//   "i pallas\timported"        this function was the first to be traced with the settings of a
//                                module that JAX imports once it needs it
//   "v RATE\t0.5"                a plain value that the function reads by name: what it closes
//                                over, defaults, globals, attributes of these; JAX compares none
//   "v \tread"                   these were looked for
//   "a mask\tf32[4] #5f3c"       an array among these: its type, and a hash of what it holds or
//                                its identity
//
// Identities and hashes are those of the process. Runs some Python; takes the GIL. Never fails: "".
const char *keel_call_read(keel_arena_t *arena);

// operation.c: true if JAX compiles one of its own operations on this thread, which runs outside
// any jitted function and holds none of the user's; false if that is not sure. Runs some Python;
// takes the GIL.
bool keel_is_operation(keel_arena_t *arena);

// gradient.c: true if a JAX program contains a backward pass, as the step of a training loop does.
bool keel_computes_gradient(const keel_program_t *program);

// ending.c: from now on, a thread that the ending interpreter stops waits for the end of the
// process instead of aborting it, by Python's import of pthread_exit. Does nothing without Python.
// Any thread.
void keel_python_leave_threads(void);

// path.c: where this process's Python looks for modules, without the folders of libraries; a line
// for each. Runs some Python; takes the GIL. Never fails: "".
const char *keel_python_path_read(keel_arena_t *arena);

// ---- torch_tpu.c -------------------------------------------------------------------------------

// Whether TorchTPU made the program of this name, and which graph of a compiled function it is.
bool keel_torch_tpu_is_name(keel_str_t name);
keel_graph_kind_t keel_torch_tpu_graph(keel_str_t name);
// The name by which a graph of torch.compile's is recorded; static. NULL: it is no such graph.
const char *keel_torch_tpu_name_graph(const keel_program_t *program);

// ---- traced.c ----------------------------------------------------------------------------------

// TorchTPU compiles graphs on threads that have no stack, and its programs name neither a function
// nor arguments. The Python package says both before (python/keel/graphs.py).
typedef struct keel_traced_t {
    const char *id;       // of Dynamo's compile: the backward graph has that of its forward graph
    const char *function; // of the user's: "Net.forward"
    const char *file;
    uint32_t line;     // of its def
    const char *names; // of the program's arguments, see keel_names_read
} keel_traced_t;

// What was said of a graph that is compiled now. The stack's text is kept until the process ends,
// the rest lives in an arena.
typedef struct keel_traced_graph_t {
    const char *function, *file;
    uint32_t line;
    const char *names;
    const keel_stack_t *stack; // of the thread that called the function; no frames: not known
} keel_traced_graph_t;

// Notes a graph that this thread will ask for, or another one for it, with this thread's stack.
// Texts are copied. Takes the GIL. 0: it is not noted.
uint64_t keel_traced_note(const keel_traced_t *traced, const char *application);
// It is compiled from now on, by this thread or on its behalf; or it is compiled no longer, after
// which it is forgotten. Any thread.
void keel_traced_begin(uint64_t number);
void keel_traced_end(uint64_t number);
// The graph that is compiled now: the calling thread's, or the only one with so many arguments.
// False if that is not known.
bool keel_traced_find(uint32_t arguments, keel_arena_t *arena, keel_traced_graph_t *out);

// ---- site.c ------------------------------------------------------------------------------------

// Where a program comes from in the user's source.
typedef struct keel_site_t {
    keel_place_t place; // the user's line that called the traced function, and who called that
    const char *origin; // distinguishes functions of one name, see below; "" if unknown
    bool is_traced; // the traced function has a frame of its own; otherwise it may be one operation
    bool is_wrapped;   // a library calls it, and it belongs neither to that library nor to JAX
    const char *graph; // see keel_torch_tpu_name_graph
} keel_site_t;

// The origin of a traced function is its qualified name, its file and the line of its def:
// "make_train.<locals>.step at /home/u/train.py:12". The line is 0 if only the function's name
// is known; for a lambda that is the first line that computes something. A cell of a notebook is
// "<cell>", and its functions have no line, because both move with an edit. Anything else has the
// line that asked for it: "/home/u/train.py:31".
//
// A library's function that the user jits is a different one for each line that asks, and is
// identified by the user's function that it runs: "init of Net.__call__ at
// /v/site-packages/haiku/transform.py:389 for /home/u/train.py:22". So is a loop that a library
// runs outside jit: "/v/.../util.py:896 for ...". `stack` is the host's when the program was asked
// for, or NULL. Text lives in `arena`, or is the stack's.
void keel_site_of(const keel_program_t *program, const keel_stack_t *stack, keel_arena_t *arena,
                  keel_site_t *out);
// For a client that compiles what it recorded when a result is needed: the line that asked is the
// site and the origin. Without a stack the site is unchanged.
void keel_site_asked(const keel_stack_t *stack, keel_arena_t *arena, keel_site_t *site);
// For a graph of torch.compile's: the function that was traced is the origin, whichever line called
// it, and that line is the site.
void keel_site_traced(const keel_traced_graph_t *traced, keel_arena_t *arena, keel_site_t *site);
// The part of an origin that survives edits above it: all but the line of a traced function.
keel_str_t keel_origin_function(keel_str_t origin);
// The part that all lines share which ask for a library's function; all of it for any other, and
// for JAX's own, which users seldom jit.
keel_str_t keel_origin_shared(keel_str_t origin);
// What distinguishes the functions of one name in a run: the file and line of its def if that is
// known, under any name; otherwise all of the origin. A function that only returns its arguments
// computes nothing that would show its qualified name.
keel_str_t keel_origin_place(keel_str_t origin);

// ---- closure.c ---------------------------------------------------------------------------------

// Two programs of one origin.
typedef struct keel_one_origin_t {
    const keel_program_t *before, *after;
    const char *origin;
    keel_str_t text; // of the origin's file, as Python compiled it; empty if it is not known
    const char *application; // packages that count as the user's; NULL
    bool takes_others;       // their arguments have other names: another model's, or another state
} keel_one_origin_t;

// True if they surely come from different functions: a factory made these for different functions
// of the user's, they are a method of two objects, or a library's function was given different
// ones, and the same call runs them; or they are two lambdas of one line.
bool keel_is_other_closure(const keel_one_origin_t *pair);
// True if the program contains an array of the user's, which its function closed over.
bool keel_closes_over_data(const keel_program_t *program);
// The file of the def; empty if the origin has none.
keel_str_t keel_origin_file(keel_str_t origin);

#endif // KEEL_HOST_HOST_H_
