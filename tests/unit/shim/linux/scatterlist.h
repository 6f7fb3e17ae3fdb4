/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_SCATTERLIST_H
#define SHIM_LINUX_SCATTERLIST_H

struct scatterlist;

#endif /* SHIM_LINUX_SCATTERLIST_H */
