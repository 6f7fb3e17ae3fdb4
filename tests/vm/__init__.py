# SPDX-License-Identifier: GPL-2.0
"""Runs test cases in virtual machines; tests/README.md tells how to use it."""
