"""The pairs of a file of accidents and mended programs: functions called NAME_accident or
NAME_mended, with a word behind it where there are several."""

import ast
import re

NAME = re.compile(r"(\w+?)_(accident|mended)(?:_\w+)?$")


class Pairs:
    def __init__(self, script):
        text = script.read_text()
        self.spans = {node.name: (node.lineno, node.end_lineno) for node in ast.parse(text).body
                      if isinstance(node, ast.FunctionDef)}
        self.marks = {self.function_of(number): number
                      for number, line in enumerate(text.splitlines(), 1) if "# <- here" in line}

    def function_of(self, line):
        """The function that a line stands in; None if there is none."""
        return next((name for name, (first, last) in self.spans.items()
                     if line and first <= line <= last), None)

    def functions(self, kind):
        return [name for name in self.spans if (match := NAME.match(name)) and match[2] == kind]

    def advice_of(self, name):
        return NAME.match(name)[1]

    def names(self):
        """The advice that has an accident and a mended program."""
        accidents, mended = ({self.advice_of(name) for name in self.functions(kind)}
                             for kind in ("accident", "mended"))
        return accidents & mended
