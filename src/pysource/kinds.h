// kinds: the words of Python's grammar, each in one table: what a token is, what a node is, what a
// child is to its parent, what an operator does. Names are those of CPython's `ast`.
#ifndef KEEL_PYSOURCE_KINDS_H_
#define KEEL_PYSOURCE_KINDS_H_

// ---- tokens ------------------------------------------------------------------------------------

#define KEEL_PY_TOKENS(X)                                                                          \
    X(END)                                                                                         \
    X(NEWLINE)                                                                                     \
    X(INDENT)                                                                                      \
    X(DEDENT)                                                                                      \
    X(BAD) /* what Python does not take, and a bracket that is never closed */                     \
    X(NAME)                                                                                        \
    X(NUMBER)                                                                                      \
    X(STRING)                                                                                      \
    X(TEXT_START)  /* of a string with fields: its prefix and quotes */                            \
    X(TEXT_MIDDLE) /* what stands between its fields */                                            \
    X(TEXT_END)                                                                                    \
    X(SIGN) /* an operator, a bracket or another mark; a keyword */

typedef enum keel_py_token_kind {
#define KEEL_PY_TOKEN(name) KEEL_PY_T_##name,
    KEEL_PY_TOKENS(KEEL_PY_TOKEN)
#undef KEEL_PY_TOKEN
} keel_py_token_kind_t;

// Signs, the longest first, and keywords.
#define KEEL_PY_SIGNS(X)                                                                           \
    X(DOUBLE_STAR_EQUAL, "**=")                                                                    \
    X(DOUBLE_SLASH_EQUAL, "//=")                                                                   \
    X(LEFT_SHIFT_EQUAL, "<<=")                                                                     \
    X(RIGHT_SHIFT_EQUAL, ">>=")                                                                    \
    X(ELLIPSIS, "...")                                                                             \
    X(COLON_EQUAL, ":=")                                                                           \
    X(DOUBLE_EQUAL, "==")                                                                          \
    X(NOT_EQUAL, "!=")                                                                             \
    X(LESS_EQUAL, "<=")                                                                            \
    X(GREATER_EQUAL, ">=")                                                                         \
    X(LEFT_SHIFT, "<<")                                                                            \
    X(RIGHT_SHIFT, ">>")                                                                           \
    X(DOUBLE_STAR, "**")                                                                           \
    X(DOUBLE_SLASH, "//")                                                                          \
    X(ARROW, "->")                                                                                 \
    X(PLUS_EQUAL, "+=")                                                                            \
    X(MINUS_EQUAL, "-=")                                                                           \
    X(STAR_EQUAL, "*=")                                                                            \
    X(SLASH_EQUAL, "/=")                                                                           \
    X(PERCENT_EQUAL, "%=")                                                                         \
    X(AT_EQUAL, "@=")                                                                              \
    X(AND_EQUAL, "&=")                                                                             \
    X(OR_EQUAL, "|=")                                                                              \
    X(XOR_EQUAL, "^=")                                                                             \
    X(LEFT_PARENTHESIS, "(")                                                                       \
    X(RIGHT_PARENTHESIS, ")")                                                                      \
    X(LEFT_BRACKET, "[")                                                                           \
    X(RIGHT_BRACKET, "]")                                                                          \
    X(LEFT_BRACE, "{")                                                                             \
    X(RIGHT_BRACE, "}")                                                                            \
    X(COLON, ":")                                                                                  \
    X(COMMA, ",")                                                                                  \
    X(SEMICOLON, ";")                                                                              \
    X(DOT, ".")                                                                                    \
    X(EQUAL, "=")                                                                                  \
    X(PLUS, "+")                                                                                   \
    X(MINUS, "-")                                                                                  \
    X(STAR, "*")                                                                                   \
    X(SLASH, "/")                                                                                  \
    X(PERCENT, "%")                                                                                \
    X(AT, "@")                                                                                     \
    X(AND_SIGN, "&")                                                                               \
    X(OR_SIGN, "|")                                                                                \
    X(XOR_SIGN, "^")                                                                               \
    X(TILDE, "~")                                                                                  \
    X(LESS, "<")                                                                                   \
    X(GREATER, ">")                                                                                \
    X(EXCLAMATION, "!") /* only in a field of a string */                                          \
    X(FALSE, "False")                                                                              \
    X(NONE, "None")                                                                                \
    X(TRUE, "True")                                                                                \
    X(AND, "and")                                                                                  \
    X(AS, "as")                                                                                    \
    X(ASSERT, "assert")                                                                            \
    X(ASYNC, "async")                                                                              \
    X(AWAIT, "await")                                                                              \
    X(BREAK, "break")                                                                              \
    X(CLASS, "class")                                                                              \
    X(CONTINUE, "continue")                                                                        \
    X(DEF, "def")                                                                                  \
    X(DEL, "del")                                                                                  \
    X(ELIF, "elif")                                                                                \
    X(ELSE, "else")                                                                                \
    X(EXCEPT, "except")                                                                            \
    X(FINALLY, "finally")                                                                          \
    X(FOR, "for")                                                                                  \
    X(FROM, "from")                                                                                \
    X(GLOBAL, "global")                                                                            \
    X(IF, "if")                                                                                    \
    X(IMPORT, "import")                                                                            \
    X(IN, "in")                                                                                    \
    X(IS, "is")                                                                                    \
    X(LAMBDA, "lambda")                                                                            \
    X(NONLOCAL, "nonlocal")                                                                        \
    X(NOT, "not")                                                                                  \
    X(OR, "or")                                                                                    \
    X(PASS, "pass")                                                                                \
    X(RAISE, "raise")                                                                              \
    X(RETURN, "return")                                                                            \
    X(TRY, "try")                                                                                  \
    X(WHILE, "while")                                                                              \
    X(WITH, "with")                                                                                \
    X(YIELD, "yield")

