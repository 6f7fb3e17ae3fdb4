# SPDX-License-Identifier: GPL-2.0
"""Runs cases: boots what they need, follows them, judges and reports."""

import itertools
import os
import select
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import klog
from .cases import Case
from .image import Kernel
from .machine import Cable, GuestGone, Machine, Setup, kvm_usable, remember_broken_kvm, wait_until
from .paths import BUILD, TOP, HarnessError, say

BOOT_SECONDS = 180
LINKS = 2
KVM_SECONDS = 20        # where KVM works, the first line on the console takes one


@dataclass
class Outcome:
    """What one VM told about a case."""

    verdict: str = ""
    log: str = ""
    taint: int = 0
    left: list[str] = field(default_factory=list)
    done: bool = False


@dataclass
class Result:
    """The end of a case."""

    case: Case
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)
    skipped: str = ""
    metrics: dict[str, str] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """How the line of the case begins."""
        if self.findings:
            return "not ok"
        return "SKIP" if self.skipped else "ok"


class Fleet:
    """The one or two VMs of a boot, and which machines it was made for."""

    def __init__(self, case: Case, kernel: Kernel, initramfs: Path, accel: str) -> None:
        self.machine = case.machine
        self.directory = Path(tempfile.mkdtemp(prefix="rtrs-vm-"))
        setup = Setup(kernel.image, initramfs, accel, case.smp, case.mem, self.directory)
        self.setup = setup
        self.machines: list[Machine] = []
        self.cables = [Cable() for _ in range(LINKS)] if case.vms == 2 else []
        self.dead: set[str] = set()
        self.remains: list[tuple[str, bytes]] = []
        try:
            for role in case.roles:
                self.machines.append(Machine(setup, role, self.cables))
            self.wait_for_ready()
        except BaseException:
            self.keep_logs(BUILD / "test-logs/boot")
            self.stop()
            raise

    def wait_for_ready(self) -> None:
        """Until each guest has said that it can run cases."""
        if self.machines[0].setup.accel == "kvm":
            wait_until(self.machines[0].console_text, "the first line of the kernel", KVM_SECONDS)
        deadline = time.monotonic() + BOOT_SECONDS
        for machine in self.machines:
            while machine.line() != "ready":
                wait = max(0, deadline - time.monotonic())
                if not select.select([machine.control], [], [], wait)[0]:
                    raise HarnessError(f"no boot within {BOOT_SECONDS} s")
                try:
                    machine.receive()
                except GuestGone as error:
                    raise HarnessError("the VM ended while it booted") from error

    def kill(self, machine: Machine) -> None:
        """Ends a machine without a word; its console is kept, and its cables lead nowhere."""
        machine.stop()
        self.remains.append((f"console.{machine.role}.killed-{len(self.remains)}",
                             machine.console.read_bytes()))
        self.dead.add(machine.role)

    def boot_again(self, old: Machine) -> Machine:
        """Another machine in place of one that was killed; the cables are plugged in later."""
        new = Machine(self.setup, old.role, self.cables)
        self.machines[self.machines.index(old)] = new
        return new

    def drains(self) -> list:
        """What to select for the sake of dead machines."""
        return [cable.ends[role] for cable in self.cables for role in self.dead]

    def drain(self) -> None:
        """Loses what was sent to them."""
        for role in self.dead:
            for cable in self.cables:
                cable.drain(role)

    def keep_logs(self, directory: Path) -> None:
        """Copies the consoles to where a person looks for them."""
        directory.mkdir(parents=True, exist_ok=True)
        for machine in self.machines:
            suffix = "" if machine.role == "run" else f".{machine.role}"
            for file in (machine.console, machine.output):
                if file.exists():
                    shutil.copy(file, directory / f"{file.name}{suffix}")
        for name, text in self.remains:
            (directory / name).write_bytes(text)

    def stop(self) -> None:
        """Ends the VMs; nothing of them stays."""
        for machine in self.machines:
            machine.stop()
        for cable in self.cables:
            cable.close()
        shutil.rmtree(self.directory, ignore_errors=True)


