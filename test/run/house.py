#!/usr/bin/env python3
"""The rules of the house: who may include and call whom in src/.

    house.py                    self-test, then the rules, then the library
    house.py --report           the same, but a broken rule does not fail; also
                                prints the nouns of each room, from low to high
    house.py --self-test        only the small trees with planted faults
    house.py --walk FUNCTION    only the static walk of FUNCTION, edge by edge
    --tree DIR                  another checkout than this one
    --library FILE              clutch.so (default: in the tree; skipped if absent)

The table of rooms in docs/architecture.md is the law; this program reads it.
Its rows are "| room/ | what is in it | may include |", from the lowest room to
the highest, and "may include" names rooms, "none" or "all below".  The rules:

  table      a room of the table is a folder and the reverse, no room may include
             itself or one above it, and the row of a room names all its nouns.
  include    a file includes headers of the rooms that its row names, no other.
  call       a function calls, or passes the address of, functions of its own
             room and of those rooms, no other.  A prototype written by hand in
             a .c file does not hide a call, and is itself a fault.
  cycle      inside a room, the nouns form no cycle by includes and calls.
  name       a static function begins with the name of its noun, or of its file,
             and an underscore, and with no longer noun's.  Where the prefix is
             another, the row of the room says so: "**noun** (`prefix_`)".  The
             files of api/ are exempt.
  length     no function is longer than 60 lines, from its name to its closing
             brace, and no file longer than 500.
  library    clutch.so exports what src/clutch.map names, and has no undefined
             json_object (the server exports a function of that name, so calling
             jansson's crashes the server).

Nouns.  x.c and x.h are one noun.  A .c file without a header of its own, and
x_part.h, belong to the noun x of the room whose name is the longest beginning
of theirs up to an underscore: envelope_address.c belongs to envelope.

Files directly in src/.  Their headers (clutch.h, compat.h, settings.h) lie
below every room, their .c files (module entry, settings) above every room.

The reader of C is small.  It removes comments, strings and preprocessor lines
(macros are kept as if they were functions), splits the rest into definitions at
brace depth zero, and takes as a call every identifier of a body that is the name
of a function or macro of src/, whether or not a parenthesis follows: so the
address of a function counts as a call of it.  Members (a.name, a->name) and names
that the body declares as variables do not count.  Calls through a pointer are
seen where the pointer is taken.  Calls by way of SQL are not seen.

The walk.  From one function, depth first in the order of the text, each function
entered once.  Every call from an entered function to a function of another noun
is an edge; a pair of functions is counted once, however often the one calls the
other.  An edge climbs if it leads to a higher room, or inside a room to a noun
that is higher in the order of the room's nouns.  That order is topological, so
in a room without cycles no edge climbs; in a cycle it is the order that a greedy
search for few climbing edges finds.
"""
import argparse
import collections
import fnmatch
import os
import re
import subprocess
import sys
import tempfile

LONGEST_FUNCTION = 60
LONGEST_FILE = 500
NAMED_FREELY = {"api"}           # rooms whose static functions may have any name
BELOW, ABOVE = "(headers of src)", "(module entry)"
WALK_FROM = "intake_request"

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
KEYWORDS = set("""auto break case char const continue default do double else enum extern float for goto if
inline int long register return short signed sizeof static struct switch typedef union unsigned void volatile
while""".split())

Fault = collections.namedtuple("Fault", "rule place text hint")
Edge = collections.namedtuple("Edge", "source target place text")		# between nouns
Call = collections.namedtuple("Call", "caller callee line")				# between definitions


# ------------------------------------------------------------------ reading C

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def without_comments(text):
    """Blanks comments and the insides of strings; every character keeps its line."""
    def blank(match):
        token = match.group()
        inside = re.sub(r"[^\n]", " ", token)
        return '"' + inside[1:-1] + '"' if token[0] in "\"'" else inside
    return TOKEN.sub(blank, text)


DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\\\n]|\\.|\\\n)*", re.M)
MACRO = re.compile(r"#\s*define\s+([A-Za-z_]\w*)(\(([^)]*)\))?(.*)", re.S)