typedef enum keel_py_sign {
    KEEL_PY_S_NOTHING, // the token is no sign
#define KEEL_PY_SIGN(name, text) KEEL_PY_S_##name,
    KEEL_PY_SIGNS(KEEL_PY_SIGN)
#undef KEEL_PY_SIGN
        KEEL_PY_SIGN_COUNT
} keel_py_sign_t;

// ---- nodes -------------------------------------------------------------------------------------

// Statements come first, then expressions, patterns, and the rest.
#define KEEL_PY_STATEMENTS(X)                                                                      \
    X(UNKNOWN, "Unknown") /* what did not parse: its names as children, then its block */          \
    X(FUNCTION_DEF, "FunctionDef")                                                                 \
    X(ASYNC_FUNCTION_DEF, "AsyncFunctionDef")                                                      \
    X(CLASS_DEF, "ClassDef")                                                                       \
    X(RETURN, "Return")                                                                            \
    X(DELETE, "Delete")                                                                            \
    X(ASSIGN, "Assign")                                                                            \
    X(TYPE_ALIAS, "TypeAlias")                                                                     \
    X(AUG_ASSIGN, "AugAssign")                                                                     \
    X(ANN_ASSIGN, "AnnAssign")                                                                     \
    X(FOR, "For")                                                                                  \
    X(ASYNC_FOR, "AsyncFor")                                                                       \
    X(WHILE, "While")                                                                              \
    X(IF, "If")                                                                                    \
    X(WITH, "With")                                                                                \
    X(ASYNC_WITH, "AsyncWith")                                                                     \
    X(MATCH, "Match")                                                                              \
    X(RAISE, "Raise")                                                                              \
    X(TRY, "Try")                                                                                  \
    X(TRY_STAR, "TryStar")                                                                         \
    X(ASSERT, "Assert")                                                                            \
    X(IMPORT, "Import")                                                                            \
    X(IMPORT_FROM, "ImportFrom")                                                                   \
    X(GLOBAL, "Global")                                                                            \
    X(NONLOCAL, "Nonlocal")                                                                        \
    X(EXPR, "Expr")                                                                                \
    X(PASS, "Pass")                                                                                \
    X(BREAK, "Break")                                                                              \
    X(CONTINUE, "Continue")

#define KEEL_PY_EXPRESSIONS(X)                                                                     \
    X(BOOL_OP, "BoolOp")                                                                           \
    X(NAMED_EXPR, "NamedExpr")                                                                     \
    X(BIN_OP, "BinOp")                                                                             \
    X(UNARY_OP, "UnaryOp")                                                                         \
    X(LAMBDA, "Lambda")                                                                            \
    X(IF_EXP, "IfExp")                                                                             \
    X(DICT, "Dict") /* a value without a key before it is unpacked */                              \
    X(SET, "Set")                                                                                  \
    X(LIST_COMP, "ListComp")                                                                       \
    X(SET_COMP, "SetComp")                                                                         \
    X(DICT_COMP, "DictComp")                                                                       \
    X(GENERATOR_EXP, "GeneratorExp")                                                               \
    X(AWAIT, "Await")                                                                              \
    X(YIELD, "Yield")                                                                              \
    X(YIELD_FROM, "YieldFrom")                                                                     \
    X(COMPARE, "Compare") /* left, then an operator and a comparator each */                       \
    X(CALL, "Call")                                                                                \
    X(FORMATTED_VALUE, "FormattedValue")                                                           \
    X(INTERPOLATION, "Interpolation")                                                              \
    X(JOINED_STR, "JoinedStr")                                                                     \
    X(TEMPLATE_STR, "TemplateStr")                                                                 \
    X(CONSTANT, "Constant")                                                                        \
    X(ATTRIBUTE, "Attribute")                                                                      \
    X(SUBSCRIPT, "Subscript")                                                                      \
    X(STARRED, "Starred")                                                                          \
    X(NAME, "Name")                                                                                \
    X(LIST, "List")                                                                                \
    X(TUPLE, "Tuple")                                                                              \
    X(SLICE, "Slice")

