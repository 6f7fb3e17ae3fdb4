/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_KERNEL_H
#define SHIM_LINUX_KERNEL_H

#include <asm/byteorder.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define MAX_ERRNO	4095

#define ARRAY_SIZE(arr) (sizeof(arr) / sizeof((arr)[0]))

#define min_t(type, a, b) \
	((type)(a) < (type)(b) ? (type)(a) : (type)(b))

/*
 * Understands what the sources under test print, no more: %s, %u, %d,
 * %pI4, %pI6 and %pI6c. Anything else ends the test program.
 */
int scnprintf(char *buf, size_t size, const char *fmt, ...);

#endif /* SHIM_LINUX_KERNEL_H */