class Conversation:
    """Follows one case on all its VMs until each is done, dead or late."""

    def __init__(self, case: Case, fleet: Fleet, progress) -> None:
        self.case = case
        self.progress = progress
        self.fleet = fleet
        self.active = list(fleet.machines)
        self.outcomes = {machine.role: Outcome() for machine in fleet.machines}
        self.metrics: dict[str, str] = {}
        self.told: dict[str, str] = {}
        self.asking: dict[str, list[Machine]] = {}
        self.arrived: dict[str, list[Machine]] = {}
        self.given_up = False
        self.deadline = time.monotonic() + case.timeout
        self.problems: list[str] = []

    def run(self) -> None:
        """Starts the case everywhere and listens."""
        for machine in self.active:
            self.start(machine)
        while self.active:
            wait = self.deadline - time.monotonic()
            listen = [machine.control for machine in self.active] + self.fleet.drains()
            ready = select.select(listen, [], [], max(0, wait))[0]
            if not ready or wait <= 0:
                return self.give_up(self.active)
            self.fleet.drain()
            for machine in [m for m in self.active if m.control in ready]:
                if machine in self.active and not self.hear(machine):
                    self.active.remove(machine)
        return None

    def start(self, machine: Machine, again: str = "") -> None:
        """Lets a guest run the case."""
        machine.send(f"run {self.case.name} {self.case.file.name} {machine.role}"
                     f" {self.case.modules[machine.role]} {self.case.vms} {again}")

    def give_up(self, active: list[Machine]) -> None:
        """Out of time: lets the guests show where they hang."""
        self.problems.append(f"no end within {self.case.timeout} s")
        for machine in active:
            machine.dump_tasks()
            self.problems += klog.trouble_in(machine.console_text(), self.case.allow_log, 3)

    def hear(self, machine: Machine) -> bool:
        """Deals with what a guest has sent; False when it will send no more."""
        outcome = self.outcomes[machine.role]
        try:
            machine.receive()
            while (line := machine.line()) is not None:
                self.handle(machine, outcome, line)
        except GuestGone:
            self.problems.append(death_of(machine))
            self.abandon()
            return False
        return not outcome.done

    def handle(self, machine: Machine, outcome: Outcome, line: str) -> None:
        """One message of the protocol in tests/vm/init."""
        word, _, rest = line.partition(" ")
        if word == "verdict":
            outcome.verdict = rest
            if rest != "pass":
                self.abandon()
        elif word == "metric":
            name, _, value = rest.partition(" ")
            self.metrics[name] = value
        elif word == "progress":
            self.progress(rest)
        elif word in ("tell", "ask", "sync"):
            self.pass_on(machine, word, rest)
        elif word in ("kill", "boot"):
            self.deal_with_other(machine, word)
        elif word == "link":
            machine.set_link(*rest.split())
            machine.send("answer")
        elif word == "ready":
            self.fleet.dead.discard(machine.role)
            self.start(machine, "_again")
        elif word == "dmesg":
            outcome.log = machine.block(int(rest), self.deadline)
        elif word == "taint":
            outcome.taint = int(rest)
        elif word == "left":
            outcome.left.append(rest)
        elif word == "done":
            outcome.done = True
        else:
            self.problems.append(f"unknown message from the VM: {line[:80]}")

    def pass_on(self, machine: Machine, word: str, rest: str) -> None:
        """Values and meeting points between two VMs."""
        if word == "tell":
            key, _, value = rest.partition(" ")
            self.told[key] = value
            for waiting in self.asking.pop(key, []):
                waiting.send(f"answer {value}")
        elif self.given_up:
            machine.send("abort")
        elif word == "ask" and rest in self.told:
            machine.send(f"answer {self.told[rest]}")
        elif word == "ask":
            self.asking.setdefault(rest, []).append(machine)
        else:
            here = self.arrived.setdefault(rest, [])
            here.append(machine)
            if len(here) == len(self.fleet.machines):
                for waiting in self.arrived.pop(rest):
                    waiting.send("answer")

    def deal_with_other(self, machine: Machine, word: str) -> None:
        """Kills the other machine, or boots it again."""
        other = next(m for m in self.fleet.machines if m is not machine)
        if word == "kill":
            self.problems += klog.trouble_in(other.console_text(), self.case.allow_log)
            self.fleet.kill(other)
            if other in self.active:
                self.active.remove(other)
            for waiting in itertools.chain(self.asking.values(), self.arrived.values()):
                waiting[:] = [m for m in waiting if m is not other]
        else:
            self.outcomes[other.role] = Outcome()
            self.active.append(self.fleet.boot_again(other))
        machine.send("answer")

    def abandon(self) -> None:
        """One side has failed: nobody needs to wait for it any longer."""
        self.given_up = True
        waiting = [*self.asking.values(), *self.arrived.values()]
        self.asking, self.arrived = {}, {}
        for machine in itertools.chain(*waiting):
            try:
                machine.send("abort")
            except GuestGone:
                pass


def death_of(machine: Machine) -> str:
    """Why a VM ended, from its console."""
    trouble = klog.trouble_in(machine.console_text(), limit=1)
    where = "" if machine.role == "run" else f" ({machine.role})"
    return f"the VM died{where}: {trouble[0] if trouble else 'no reason on its console'}"


