/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_COMPILER_H
#define SHIM_LINUX_COMPILER_H

#define __must_check	__attribute__((__warn_unused_result__))
#define __packed	__attribute__((__packed__))
#define __aligned(x)	__attribute__((__aligned__(x)))
#define __printf(a, b)	__attribute__((__format__(printf, a, b)))
#define fallthrough	__attribute__((__fallthrough__))

#endif /* SHIM_LINUX_COMPILER_H */
