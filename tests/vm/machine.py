# SPDX-License-Identifier: GPL-2.0
"""One virtual machine: the QEMU process and the ports into its guest."""

import os
import select
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .paths import BUILD, HarnessError

COMMAND_LINE = (
    "console=ttyS0 loglevel=5 panic=-1 panic_on_warn=1 oops=panic acpi=noirq no_timer_check"
    " log_buf_len=16M net.ifnames=0 mitigations=off rcupdate.rcu_cpu_stall_timeout=60"
    " random.trust_cpu=on printk.time=1"
)

DISK_BYTES = 64 << 20
MONITOR_SECONDS = 20


@dataclass
class Setup:
    """What machines are made of."""

    image: Path
    initramfs: Path
    accel: str
    smp: int
    mem: int
    directory: Path


class Cable:
    """A link between two machines. Both ends stay open here, so it outlives either machine; what
    is sent to one that is dead has to be thrown away by drain()."""

    def __init__(self) -> None:
        self.ends = dict(zip(("server", "client"),
                             socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)))

    def drain(self, role: str) -> None:
        """Loses the packets that wait at this end."""
        try:
            while self.ends[role].recv(1 << 17, socket.MSG_DONTWAIT):
                pass
        except BlockingIOError:
            pass

    def close(self) -> None:
        """Takes it away."""
        for end in self.ends.values():
            end.close()


class GuestGone(Exception):
    """The guest closed its port: it crashed, or QEMU ended."""


BROKEN_KVM = BUILD / "vm/kvm-is-broken"


def boot_of_host() -> str:
    """Another one each time that the host boots."""
    return Path("/proc/sys/kernel/random/boot_id").read_text()


def kvm_usable() -> bool:
    """Whether KVM is worth a try: a device that opens may still not work."""
    if BROKEN_KVM.exists() and BROKEN_KVM.read_text() == boot_of_host():
        return False
    return os.access("/dev/kvm", os.R_OK | os.W_OK)


def remember_broken_kvm() -> None:
    """Spares later runs the attempt, until the host boots again."""
    BROKEN_KVM.write_text(boot_of_host())


def processor(accel: str) -> list[str]:
    """Accelerator and CPU model; TCG emulates the plain one fastest."""
    if accel == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    model = "qemu64,+ssse3,+sse4.1,+sse4.2,+rdrand"
    if accel == "icount":
        # One instruction takes a nanosecond of the guest's time, and idle time passes at once.
        return ["-accel", "tcg,thread=single,tb-size=256", "-icount", "shift=0,sleep=off",
                "-rtc", "clock=vm", "-cpu", model]
    return ["-accel", "tcg,thread=multi,tb-size=256", "-cpu", model]


def command_line(accel: str) -> str:
    """The kernel's; where instructions are counted, the same addresses each time."""
    return COMMAND_LINE + (" nokaslr tsc=reliable" if accel == "icount" else "")


