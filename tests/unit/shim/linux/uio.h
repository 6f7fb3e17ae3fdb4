/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_UIO_H
#define SHIM_LINUX_UIO_H

#include <sys/uio.h>
#include <stddef.h>

struct kvec {
	void *iov_base;
	size_t iov_len;
};

#endif /* SHIM_LINUX_UIO_H */