class Definition:
    """A function, a macro, or a table with an initializer."""

    def __init__(self, file, name, line, kind, body, body_line, params="", static=False):
        self.file, self.name, self.line, self.kind = file, name, line, kind
        self.body, self.body_line, self.params, self.static = body, body_line, params, static
        self.lines = body.count("\n") + 1 + body_line - line

    def names(self):
        """Identifiers of the body that may mean a function, each with its line, in order."""
        hidden = variables_of(self.params + ";" + self.body) if self.kind != "macro" else set(
            IDENTIFIER.findall(self.params))
        for match in IDENTIFIER.finditer(self.body):
            name = match.group()
            before = self.body[:match.start()].rstrip()[-2:]
            if name in KEYWORDS or name in hidden or before.endswith(".") or before == "->":
                continue
            yield name, self.body_line + self.body.count("\n", 0, match.start())


VARIABLE = re.compile(r"([A-Za-z_]\w*)(?:\s+|\s*\*[\s*]*)([A-Za-z_]\w*)\s*(?=[;,=\[)])")
NO_TYPE = {"return", "else", "case", "goto", "sizeof", "do", "in"}


def variables_of(text):
    """Names declared as variables or parameters.  A prototype in a body hides nothing."""
    return {name for before, name in VARIABLE.findall(text) if before not in NO_TYPE}


class File:
    def __init__(self, tree, path):
        self.path = path                                # src/room/name.c
        parts = path.split("/")[1:]
        self.base = parts[-1]
        self.stem, self.is_header = os.path.splitext(self.base)[0], path.endswith(".h")
        self.room = parts[0] if len(parts) > 1 else BELOW if self.is_header else ABOVE
        with open(os.path.join(tree, path), encoding="utf-8") as stream:
            text = stream.read()
        self.lines = text.count("\n")
        self.includes, self.definitions, self.prototypes = [], [], []
        for number, line in enumerate(text.split("\n"), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if match:
                self.includes.append((match.group(1), number))
        text = without_comments(text)
        self.read_macros(text)
        self.read_chunks(DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text))

    def read_macros(self, text):
        for match in DIRECTIVE.finditer(text):
            macro = MACRO.match(match.group().strip())
            if macro:
                line = text.count("\n", 0, match.start()) + 1
                self.definitions.append(Definition(self, macro.group(1), line, "macro", macro.group(4), line,
                                                   macro.group(3) or ""))

    def read_chunks(self, text):
        """Splits at ; and at bodies, both at brace depth zero."""
        start = place = 0
        while place < len(text):
            char = text[place]
            if char == "{":
                end = closing(text, place)
                head = text[start:place]
                if is_function(head):
                    self.add_function(text, start, place, end)
                    start = end
                place = end
                continue
            if char == ";":
                self.add_declaration(text, start, place)
                start = place + 1
            place += 1

    def add_function(self, text, start, brace, end):
        head = text[start:brace]
        opening = matching_backwards(head)
        name = IDENTIFIER.findall(head[:opening])[-1]
        at = start + head[:opening].rindex(name)
        self.definitions.append(Definition(
            self, name, line_of(text, at), "function", text[brace:end], line_of(text, brace), head[opening:],
            bool(re.search(r"\bstatic\b", head))))

    def add_declaration(self, text, start, end):
        chunk = text[start:end]
        place = start + len(chunk) - len(chunk.lstrip())
        if re.search(r"=\s*\{|=\s*[^=]", chunk) and not chunk.lstrip().startswith("typedef"):
            head, body = chunk.split("=", 1)
            names = IDENTIFIER.findall(re.sub(r"\[[^\]]*\]", "", head))
            pointer = re.search(r"\(\s*\*[\s*]*(?:const\s+)?([A-Za-z_]\w*)", head)
            if names:
                self.definitions.append(Definition(self, pointer.group(1) if pointer else names[-1],
                                                   line_of(text, place), "table", body,
                                                   line_of(text, start + len(head)), "", "static" in names))
            return
        match = re.match(r"\s*(?:extern\s+|PGDLLEXPORT\s+)*[A-Za-z_][\w\s*]*?\b([A-Za-z_]\w*)\s*\(", chunk)
        if match and "static" not in chunk.split("(")[0].split() and "typedef" not in chunk.split("(")[0].split():
            self.prototypes.append((match.group(1), line_of(text, start + match.start(1))))


