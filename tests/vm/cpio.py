# SPDX-License-Identifier: GPL-2.0
"""Writes archives that the kernel takes as initramfs (cpio, format newc)."""

import os
import stat
from pathlib import Path
from typing import BinaryIO


class Archive:
    """An archive under construction; archives may be joined end to end."""

    def __init__(self, out: BinaryIO) -> None:
        self.out = out
        self.number = 0
        self.directories: set[str] = set()

    def entry(self, name: str, mode: int, data: bytes = b"") -> None:
        """One file, directory or link, header and data padded to four bytes."""
        self.number += 1
        encoded = name.encode() + b"\0"
        numbers = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
        self.out.write(b"070701" + b"".join(b"%08x" % n for n in numbers) + encoded)
        self.out.write(b"\0" * (-(110 + len(encoded)) % 4))
        self.out.write(data + b"\0" * (-len(data) % 4))

    def directory(self, name: str) -> None:
        """A directory with all those above it, once."""
        if name in ("", ".") or name in self.directories:
            return
        self.directory(os.path.dirname(name))
        self.directories.add(name)
        self.entry(name, stat.S_IFDIR | 0o755)

    def file(self, name: str, data: bytes, mode: int = 0o644) -> None:
        """A regular file."""
        self.directory(os.path.dirname(name))
        self.entry(name, stat.S_IFREG | mode, data)

    def link(self, name: str, target: str) -> None:
        """A symbolic link."""
        self.directory(os.path.dirname(name))
        self.entry(name, stat.S_IFLNK | 0o777, target.encode())

    def tree(self, source: Path, below: str = "") -> None:
        """Everything in a directory of the host."""
        for path in sorted(source.rglob("*")):
            name = os.path.join(below, str(path.relative_to(source)))
            if path.is_symlink():
                self.link(name, os.readlink(path))
            elif path.is_dir():
                self.directory(name)
            else:
                self.file(name, path.read_bytes(), path.stat().st_mode & 0o777)

    def close(self) -> None:
        """The kernel wants this mark, and archives aligned when joined."""
        self.entry("TRAILER!!!", 0)
        self.out.write(b"\0" * (-self.out.tell() % 512))