#define KEEL_PY_PATTERNS(X)                                                                        \
    X(MATCH_VALUE, "MatchValue")                                                                   \
    X(MATCH_SINGLETON, "MatchSingleton")                                                           \
    X(MATCH_SEQUENCE, "MatchSequence")                                                             \
    X(MATCH_MAPPING, "MatchMapping")                                                               \
    X(MATCH_CLASS, "MatchClass")                                                                   \
    X(MATCH_STAR, "MatchStar")                                                                     \
    X(MATCH_AS, "MatchAs")                                                                         \
    X(MATCH_OR, "MatchOr")

#define KEEL_PY_OTHERS(X)                                                                          \
    X(MODULE, "Module")                                                                            \
    X(ARGUMENTS, "arguments")                                                                      \
    X(ARG, "arg")         /* its default is its child */                                           \
    X(KEYWORD, "keyword") /* of a call, of a class, of a pattern */                                \
    X(ALIAS, "alias")                                                                              \
    X(WITH_ITEM, "withitem")                                                                       \
    X(MATCH_CASE, "match_case")                                                                    \
    X(EXCEPT_HANDLER, "ExceptHandler")                                                             \
    X(COMPREHENSION, "comprehension")                                                              \
    X(TYPE_VAR, "TypeVar")                                                                         \
    X(PARAM_SPEC, "ParamSpec")                                                                     \
    X(TYPE_VAR_TUPLE, "TypeVarTuple")                                                              \
    X(OPERATOR, "operator") /* of a comparison */

typedef enum keel_py_kind {
#define KEEL_PY_KIND(name, text) KEEL_PY_##name,
    KEEL_PY_STATEMENTS(KEEL_PY_KIND) KEEL_PY_EXPRESSIONS(KEEL_PY_KIND)
        KEEL_PY_PATTERNS(KEEL_PY_KIND) KEEL_PY_OTHERS(KEEL_PY_KIND)
#undef KEEL_PY_KIND
            KEEL_PY_KIND_COUNT
} keel_py_kind_t;

// ---- what a child is to its parent -------------------------------------------------------------

#define KEEL_PY_FIELDS(X)                                                                          \
    X(NOTHING, "")                                                                                 \
    X(ANNOTATION, "annotation")                                                                    \
    X(ARGS, "args")                                                                                \
    X(BASES, "bases")                                                                              \
    X(BODY, "body")                                                                                \
    X(BOUND, "bound")                                                                              \
    X(CASES, "cases")                                                                              \
    X(CAUSE, "cause")                                                                              \
    X(CLS, "cls")                                                                                  \
    X(COMPARATORS, "comparators")                                                                  \
    X(CONTEXT_EXPR, "context_expr")                                                                \
    X(DECORATOR_LIST, "decorator_list")                                                            \
    X(DEFAULT, "default")                                                                          \
    X(ELT, "elt")                                                                                  \
    X(ELTS, "elts")                                                                                \
    X(EXC, "exc")                                                                                  \
    X(FINALBODY, "finalbody")                                                                      \
    X(FORMAT_SPEC, "format_spec")                                                                  \
    X(FUNC, "func")                                                                                \
    X(GENERATORS, "generators")                                                                    \
    X(GUARD, "guard")                                                                              \
    X(HANDLERS, "handlers")                                                                        \
    X(IFS, "ifs")                                                                                  \
    X(ITEMS, "items")                                                                              \
    X(ITER, "iter")                                                                                \
    X(KEY, "key")                                                                                  \
    X(KEYS, "keys")                                                                                \
    X(KEYWORDS, "keywords")                                                                        \
    X(KWARG, "kwarg")                                                                              \
    X(KWONLYARGS, "kwonlyargs")                                                                    \
    X(LEFT, "left")                                                                                \
    X(LOWER, "lower")                                                                              \
    X(MSG, "msg")                                                                                  \
    X(NAME_OF, "name")                                                                             \
    X(NAMES, "names")                                                                              \
    X(OPERAND, "operand")                                                                          \
    X(OPS, "ops")                                                                                  \
    X(OPTIONAL_VARS, "optional_vars")                                                              \
    X(ORELSE, "orelse")                                                                            \
    X(PATTERN, "pattern")                                                                          \
    X(PATTERNS, "patterns")                                                                        \
    X(POSONLYARGS, "posonlyargs")                                                                  \
    X(RETURNS, "returns")                                                                          \
    X(RIGHT, "right")                                                                              \
    X(SLICE_OF, "slice")                                                                           \
    X(STEP, "step")                                                                                \
    X(SUBJECT, "subject")                                                                          \
    X(TARGET, "target")                                                                            \
    X(TARGETS, "targets")                                                                          \
    X(TEST, "test")                                                                                \
    X(TYPE, "type")                                                                                \
    X(TYPE_PARAMS, "type_params")                                                                  \
    X(UPPER, "upper")                                                                              \
    X(VALUE, "value")                                                                              \
    X(VALUES, "values")                                                                            \
    X(VARARG, "vararg")