def closing(text, place):
    depth = 0
    for at in range(place, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return len(text)


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def is_function(head):
    return head.rstrip().endswith(")") and "=" not in head and matching_backwards(head) > 0


def matching_backwards(head):
    """The position of the parenthesis that the last character of head closes."""
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(head[at], 0)
        if depth == 0 and head[at] == "(":
            return at
    return -1


# -------------------------------------------------------------------- the law

def read_table(tree):
    """{room: rooms it may include}, lowest first, {room: its row's line, words, prefixes}, faults."""
    rooms, rows, faults, place = {}, {}, [], "docs/architecture.md"
    with open(os.path.join(tree, place), encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            row = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not line.startswith("|") or len(row) < 3 or not re.fullmatch(r"`?\w+/`?", row[0]):
                continue
            room = row[0].strip("`/")
            words = [word.strip("`/") for word in re.findall(r"`?\w+/?`?", row[-1].split(".")[0])]
            below = list(rooms)
            if row[-1].startswith("all below"):
                words = below
            elif words == ["none"]:
                words = []
            for word in words:
                if word not in below:
                    faults.append(Fault("table", "%s:%d" % (place, number),
                                        "%s/ may include %s/, which does not stand above it in the table" % (room, word),
                                        "The table runs from the lowest room to the highest."))
            rooms[room] = set(words)
            rows[room] = "%s:%d" % (place, number), set(IDENTIFIER.findall(row[1])), prefixes_of(row[1])
    return rooms, rows, faults


def prefixes_of(words):
    """{noun: prefixes that its names may have instead of its own}"""
    return {noun: re.findall(r"`(\w+)_`", remark) for noun, remark in re.findall(r"\*\*(\w+)\*\* \(([^)]*)\)", words)}


class House:
    def __init__(self, tree):
        self.tree = tree
        self.files = [File(tree, path) for path in sources(tree)]
        self.rooms, self.rows, self.faults = read_table(tree)
        self.order = [BELOW] + list(self.rooms) + [ABOVE]
        self.nouns = {file.path: noun for file, noun in self.name_nouns()}
        self.by_include = {file.path[len("src/"):]: file for file in self.files}
        self.index_definitions()
        self.calls = list(self.find_calls())

    def name_nouns(self):
        headers = {(file.room, file.stem) for file in self.files
                   if file.is_header and not file.stem.endswith("_part")}
        for file in self.files:
            stem = file.stem
            if (file.room, stem) not in headers:
                beginnings = [stem[:at] for at in range(len(stem) - 1, 0, -1) if stem[at] == "_"]
                stem = next((b for b in beginnings if (file.room, b) in headers), stem)
            yield file, (file.room, stem)

    def noun(self, file):
        return self.nouns[file.path]

    def index_definitions(self):
        """The names that each file defines, and those that are visible to other files."""
        self.own, self.known = collections.defaultdict(dict), {}
        for file in self.files:
            for definition in file.definitions:
                self.own[file.path].setdefault(definition.name, definition)
                if file.is_header or not (definition.static or definition.kind == "macro"):
                    self.known.setdefault(definition.name, definition)

    def find_calls(self):
        for file in self.files:
            for definition in file.definitions:
                for name, line in definition.names():
                    callee = self.own[file.path].get(name) or self.known.get(name)
                    if callee and callee is not definition and not self.is_data(callee, definition):
                        yield Call(definition, callee, line)

    def is_data(self, callee, caller):
        """Using a variable of another file is not a call, nor is a macro that is only a value."""
        return callee.file is not caller.file and (
            callee.kind == "table" or callee.kind == "macro" and not self.calls_something(callee))

    def calls_something(self, macro):
        return any(name in self.known and self.known[name].kind == "function" for name, _ in macro.names())

    # ------------------------------------------------------------------ rules

    def check(self):
        """Every rule's name with its faults."""
        self.check_folders()
        rules = collections.OrderedDict(table=self.faults)
        rules["include"] = list(self.faults_of_includes())
        rules["call"] = list(self.faults_of_calls()) + list(self.faults_of_prototypes())
        rules["cycle"] = list(self.faults_of_cycles())
        rules["name"] = list(self.faults_of_names())
        rules["length"] = list(self.faults_of_length())
        return rules

    def check_folders(self):
        folders = {file.room for file in self.files} - {BELOW, ABOVE}
        for room in sorted(folders ^ set(self.rooms)):
            self.faults.append(Fault("table", "docs/architecture.md:1",
                                     "%s/ is %s" % (room, "not in the table of rooms" if room in folders else
                                                    "in the table, but src/ has no such folder"),
                                     "The rows of the table and the folders of src/ are the same."))
        for room, noun in sorted(set(self.nouns.values())):
            if room in self.rows and noun not in self.rows[room][1]:
                self.faults.append(Fault("table", self.rows[room][0], "the row of %s/ does not name %s" % (room, noun),
                                         "The table names every noun, with a few words where its name does not say it all."))

    def may(self, source, target):
        if source == target or target == BELOW or source == ABOVE:
            return True
        return target in self.rooms.get(source, ())

    def rank(self, room):
        return self.order.index(room) if room in self.order else len(self.order)

    def explain(self, source, target):
        if self.rank(target) > self.rank(source):
            return ("upward: %s stands above %s" % (target, source),
                    "Move the function down to the lowest noun that needs it, or let the lower room note what has "
                    "happened and the higher one act on it.")
        return ("the row of %s in docs/architecture.md does not name %s" % (source, target),
                "Ask a room that may; if the dependency is right, add it to the row.")

    def faults_of_includes(self):
        for file in self.files:
            for name, line in file.includes:
                target = self.by_include.get(name)
                if target and not self.may(file.room, target.room):
                    why, hint = self.explain(file.room, target.room)
                    yield Fault("include", "%s:%d" % (file.path, line), "includes %s (%s)" % (name, why), hint)

    def faults_of_calls(self):
        for call in self.calls:
            source, target = call.caller.file.room, call.callee.file.room
            if not self.may(source, target):
                why, hint = self.explain(source, target)
                yield Fault("call", "%s:%d" % (call.caller.file.path, call.line), "%s calls %s of %s (%s)" % (
                    call.caller.name, call.callee.name, call.callee.file.path, why), hint)

    def faults_of_prototypes(self):
        for file in self.files:
            if file.is_header:
                continue
            for name, line in file.prototypes:
                callee = self.known.get(name)
                if callee and callee.file is not file and callee.kind == "function":
                    yield Fault("call", "%s:%d" % (file.path, line), "declares %s of %s by hand" % (
                        name, callee.file.path), "Include the header that declares it.")

    def edges(self, room):
        """The edges between the nouns of one room, one for each pair; includes come before calls."""
        found = {}
        for file in self.files:
            for name, line in file.includes:
                target = self.by_include.get(name)
                if target:
                    found.setdefault((self.noun(file), self.noun(target)), Edge(
                        self.noun(file), self.noun(target), "%s:%d" % (file.path, line), "includes %s" % name))
        # a call says more than an include
        for call in reversed(self.calls):
            pair = self.noun(call.caller.file), self.noun(call.callee.file)
            found[pair] = Edge(*pair, "%s:%d" % (call.caller.file.path, call.line),
                               "%s calls %s" % (call.caller.name, call.callee.name))
        return [edge for pair, edge in sorted(found.items())
                if pair[0] != pair[1] and pair[0][0] == pair[1][0] == room]

    def faults_of_cycles(self):
        for room in self.rooms:
            edges = self.edges(room)
            for group in components(edges):
                way = shortest_cycle(group, edges)
                names = " -> ".join([edge.source[1] for edge in way] + [way[0].source[1]])
                text = "%s/: %d nouns call one another (%s); the shortest way round: %s" % (
                    room, len(group), " ".join(sorted(noun[1] for noun in group)), names)
                text += "".join("\n      %s: %s" % (edge.place, edge.text) for edge in way)
                yield Fault("cycle", way[0].place, text,
                            "Move what both need into a noun below, or pass a function down as a pointer.")

    def faults_of_names(self):
        nouns = {noun[1] for noun in self.nouns.values()}
        for file in self.files:
            if file.room not in self.rooms or file.room in NAMED_FREELY:
                continue
            noun = self.noun(file)[1]
            own = [noun, file.stem] + self.rows[file.room][2].get(noun, [])
            for definition in file.definitions:
                if definition.kind != "function" or not definition.static:
                    continue
                fitting = {prefix for prefix in nouns | set(own) if definition.name.startswith(prefix + "_")}
                longest = max(fitting, key=len, default=None)
                if longest not in own:
                    text = "%s does not begin with %s_" % (definition.name, noun)
                    if fitting & set(own):
                        text = "%s says that it is in %s, not in %s" % (definition.name, longest, noun)
                    yield Fault("name", "%s:%d" % (file.path, definition.line), text,
                                "Put the noun in front, and drop the words that it already says, so that whoever reads "
                                "the name finds the function.")

    def faults_of_length(self):
        for file in self.files:
            if file.lines > LONGEST_FILE:
                yield Fault("length", "%s:1" % file.path, "has %d lines; at most %d are allowed" % (
                    file.lines, LONGEST_FILE), "Give a part of the noun a file, or a noun, of its own.")
            for definition in file.definitions:
                if definition.kind == "function" and definition.lines > LONGEST_FUNCTION:
                    yield Fault("length", "%s:%d" % (file.path, definition.line), "%s has %d lines; at most %d are allowed" % (
                        definition.name, definition.lines, LONGEST_FUNCTION), "Split it where the comment between two parts would stand.")

    # --------------------------------------------------------------- the walk

    def heights(self):
        """The place of each noun: its room's, then its own in the room."""
        height = {}
        for position, room in enumerate(self.order):
            nouns = sorted({noun for noun in self.nouns.values() if noun[0] == room})
            for place, noun in enumerate(low_to_high(nouns, self.edges(room))):
                height[noun] = (position, place)
        return height

    def walk(self, name):
        """(functions entered, files entered, edges between nouns, those that climb)"""
        start = self.known.get(name)
        if start is None:
            return None
        height = self.heights()
        callees = collections.defaultdict(list)
        for call in self.calls:
            callees[call.caller].append(call)
        entered, edges, climbing, todo = {start}, set(), [], [iter(callees[start])]
        while todo:
            call = next(todo[-1], None)
            if call is None:
                todo.pop()
                continue
            source, target = self.noun(call.caller.file), self.noun(call.callee.file)
            if source != target and (call.caller, call.callee) not in edges:
                edges.add((call.caller, call.callee))
                if height.get(target, (99, 0)) > height.get(source, (99, 0)):
                    climbing.append(call)
            if call.callee not in entered:
                entered.add(call.callee)
                todo.append(iter(callees[call.callee]))
        return entered, {d.file.path for d in entered}, edges, climbing


def sources(tree):
    found = []
    for folder, _, names in os.walk(os.path.join(tree, "src")):
        found += [os.path.relpath(os.path.join(folder, name), tree) for name in names if name.endswith((".c", ".h"))]
    return sorted(found)


# --------------------------------------------------------------------- graphs

def components(edges):
    """Groups of at least two nouns that reach one another."""
    reach = collections.defaultdict(set)
    for edge in edges:
        reach[edge.source].add(edge.target)

    def reached(noun):
        seen, todo = set(), [noun]
        while todo:
            for target in reach[todo.pop()]:
                if target not in seen:
                    seen.add(target)
                    todo.append(target)
        return seen
    all_reached = {noun: reached(noun) for noun in list(reach)}
    groups = {frozenset(other for other in seen if noun in all_reached.get(other, ())) for noun, seen in all_reached.items()
              if noun in seen}
    return sorted(groups, key=sorted)


def shortest_cycle(group, edges):
    best = None
    for start in sorted(group):
        way = {start: []}
        todo = collections.deque([start])
        while todo:
            noun = todo.popleft()
            for edge in edges:
                if edge.source != noun or edge.target not in group:
                    continue
                if edge.target == start:
                    if best is None or len(way[noun]) + 1 < len(best):
                        best = way[noun] + [edge]
                    todo.clear()
                    break
                if edge.target not in way:
                    way[edge.target] = way[noun] + [edge]
                    todo.append(edge.target)
    return best


def low_to_high(nouns, edges):
    """Callees before callers; in a cycle, next comes the noun with the fewest callees left."""
    left, order = set(nouns), []
    while left:
        below = {noun: {e.target for e in edges if e.source == noun and e.target in left} for noun in left}
        above = {noun: {e.source for e in edges if e.target == noun and e.source in left} for noun in left}
        noun = min(left, key=lambda n: (len(below[n]) > 0, len(below[n]) - len(above[n]), n))
        order.append(noun)
        left.remove(noun)
    return order


# ----------------------------------------------------------------- the library

def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def exported_by_map(tree):
    with open(os.path.join(tree, "src/clutch.map"), encoding="utf-8") as stream:
        text = re.sub(r"/\*.*?\*/", "", stream.read(), flags=re.S)
    return re.findall(r"[\w*?]+", re.search(r"global:(.*?)local:", text, re.S).group(1))


def faults_of_library(tree, library):
    place = os.path.relpath(library, tree)
    patterns = exported_by_map(tree)
    exported = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library)]
    for name in sorted(exported):
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            yield Fault("library", place, "exports %s, which src/clutch.map does not name" % name,
                        "Was the library linked with the version script?")
    for pattern in patterns:
        if not fnmatch.filter(exported, pattern):
            yield Fault("library", place, "exports nothing like %s of src/clutch.map" % pattern,
                        "Remove the line of the map, or export the function.")
    for line in run("nm", "-D", "--undefined-only", library):
        name = line.split()[-1].split("@")[0]
        if name == "json_object":
            yield Fault("library", place, "calls json_object",
                        "The server's function of that name would be called: use json_pack or a function of base/.")


