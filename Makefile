# SPDX-License-Identifier: GPL-2.0
# Builds, installs and tests the RTRS modules. `make help` lists the targets;
# what goes into which module stands in Kbuild.

KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build

# Ahead of modules of the same name that the kernel came with.
INSTALL_MOD_DIR ?= updates

MODULES := $(MAKE) -C $(KDIR) M=$(CURDIR)

modules: kernel-ok
	+$(MODULES) modules

# A build against a kernel that cannot work ends here, with one line.
kernel-ok:
	@scripts/kernel-ok $(KDIR)

install: modules
	+$(MODULES) INSTALL_MOD_DIR=$(INSTALL_MOD_DIR) modules_install

clean:
	@if [ -d $(KDIR) ]; then $(MODULES) clean; fi

demo:
	scripts/demo

# Without KDIR or KVER, scripts/check looks for a kernel by itself.
check:
	@KDIR=$(if $(filter filefile,$(origin KDIR)$(origin KVER)),,$(KDIR)) \
		scripts/check

check-long:
	scripts/check --long

man:
	scripts/check man

deb:
	scripts/build-deb

check-deb:
	scripts/check-deb

bench:
	scripts/setup build vm
	scripts/bench $(BENCH)

matrix:
	scripts/matrix $(KERNELS) -- $(CASES)

help:
	@echo 'make            build rtrs-core, rtrs-client and rtrs-server'
	@echo 'make install    install the modules (as root), then run depmod'
	@echo 'make clean      remove what make has built; build/ stays'
	@echo 'make demo       show a remote disk at work in a VM (as root)'
	@echo 'make check      static checks, unit tests, VM cases (as root)'
	@echo 'make check-long the VM cases that take too long for that'
	@echo 'make man        manual pages, in build/man'
	@echo 'make deb        Debian packages, in build/deb'
	@echo 'make check-deb  make them, and install them in a new Debian (as root)'
	@echo 'make matrix     a table of kernels: build, rnbd, VM cases (as root)'
	@echo 'make bench      what an I/O costs, here and on other transports (as root)'
	@echo
	@echo 'KDIR=DIR        build for the kernel whose build directory DIR is'
	@echo 'KVER=RELEASE    the same as KDIR=/lib/modules/RELEASE/build'
	@echo '                (default: $(KVER), the running kernel)'
	@echo 'KERNELS="6.1 7.3" CASES="rnbd-fio"  what make matrix runs'
	@echo 'BENCH="--mtu 9000"  options for scripts/bench'
	@echo 'W=1 C=2 V=1     as in the kernel: warnings, sparse, commands'

.DEFAULT_GOAL := modules
.PHONY: modules kernel-ok install clean demo check check-long man deb check-deb matrix bench help
