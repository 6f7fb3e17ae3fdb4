# SPDX-License-Identifier: GPL-2.0
"""Empty stand-ins for shared libraries.

Debian's fio is linked with libraries for storage that no test uses (Ceph,
Gluster and what these drag in, 80 MB). Its loader wants them all the same, so
the image gets libraries of the same names with functions that do nothing.
"""

import re
import subprocess
from collections import defaultdict
from pathlib import Path

from .paths import output_of


def needed_versions(program: Path) -> dict[str, set[str]]:
    """The symbol versions that a program asks of each library."""
    versions = defaultdict(set)
    library = ""
    for line in output_of("objdump", "-p", program).splitlines():
        if match := re.match(r"\s+NEEDED\s+(\S+)", line):
            versions[match[1]] = set()
        elif match := re.match(r"\s+required from (\S+):", line):
            library = match[1]
        elif match := re.match(r"\s+0x\w+ 0x\w+ \d+ (\S+)", line):
            versions[library].add(match[1])
    return versions


def symbols(program: Path, which: str) -> dict[str, set[str]]:
    """Undefined or defined symbols by version ('' where there is none)."""
    found = defaultdict(set)
    for line in output_of("nm", "-D", which, program).splitlines():
        name, _, version = line.split()[-1].partition("@")
        found[version.lstrip("@")].add(name)
    return found


def make_stub(directory: Path, name: str, by_version: dict[str, set[str]]) -> None:
    """Compiles one stand-in with the symbols given."""
    source = directory / f"{name}.c"
    script = directory / f"{name}.map"
    names = set().union(*by_version.values()) if by_version else set()
    source.write_text("".join(f"long {n}(void) {{ return 0; }}\n" for n in sorted(names)))
    nodes = [f"{version} {{ global: {'; '.join(sorted(names))}; }};"
             for version, names in sorted(by_version.items()) if version and names]
    script.write_text("\n".join(nodes) + "\n")
    command = ["gcc", "-shared", "-fPIC", "-w", "-fno-builtin", "-nostdlib", f"-Wl,-soname,{name}",
               "-o", directory / name, source]
    if nodes:
        command.insert(1, f"-Wl,--version-script={script}")
    subprocess.run(command, check=True)
    source.unlink()
    script.unlink()


def make_stubs(program: Path, keep: dict[str, Path], directory: Path) -> None:
    """Stand-ins for all libraries of a program but those to keep."""
    directory.mkdir(parents=True, exist_ok=True)
    wanted = symbols(program, "--undefined-only")
    real = set().union(*(names for path in keep.values()
                         for names in symbols(path, "--defined-only").values()))
    for name, versions in needed_versions(program).items():
        if name in keep:
            continue
        chosen = {version: wanted[version] for version in versions}
        if not versions:
            chosen[""] = wanted[""] - real
        make_stub(directory, name, chosen)