# ----------------------------------------------------------------- the self-test

TABLE = ("| room | what is in it | may include |\n|---|---|---|\n| low/ | **stone** | none |\n| side/ | **door** (`gate_`) | none |\n"
         "| high/ | tower and flag | low |\n")
SOUND = {
    "docs/architecture.md": TABLE,
    "src/clutch.h": "typedef int Slice;\n",
    "src/clutch.c": '#include "high/tower.h"\n\nvoid\n_PG_init(void)\n{\n\ttower_build();\n}\n',
    "src/low/stone.h": "extern int stone_cut(int n);\nextern int stone_sort(int (*compare) (int));\n",
    "src/low/stone.c": '#include "low/stone.h"\n\nint\nstone_cut(int n)\n{\n\treturn n;\n}\n\n'
                       "int\nstone_sort(int (*compare) (int))\n{\n\treturn compare(1);\n}\n",
    "src/side/door.h": "extern int door_open(void);\n\nstatic inline int\ngate_width(int n)\n{\n\treturn n;\n}\n",
    "src/side/door.c": '#include "side/door.h"\n\nint\ndoor_open(void)\n{\n\treturn 0;\n}\n',
    "src/high/tower.h": "extern int tower_build(void);\nextern int tower_height(void);\n",
    # a split noun, a function passed down, a variable and a comment that only look like calls
    "src/high/tower.c": '#include "high/tower_part.h"\n#include "low/stone.h"\n\nstatic int\ntower_by_size(int n)\n{\n\treturn n;\n}\n\n'
                        "int\ntower_build(void)\n{\n\tint\t\tdoor_open = 1;\n\n\t/* door_open() is not called */\n"
                        '\treturn stone_sort(tower_by_size) + tower_part_two() + door_open + "door_open()"[0];\n}\n',
    "src/high/tower_part.h": '#include "high/tower.h"\n\nextern int tower_part_two(void);\n',
    "src/high/tower_two.c": '#include "high/tower_part.h"\n\nint\ntower_part_two(void)\n{\n\treturn tower_height();\n}\n\n'
                            "int\ntower_height(void)\n{\n\treturn 1;\n}\n",
    "src/high/flag.h": "extern int flag_raise(void);\n",
    "src/high/flag.c": '#include "high/flag.h"\n#include "high/tower.h"\n\nint\nflag_raise(void)\n{\n\treturn tower_height();\n}\n',
}

