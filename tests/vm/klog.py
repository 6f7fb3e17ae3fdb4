# SPDX-License-Identifier: GPL-2.0
"""Looks for trouble in a kernel log."""

import re
from collections import Counter

TROUBLE = re.compile(
    r"WARNING: |BUG: |\bBUG\b at|kernel BUG|Oops\b|general protection|KASAN|KCSAN|KFENCE|UBSAN"
    r"|possible (circular|irq|recursive)|inconsistent lock state|suspicious RCU|lock held when"
    r"|INFO: task .* blocked|INFO: rcu|detected stall|soft lockup|hard LOCKUP|DEADLOCK"
    r"|refcount_t: |list_(add|del) corruption|Unable to handle|unable to handle|page fault"
    r"|sysfs: cannot create duplicate|kobject_add_internal failed|Objects remaining"
    r"|ODEBUG|DMA-API|kmemleak|stack-protector|Kernel panic|Call Trace|RIP: 0010"
    r"|mr->lkey .*not free|unknown parameter '.*' ignored"
)

# Bits of /proc/sys/kernel/tainted that say only whose module is loaded.
HARMLESS_TAINT = 1 << 12 | 1 << 13

TAINTS = {0: "proprietary module", 1: "forced load", 4: "machine check", 5: "bad page", 7: "Oops",
          9: "WARN", 14: "soft lockup"}

PAIRED = re.compile(r"\b(created|destroyed) ([a-z][\w-]*) (\S+)")


def trouble_in(log: str, allowed: str = "", limit: int = 5) -> list[str]:
    """The lines that no case may cause, at most a few."""
    harmless = re.compile(allowed) if allowed else None
    found = [line.strip() for line in log.splitlines() if TROUBLE.search(line)
             and not (harmless and harmless.search(line))]
    return found[:limit]


def unpaired_in(log: str) -> list[str]:
    """Objects created and not destroyed, or destroyed more often than created."""
    balance: Counter[str] = Counter()
    for line in log.splitlines():
        if "rtrs" in line and (match := PAIRED.search(line)):
            balance[f"{match[2]} {match[3]}"] += 1 if match[1] == "created" else -1
    lines = [f"created but never destroyed: {what}" for what, n in balance.items() if n > 0]
    lines += [f"destroyed but not created: {what}" for what, n in balance.items() if n < 0]
    return lines[:5] + ([f"and {len(lines) - 5} more such objects"] if len(lines) > 5 else [])


def taint_text(taint: int) -> str:
    """What the taint bits mean, '' when they are harmless."""
    bits = [n for n in range(32) if (taint & ~HARMLESS_TAINT) >> n & 1]
    return ", ".join(TAINTS.get(n, f"bit {n}") for n in bits)
