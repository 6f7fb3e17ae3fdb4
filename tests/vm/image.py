# SPDX-License-Identifier: GPL-2.0
"""Builds the initramfs: programs, stock modules, module sets, cases.

It is joined from two archives: a base that changes only with the kernel or
with this host's packages and is kept under build/vm, and a small one with the
modules under test and the cases, written anew for each run.
"""

import hashlib
import lzma
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import BinaryIO

from .cases import Case
from .cpio import Archive
from .paths import BUILD, TESTS, HarnessError, output_of
from .stubs import make_stubs

# Stock modules, each with all that it depends on. Those which a kernel lacks
# or has built in are passed over.
MODULES = """
    virtio_pci virtio_console virtio_net virtio_rng virtio_blk
    dummy ipv6 sch_netem sch_ingress cls_matchall cls_u32 act_gact
    crc32_generic crc32_pclmul crc32c_generic crc32c_intel
    ib_core ib_cm iw_cm rdma_cm rdma_ucm ib_uverbs rdma_rxe siw
    brd loop null_blk ext4 nvme_rdma nvmet_rdma
""".split()

PROGRAMS = """
    /bin/ip /usr/bin/rdma /sbin/tc /sbin/mkfs.ext4 /sbin/e2fsck /usr/bin/fio
""".split()

# Of fio's libraries, the ones that it really uses.
FIO_KEEPS = ("libc.so.6", "libm.so.6", "libz.so.1", "libaio.so.1", "libnuma.so.1", "libdl.so.2",
             "libpthread.so.0", "ld-linux-x86-64.so.2")


class Kernel:
    """A stock kernel that scripts/kernel has unpacked."""

    def __init__(self, series: str) -> None:
        script = BUILD.parent / "scripts/kernel"
        self.series = series
        self.release = output_of(script, series, "release")
        self.image = Path(output_of(script, series, "image"))
        self.modules = Path(output_of(script, series, "modules"))
        self.headers = Path(output_of(script, series, "headers"))

    @property
    def build(self) -> Path:
        """Where modules for this kernel are built."""
        return BUILD / self.release


def libraries_of(program: Path) -> dict[str, Path]:
    """What the loader would load, by name."""
    found = {}
    for line in output_of("ldd", program).splitlines():
        if match := re.match(r"\s*(?:(\S+) => )?(/\S+) \(0x", line):
            found[match[1] or Path(match[2]).name] = Path(match[2])
    return found


def copy(source: Path, stage: Path) -> None:
    """Copies a file of the host to the same place below the stage."""
    target = stage / str(source).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def add_program(path: Path, stage: Path) -> None:
    """A program with its libraries."""
    copy(path, stage)
    libraries = libraries_of(path)
    if path.name == "fio":
        keep = {n: p for n, p in libraries.items() if n in FIO_KEEPS}
        make_stubs(path, keep, stage / "usr/lib/stubs")
        libraries = keep
    for name, library in libraries.items():
        target = stage / "lib64" / name if name.startswith("ld-") else stage / "usr/lib" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)


def closure(kernel: Kernel, names: list[str]) -> list[Path]:
    """The files of modules and of all that they depend on."""
    depends = {}
    for line in (kernel.modules / "modules.dep").read_text().splitlines():
        file, _, needs = line.partition(":")
        depends[file] = needs.split()
    by_name = {Path(f).name.split(".ko")[0].replace("-", "_"): f for f in depends}
    files = {f for n in names if n in by_name for f in (by_name[n], *depends[by_name[n]])}
    return sorted(Path(f) for f in files)