BODY = "\n\nint\n%s(int n)\n{\n%s\treturn 0;\n}\n"


def planted():
    """(what is planted, files that differ from SOUND, rule, words of the fault)"""
    return [
        ("nothing", {}, None, ()),
        ("an upward include", {"src/low/stone.h": '#include "high/tower.h"\nextern int stone_cut(int n);\n'},
         "include", ("src/low/stone.h:1", "includes high/tower.h", "upward")),
        ("an include that the table does not allow", {"src/high/flag.h": '#include "side/door.h"\n'},
         "include", ("src/high/flag.h:1", "includes side/door.h", "does not name side")),
        ("an upward call through a prototype in the .c file",
         {"src/low/stone.c": "extern int tower_height(void);" + BODY % ("stone_cut", "\ttower_height();\n")},
         "call", ("src/low/stone.c:6", "stone_cut calls tower_height", "upward")),
        ("a prototype by hand",
         {"src/high/flag.c": "int tower_height(void);" + BODY % ("flag_raise", "")},
         "call", ("src/high/flag.c:1", "declares tower_height of src/high/tower_two.c by hand")),
        ("an upward function pointer in a table",
         {"src/low/stone.c": "static int (*const steps[]) (void) = {\n\tdoor_open,\n\ttower_build\n};\n"},
         "call", ("src/low/stone.c:3", "steps calls tower_build", "upward")),
        ("an upward call in a macro",
         {"src/low/stone.h": "#define stone_top(n) \\\n\t(tower_height() + (n))\n"},
         "call", ("src/low/stone.h:2", "stone_top calls tower_height", "upward")),
        ("an upward call in an inline function",
         {"src/low/stone.h": "static inline int\nstone_top(int n)\n{\n\treturn tower_height() + n;\n}\n"},
         "call", ("src/low/stone.h:4", "stone_top calls tower_height", "upward")),
        ("a cycle of calls inside a room",
         {"src/high/tower_two.c": '#include "high/tower_part.h"' + BODY % ("tower_height", "\tflag_raise();\n")},
         "cycle", ("2 nouns", "flag_raise calls tower_height", "tower_height calls flag_raise")),
        ("a cycle of includes inside a room",
         {"src/high/tower.h": '#include "high/flag.h"\n', "src/high/flag.c": '#include "high/tower.h"\n'},
         "cycle", ("2 nouns", "includes high/flag.h", "includes high/tower.h")),
        ("a static function without its noun",
         {"src/high/flag.c": "static" + BODY % ("by_size", "")}, "name", ("src/high/flag.c:4", "by_size does not begin with flag_")),
        ("a static function with the prefix of another noun",
         {"src/high/tower.c": "static" + BODY % ("tower_clock_wind", ""), "src/low/tower_clock.h": "extern int hands;\n"},
         "name", ("src/high/tower.c:4", "tower_clock_wind says that it is in tower_clock, not in tower")),
        ("a function of 61 lines", {"src/low/stone.c": BODY % ("stone_cut", "\tn++;\n" * 57)},
         "length", ("src/low/stone.c:4", "stone_cut has 61 lines")),
        ("a file of 501 lines", {"src/low/stone.c": "\n" * 501},
         "length", ("src/low/stone.c:1", "has 501 lines")),
        ("a folder without a row", {"src/attic/box.h": "extern int box;\n"},
         "table", ("attic/ is not in the table",)),
        ("a noun that the table does not name", {"docs/architecture.md": TABLE.replace("tower and ", "")},
         "table", ("docs/architecture.md:5", "does not name tower")),
        ("a row that allows what stands above it",
         {"docs/architecture.md": TABLE.replace("stone** | none |", "stone** | high |")},
         "table", ("docs/architecture.md:3", "low/ may include high/")),
    ]