class Machine:
    """A running VM. All of its files lie in a directory of its own."""

    def __init__(self, setup: Setup, role: str, cables: list[Cable]) -> None:
        self.setup = setup
        self.role = role
        self.cables = [cable.ends[role].fileno() for cable in cables]
        self.directory = setup.directory / role
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        self.console = self.directory / "console"
        self.output = self.directory / "output"
        self.console_start = 0
        self.output_start = 0
        self.pending = b""
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL,
                                        pass_fds=self.cables,
                                        stdout=open(self.directory / "qemu.log", "wb"),
                                        stderr=subprocess.STDOUT)
        self.control = self.connect("control")
        self.emergency = self.connect("emergency")
        self.monitor = self.connect("monitor")

    def command(self) -> list[str]:
        """QEMU's command line."""
        setup = self.setup
        return [
            "qemu-system-x86_64", "-M", "q35", *processor(setup.accel),
            "-smp", str(setup.smp), "-m", str(setup.mem), "-nodefaults", "-no-user-config",
            "-display", "none", "-no-reboot", "-kernel", str(setup.image),
            "-initrd", str(setup.initramfs), "-append", command_line(setup.accel),
            "-chardev", f"socket,id=monitor,path={self.directory / 'monitor'},server=on,wait=off",
            "-mon", "chardev=monitor", "-serial", f"file:{self.console}", "-device", "virtio-rng-pci",
            "-device", "virtio-serial-pci", *self.network(), *self.disk(),
            *self.socket_port("control"), *self.socket_port("emergency"),
            "-chardev", f"file,id=output,path={self.output}",
            "-device", "virtserialport,chardev=output,name=rtrs.output",
        ]

    def socket_port(self, name: str) -> list[str]:
        """A virtio port that the host talks to."""
        return ["-chardev", f"socket,id={name},path={self.directory / name},server=on,wait=off",
                "-device", f"virtserialport,chardev={name},name=rtrs.{name}"]

    def network(self) -> list[str]:
        """The ends of the cables to the other machine."""
        words = []
        for number, end in enumerate(self.cables):
            mac = f"52:54:00:00:0{number}:0{1 if self.role == 'server' else 2}"
            words += ["-netdev", f"dgram,id=net{number},local.type=fd,local.str={end}", "-device",
                      f"virtio-net-pci,netdev=net{number},mac={mac},host_mtu=9000"]
        return words

    def disk(self) -> list[str]:
        """The server's disk survives the machine."""
        if self.role != "server":
            return []
        path = self.setup.directory / "disk"
        with open(path, "ab") as file:
            file.truncate(DISK_BYTES)
        return ["-drive", f"file={path},format=raw,if=virtio"]

    def connect(self, name: str) -> socket.socket:
        """Opens the host's end of a port."""
        path = self.directory / name
        wait_until(lambda: path.exists() or self.process.poll() is not None, "QEMU's sockets")
        if self.process.poll() is not None:
            raise HarnessError("QEMU failed: " + (self.directory / "qemu.log").read_text().strip())
        port = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        port.connect(str(path))
        return port

    def send(self, line: str) -> None:
        """A line to the guest."""
        try:
            self.control.sendall(line.encode() + b"\n")
        except OSError as error:
            raise GuestGone from error

    def set_link(self, number: str, state: str) -> None:
        """Pulls a cable out of this machine, or puts it back: its network device sees it."""
        self.monitor.sendall(f"set_link net{number} {state}\n".encode())
        said = b""
        while not said.endswith(b"\n(qemu) ") or b"set_link" not in said:
            if not select.select([self.monitor], [], [], MONITOR_SECONDS)[0]:
                raise HarnessError(f"QEMU's monitor does not answer: {said!r}")
            said += self.monitor.recv(4096)

    def receive(self) -> None:
        """Takes what the guest has sent; call it when there is something."""
        try:
            data = self.control.recv(1 << 16)
        except OSError as error:
            raise GuestGone from error
        if not data:
            raise GuestGone
        self.pending += data

    def line(self) -> str | None:
        """The next whole line, if there is one."""
        line, newline, rest = self.pending.partition(b"\n")
        if not newline:
            return None
        self.pending = rest
        return line.decode(errors="replace")

    def block(self, size: int, deadline: float) -> str:
        """Bytes that the guest has announced."""
        while len(self.pending) < size:
            if not select.select([self.control], [], [], max(0, deadline - time.monotonic()))[0]:
                raise GuestGone
            self.receive()
        data, self.pending = self.pending[:size], self.pending[size:]
        return data.decode(errors="replace")

    def dump_tasks(self) -> None:
        """Makes a hung guest show on its console where its tasks wait."""
        try:
            self.emergency.sendall(b"dump\n")
        except OSError:
            return
        size = -1
        for _ in range(10):
            time.sleep(1)
            last, size = size, self.console.stat().st_size
            if size == last:
                break

    def stop(self) -> None:
        """Ends the VM at once."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.control.close()
        self.emergency.close()
        self.monitor.close()

    def mark(self) -> None:
        """From here on, console and output belong to the next case."""
        self.console_start = self.console.stat().st_size
        self.output_start = self.output.stat().st_size

    def console_text(self) -> str:
        """What the guest's console has shown since the mark."""
        if not self.console.exists():
            return ""
        return self.console.read_bytes()[self.console_start:].decode(errors="replace")

    def output_text(self) -> str:
        """What the case has printed."""
        return self.output.read_bytes()[self.output_start:].decode(errors="replace")


def wait_until(condition, what: str, seconds: float = 20) -> None:
    """For what takes a moment on the host."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise HarnessError(f"{what} did not appear within {seconds} s")
        time.sleep(0.02)