def module_bytes(path: Path) -> bytes:
    """A module as busybox can load it: not packed."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def add_modules(kernel: Kernel, stage: Path) -> None:
    """The stock modules and the tables for modprobe."""
    below = stage / "lib/modules" / kernel.release
    for file in closure(kernel, MODULES):
        target = below / str(file).removesuffix(".xz")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(module_bytes(kernel.modules / file))
        subprocess.run(["strip", "--strip-debug", target], check=True)
    for table in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        if (kernel.modules / table).exists():
            shutil.copy(kernel.modules / table, below)
    subprocess.run(["depmod", "-b", stage, kernel.release], check=True)


def base_key(kernel: Kernel) -> str:
    """Changes when the base must be built anew."""
    inputs = [kernel.image, Path("/bin/busybox"), *map(Path, PROGRAMS)]
    inputs += [TESTS / "vm" / name for name in ("image.py", "stubs.py", "cpio.py")]
    parts = [kernel.release]
    for path in inputs:
        if not path.exists():
            raise HarnessError(f"{path} is missing: run scripts/setup as root")
        status = path.stat()
        parts.append(f"{path} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def base_archive(kernel: Kernel) -> Path:
    """The base, built when it is not there yet."""
    directory = BUILD / "vm" / kernel.release
    archive = directory / f"base-{base_key(kernel)}.cpio"
    if archive.exists():
        return archive
    stage = directory / "stage"
    shutil.rmtree(directory, ignore_errors=True)
    for name in ("bin", "dev", "proc", "sys", "run", "tmp", "mnt", "etc", "usr/lib"):
        (stage / name).mkdir(parents=True, exist_ok=True)
    copy(Path("/bin/busybox"), stage)
    for program in map(Path, PROGRAMS):
        add_program(program, stage)
    (stage / "etc/mtab").symlink_to("/proc/mounts")
    (stage / "etc/ld.so.conf").write_text("/usr/lib\n/usr/lib/stubs\n")
    subprocess.run(["ldconfig", "-r", stage], check=True)
    add_modules(kernel, stage)
    with open(archive.with_suffix(".new"), "wb") as out:
        base = Archive(out)
        base.tree(stage)
        base.close()
    shutil.rmtree(stage)
    return archive.with_suffix(".new").rename(archive)


def set_files(kernel: Kernel, name: str) -> list[Path]:
    """The module files of a set; the order is of no importance."""
    below = kernel.build / name
    return [f for f in sorted(below.rglob("*.ko")) if "stage" not in f.parts]


def variables_of(case: Case) -> str:
    """What a case's shell reads before it starts."""
    lines = {"case_name": case.name, "scale": os.environ.get("RTRS_SCALE", "1"),
             "seed": os.environ.get("RTRS_SEED", ""),
             "rows": os.environ.get("RTRS_ROWS", ""),
             "requests": os.environ.get("RTRS_REQUESTS", "8000"), **case.variables}
    return "".join(f"{key}={shlex.quote(value)}\n" for key, value in lines.items()
                   if re.fullmatch(r"[a-z_][a-z0-9_]*", key))


def write_top(kernel: Kernel, cases: list[Case], out: BinaryIO) -> None:
    """The part of the image that changes from run to run."""
    top = Archive(out)
    top.file("init", (TESTS / "vm/init").read_bytes(), 0o755)
    top.tree(TESTS / "lib", "tests/lib")
    top.file("bin/rtrs", (TESTS.parent / "tools/rtrs").read_bytes(), 0o755)
    for name in sorted({name for case in cases for name in case.modules.values()}):
        top.directory(f"sets/{name}")
        for file in set_files(kernel, name):
            kernel_name = file.name.replace("-", "_")
            top.file(f"sets/{name}/{kernel_name}", stripped(file))
    if any("hostile" in case.uses for case in cases):
        top.file("bin/rtrs-hostile", stripped(BUILD / "hostile/rtrs-hostile"), 0o755)
    for file in {case.file for case in cases}:
        top.file(f"tests/cases/{file.name}", file.read_bytes())
    if any("tree" in case.uses for case in cases):
        top.tree(kernel.headers / "include/linux", "tree")
    for case in cases:
        top.file(f"tests/variables/{case.name}", variables_of(case).encode())
    top.close()


def stripped(file: Path) -> bytes:
    """A module or program without its debug information, which is most of it."""
    with tempfile.NamedTemporaryFile() as copied:
        subprocess.run(["strip", "--strip-debug", "-o", copied.name, file], check=True)
        return Path(copied.name).read_bytes()


def build_image(kernel: Kernel, cases: list[Case], image: Path) -> Path:
    """The whole initramfs for some cases."""
    base = base_archive(kernel)
    with open(image, "wb") as out:
        with open(base, "rb") as source:
            shutil.copyfileobj(source, out)
        write_top(kernel, cases, out)
    return image