def house_of(files):
    with tempfile.TemporaryDirectory() as tree:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
            with open(os.path.join(tree, path), "w", encoding="utf-8") as stream:
                stream.write(text)
        return House(tree)


def test_planted(what, files, rule, words):
    """None, or what is wrong with the checker."""
    faults = [fault for found in house_of({**SOUND, **files}).check().values() for fault in found]
    if rule is None:
        return "finds %r" % (faults,) if faults else None
    for fault in faults:
        if fault.rule == rule and all(word in fault.place + " " + fault.text for word in words):
            return None
    return "%r with %r is not among %r" % (rule, words, faults)


def test_walk():
    upward = {"src/low/stone.c": BODY % ("stone_cut", "\ttower_height();\n") + BODY % ("stone_sort", "\tstone_cut(n);\n\tdoor_open();\n")}
    counted = [house_of({**SOUND, **files}).walk("tower_build") for files in ({}, upward)]
    climbing = [[(call.caller.name, call.callee.name) for call in walk[3]] for walk in counted]
    if climbing != [[], [("stone_cut", "tower_height"), ("stone_sort", "door_open")]]:
        return "climbs %r" % (climbing,)
    return None


def test_library():
    """Tests a library without version script, which exports too much and calls what it must not."""
    with tempfile.TemporaryDirectory() as tree:
        os.makedirs(os.path.join(tree, "src"))
        with open(os.path.join(tree, "src/clutch.map"), "w", encoding="utf-8") as stream:
            stream.write("{\n\tglobal:\n\t\tclutch_*;\n\t\t_PG_init;\n\tlocal:\n\t\t*;\n};\n")
        with open(os.path.join(tree, "x.c"), "w", encoding="utf-8") as stream:
            stream.write("extern int json_object(void);\nint clutch_a(void) { return json_object(); }\nint stray(void) { return 0; }\n")
        library = os.path.join(tree, "x.so")
        run("cc", "-shared", "-fPIC", "-o", library, os.path.join(tree, "x.c"))
        found = sorted(fault.text.split(",")[0] for fault in faults_of_library(tree, library))
    wanted = ["calls json_object", "exports nothing like _PG_init of src/clutch.map", "exports stray"]
    return None if found == wanted else "finds %r" % (found,)