def judge(case: Case, talk: Conversation, result: Result) -> None:
    """Fills the result from what all sides have told."""
    findings = list(talk.problems)
    for role, outcome in talk.outcomes.items():
        found = []
        if outcome.verdict.startswith("skip"):
            result.skipped = outcome.verdict.partition(" ")[2] or "no reason"
        elif outcome.verdict.startswith("fail"):
            found.append(outcome.verdict.partition(" ")[2])
        elif outcome.verdict != "pass" and not talk.problems:
            found.append("no verdict came from the case")
        found += klog.trouble_in(outcome.log, case.allow_log) + klog.unpaired_in(outcome.log)
        if taint := klog.taint_text(outcome.taint):
            found.append(f"kernel tainted: {taint}")
        found += outcome.left
        findings += [f"{role}: {text}" if case.vms == 2 else text for text in found]
    result.findings = findings
    result.metrics = talk.metrics


class Runner:
    """Runs a list of cases and keeps VMs from one to the next where it can."""

    def __init__(self, kernel: Kernel, initramfs: Path, accel: str, report, progress) -> None:
        self.kernel = kernel
        self.initramfs = initramfs
        self.accel = accel
        self.report = report
        self.progress = progress
        self.fleet: Fleet | None = None
        self.logs = BUILD / "test-logs"

    def run(self, cases: list[Case]) -> list[Result]:
        """All cases, those with the same machines beside each other."""
        results = []
        try:
            for case in sorted(cases, key=lambda c: c.machine):
                results.append(self.run_one(case))
                self.report(results[-1])
        finally:
            self.stop()
        return results

    def run_one(self, case: Case) -> Result:
        """One case, with logs kept and the time taken."""
        directory = self.logs / case.name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        result = Result(case)
        started = time.monotonic()
        try:
            if case.vms == 0:
                self.run_on_host(case, directory, result)
            else:
                self.run_in_vms(case, directory, result)
        except HarnessError as error:
            result.findings.append(str(error))
            self.stop()
        result.seconds = time.monotonic() - started
        lines = [f"{result.word} {case.name} {result.seconds:.1f} s", *result.findings]
        (directory / "result").write_text("\n".join(lines) + "\n")
        return result

    def run_on_host(self, case: Case, directory: Path, result: Result) -> None:
        """A case about the harness itself, or about scripts."""
        self.stop()
        environment = os.environ | case.variables | {"RTRS_LOCKED": "1", "RTRS_ACCEL": self.accel,
                                                     "RTRS_SERIES": self.kernel.series}
        with open(directory / "output", "wb") as output:
            try:
                done = subprocess.run(["bash", case.file], cwd=TOP, env=environment, check=False,
                                      stdin=subprocess.DEVNULL, stdout=output, timeout=case.timeout,
                                      stderr=subprocess.STDOUT)
            except subprocess.TimeoutExpired:
                result.findings.append(f"no end within {case.timeout} s")
                return
        if done.returncode != 0:
            lines = (directory / "output").read_text(errors="replace").splitlines()
            result.findings += lines[-5:] or [f"exit status {done.returncode}"]

    def run_in_vms(self, case: Case, directory: Path, result: Result) -> None:
        """Boots if needed, runs the case, keeps its logs."""
        fleet = self.boot(case)
        talk = Conversation(case, fleet, self.progress)
        for machine in fleet.machines:
            machine.mark()
        try:
            talk.run()
        except GuestGone:
            talk.problems.append("the VM does not listen any more")
        judge(case, talk, result)
        keep_case_logs(fleet, talk, directory)
        if result.findings:
            self.stop()

    def boot(self, case: Case) -> Fleet:
        """The VMs that run already, or new ones; KVM where it works. A benchmark must not
        depend on what ran before it."""
        if self.fleet and self.fleet.machine == case.machine and self.accel != "icount":
            return self.fleet
        self.stop()
        try:
            self.fleet = Fleet(case, self.kernel, self.initramfs, self.choose_accel())
        except HarnessError as error:
            if self.accel != "auto" or not kvm_usable():
                raise
            say(f"KVM does not work here ({error}); emulating instead")
            self.accel = "tcg"
            remember_broken_kvm()
            self.fleet = Fleet(case, self.kernel, self.initramfs, "tcg")
        return self.fleet

    def choose_accel(self) -> str:
        """`auto` means KVM if it can be opened."""
        if self.accel != "auto":
            return self.accel
        return "kvm" if kvm_usable() else "tcg"

    def stop(self) -> None:
        """Ends the VMs of the last boot."""
        if self.fleet:
            self.fleet.stop()
        self.fleet = None


def keep_case_logs(fleet: Fleet, talk: Conversation, directory: Path) -> None:
    """What the case printed and measured, its kernel log, the console so far."""
    fleet.keep_logs(directory)
    for machine in fleet.machines:
        suffix = "" if machine.role == "run" else f".{machine.role}"
        (directory / f"dmesg{suffix}").write_text(talk.outcomes[machine.role].log)
        (directory / f"output{suffix}").write_text(machine.output_text())
    figures = "".join(f"{name} {value}\n" for name, value in talk.metrics.items())
    (directory / "metrics").write_text(figures)
