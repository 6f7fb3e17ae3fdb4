/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_LOG2_H
#define SHIM_LINUX_LOG2_H

#include <linux/types.h>

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

/* The smallest order for which 1 << order is at least @n. */
static inline unsigned int order_base_2(unsigned long n)
{
	unsigned int order = 0;

	while (order < 63 && 1UL << order < n)
		order++;
	return order;
}

#endif /* SHIM_LINUX_LOG2_H */