def self_test():
    passed = failed = 0
    tests = [(what, lambda args=(what, files, rule, words): test_planted(*args)) for what, files, rule, words in planted()]
    for what, test in tests + [("the walk", test_walk), ("a library", test_library)]:
        wrong = test()
        print("%-8sself-test: %s" % ("not ok" if wrong else "ok", what))
        if wrong:
            print("        " + wrong)
        passed, failed = passed + (not wrong), failed + bool(wrong)
    return passed, failed


# ------------------------------------------------------------------- the story

def report_rule(rule, faults, report_only):
    """Prints one line a fault; returns (passed, failed)."""
    state = "ok" if not faults else "report" if report_only else "not ok"
    print("%-8s%s%s" % (state, rule, ": %d faults" % len(faults) if faults else ""))
    hint = None
    for fault in faults:
        print("   %s: %s" % (fault.place, fault.text))
        if fault.hint != hint:
            hint = fault.hint
            print("      hint: %s" % hint)
    return (1, 0) if not faults else (0, 0) if report_only else (0, 1)


def report_order(house):
    """Prints the nouns of each room, callees before callers."""
    for room in house.rooms:
        nouns = sorted({noun for noun in house.nouns.values() if noun[0] == room})
        print("order   %s/: %s" % (room, " ".join(noun[1] for noun in low_to_high(nouns, house.edges(room)))))


