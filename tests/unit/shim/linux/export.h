/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_EXPORT_H
#define SHIM_LINUX_EXPORT_H

/* A symbol of a module is one of the test program, so this is nothing. */
#define EXPORT_SYMBOL_GPL(name)	struct shim_exported_##name

#endif /* SHIM_LINUX_EXPORT_H */
