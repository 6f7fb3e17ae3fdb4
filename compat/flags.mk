# SPDX-License-Identifier: GPL-2.0
# Compiler flags that every module of this project needs, the test modules
# included: where the headers are, our version, and what the kernel offers.
# Included from a Kbuild file.

rtrs-root := $(patsubst %/,%,$(dir $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))))
rtrs-version := $(shell sed -n 's/^Version: //p' $(rtrs-root)/META)

ccflags-y += -I$(rtrs-root) -DRTRS_VERSION='"$(rtrs-version)"'
ccflags-y += $(shell $(rtrs-root)/compat/probe $(srctree)/include)
