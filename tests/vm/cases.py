# SPDX-License-Identifier: GPL-2.0
"""The cases: files in the shell's language with a header of metadata."""

import fnmatch
import os
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from .paths import HarnessError

SETS = ("ours", "peer", "meta", "none")
USES = ("rnbd", "ulp", "tree", "hostile")
KEYS = ("description", "vms", "modules", "uses", "timeout", "smp", "mem", "allow-log", "when")


@dataclass
class Case:
    """One case, or one variant of a case."""

    name: str
    file: Path
    description: str
    vms: int = 1
    modules: dict[str, str] = field(default_factory=dict)
    uses: frozenset[str] = frozenset()
    timeout: int = 60
    smp: int = 2
    mem: int = 1024
    allow_log: str = ""
    long: bool = False
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def roles(self) -> tuple[str, ...]:
        """One for each VM; also the function of the case that runs there."""
        return {0: (), 1: ("run",), 2: ("server", "client")}[self.vms]

    @property
    def machine(self) -> tuple[int, int, int]:
        """Cases that agree in this can share a boot."""
        return (self.vms, self.smp, self.mem)


def header_of(file: Path) -> tuple[dict[str, str], list[tuple[str, dict[str, str]]]]:
    """Reads the comment at the top: its keys, and its variants."""
    keys: dict[str, str] = {}
    variants = []
    for line in file.read_text().splitlines():
        if not line.startswith("#"):
            break
        match = re.match(r"# ([a-z-]+): +(.*)", line)
        if not match:
            continue
        key, value = match.groups()
        if key == "variant":
            name, *pairs = shlex.split(value)
            variants.append((name, dict(pair.split("=", 1) for pair in pairs)))
        elif key in KEYS:
            keys[key] = value
    return keys, variants


def modules_of(text: str, roles: tuple[str, ...]) -> dict[str, str]:
    """`ours`, or `client=ours server=peer`: the module set of each VM."""
    chosen = dict.fromkeys(roles, "ours")
    for word in text.split():
        role, _, name = word.rpartition("=")
        if name not in SETS or (role and role not in roles):
            raise HarnessError(f"no module set '{word}'")
        chosen.update({role: name} if role else dict.fromkeys(roles, name))
    return chosen


def make_case(file: Path, name: str, keys: dict[str, str]) -> Case:
    """Checks the metadata; the variables of a variant may stand among it."""
    if "description" not in keys:
        raise HarnessError(f"{file.name} has no description")
    case = Case(name, file, keys["description"])
    case.vms = int(keys.get("vms", case.vms))
    case.modules = modules_of(keys.get("modules", "ours"), case.roles)
    case.uses = frozenset(keys.get("uses", "").split())
    case.timeout = int(keys.get("timeout", case.timeout)) * int(os.environ.get("RTRS_SCALE", "1"))
    case.smp = int(keys.get("smp", case.smp))
    case.mem = int(keys.get("mem", case.mem))
    case.allow_log = keys.get("allow-log", "")
    case.long = keys.get("when", "check") == "check-long"
    if not case.uses <= set(USES):
        raise HarnessError(f"{file.name}: uses: knows {', '.join(USES)}")
    return case


def cases_in(file: Path) -> list[Case]:
    """All variants of a file, or its only case."""
    keys, variants = header_of(file)
    found = []
    for name, variables in variants or [("", {})]:
        full = f"{file.stem}/{name}" if name else file.stem
        case = make_case(file, full, keys | variables)
        case.variables = variables
        found.append(case)
    return found


def load_cases(directory: Path) -> list[Case]:
    """All cases of a directory, in the order of their names."""
    return [case for file in sorted(directory.glob("*.sh")) for case in cases_in(file)]


def select(cases: list[Case], names: list[str], long: bool) -> list[Case]:
    """Those that match a name, a file, or a pattern; without names all of make check, or of
    make check-long. A long case is meant only by its own name."""
    if not names:
        return [case for case in cases if case.long == long]
    chosen = []
    for name in names:
        name = name.rstrip("/")
        found = [c for c in cases if name == c.name or c.long == long
                 and (name == c.file.stem or fnmatch.fnmatch(c.name, name))]
        if not found:
            raise HarnessError(f"no case '{name}'; tests/run --list shows what there is")
        chosen += found
    return [case for case in cases if case in chosen]
