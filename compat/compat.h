/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One kernel API for the rest of the sources: that of the newest kernel.
 *
 * This directory holds all that we know about differences between kernels.
 * compat/probe looks for each feature in the kernel's headers and passes what
 * it found as RTRS_HAVE_...; here, what an older kernel lacks is supplied
 * under the name that it has in a newer one. To add a difference: a line in
 * compat/probe, a block here, nothing anywhere else.
 */
#ifndef RTRS_COMPAT_H
#define RTRS_COMPAT_H

#include <linux/device.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#ifdef RTRS_HAVE_LINUX_UNALIGNED_H
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/*
 * Newer kernels want each workqueue to say whether it is bound to CPUs, and
 * warn when it does not. In older ones bound is what you get without a flag.
 */
#ifndef RTRS_HAVE_WQ_PERCPU
#define WQ_PERCPU 0
#endif

/* Older kernels want to know which module owns a class. */
#ifdef RTRS_HAVE_CLASS_CREATE_OWNER
static inline struct class * __must_check rtrs_class_create(const char *name)
{
	return class_create(THIS_MODULE, name);
}

#undef class_create
#define class_create(name) rtrs_class_create(name)
#endif

#endif /* RTRS_COMPAT_H */