typedef enum keel_py_field {
#define KEEL_PY_FIELD(name, text) KEEL_PY_F_##name,
    KEEL_PY_FIELDS(KEEL_PY_FIELD)
#undef KEEL_PY_FIELD
        KEEL_PY_FIELD_COUNT
} keel_py_field_t;

// ---- what a node does --------------------------------------------------------------------------

// Of BinOp, AugAssign, UnaryOp, BoolOp and the operators of a comparison. For a name, an attribute,
// a subscript, a list, a tuple and a star: what happens to it. For a constant: what it is. For a
// formatted value: its conversion.
#define KEEL_PY_OPS(X)                                                                             \
    X(NOTHING, "")                                                                                 \
    X(ADD, "Add")                                                                                  \
    X(SUB, "Sub")                                                                                  \
    X(MULT, "Mult")                                                                                \
    X(MAT_MULT, "MatMult")                                                                         \
    X(DIV, "Div")                                                                                  \
    X(MOD, "Mod")                                                                                  \
    X(POW, "Pow")                                                                                  \
    X(L_SHIFT, "LShift")                                                                           \
    X(R_SHIFT, "RShift")                                                                           \
    X(BIT_OR, "BitOr")                                                                             \
    X(BIT_XOR, "BitXor")                                                                           \
    X(BIT_AND, "BitAnd")                                                                           \
    X(FLOOR_DIV, "FloorDiv")                                                                       \
    X(INVERT, "Invert")                                                                            \
    X(NOT, "Not")                                                                                  \
    X(U_ADD, "UAdd")                                                                               \
    X(U_SUB, "USub")                                                                               \
    X(AND, "And")                                                                                  \
    X(OR, "Or")                                                                                    \
    X(EQ, "Eq")                                                                                    \
    X(NOT_EQ, "NotEq")                                                                             \
    X(LT, "Lt")                                                                                    \
    X(LT_E, "LtE")                                                                                 \
    X(GT, "Gt")                                                                                    \
    X(GT_E, "GtE")                                                                                 \
    X(IS, "Is")                                                                                    \
    X(IS_NOT, "IsNot")                                                                             \
    X(IN, "In")                                                                                    \
    X(NOT_IN, "NotIn")                                                                             \
    X(LOAD, "Load")                                                                                \
    X(STORE, "Store")                                                                              \
    X(DEL, "Del")                                                                                  \
    X(NONE, "None")                                                                                \
    X(TRUE, "True")                                                                                \
    X(FALSE, "False")                                                                              \
    X(ELLIPSIS, "Ellipsis")                                                                        \
    X(NUMBER, "number")                                                                            \
    X(STR, "str")                                                                                  \
    X(BYTES, "bytes")                                                                              \
    X(TO_STR, "s")                                                                                 \
    X(TO_REPR, "r")                                                                                \
    X(TO_ASCII, "a")                                                                               \
    X(IS_ASYNC, "async") /* of a comprehension */

typedef enum keel_py_op {
#define KEEL_PY_OP(name, text) KEEL_PY_O_##name,
    KEEL_PY_OPS(KEEL_PY_OP)
#undef KEEL_PY_OP
        KEEL_PY_OP_COUNT
} keel_py_op_t;

#endif // KEEL_PYSOURCE_KINDS_H_