def report_walk(house, name, edge_by_edge):
    walk = house.walk(name)
    if walk is None:
        print("walk: there is no function %s" % name)
        return
    entered, files, edges, climbing = walk
    print("walk    %s: enters %d functions of %d files; of %d calls between nouns, %d climb" % (
        name, len(entered), len(files), len(edges), len(climbing)))
    for call in climbing if edge_by_edge else ():
        print("   %s:%d: %s calls %s of %s" % (call.caller.file.path, call.line, call.caller.name, call.callee.name,
                                               call.callee.file.path))


def main():
    parser = argparse.ArgumentParser(description="The rules of the house (docs/architecture.md).")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--walk", metavar="FUNCTION")
    parser.add_argument("--tree", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    parser.add_argument("--library")
    args = parser.parse_args()
    tree = os.path.abspath(args.tree)

    if args.walk:
        report_walk(House(tree), args.walk, True)
        return 0
    results = [self_test()]
    if not args.self_test:
        house = House(tree)
        results += [report_rule(rule, faults, args.report) for rule, faults in house.check().items()]
        library = args.library or os.path.join(tree, "clutch.so")
        if args.library or os.path.exists(library):
            results.append(report_rule("library", list(faults_of_library(tree, library)), False))
        if args.report:
            report_order(house)
        report_walk(house, WALK_FROM, False)
    passed, failed = (sum(result[i] for result in results) for i in (0, 1))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
