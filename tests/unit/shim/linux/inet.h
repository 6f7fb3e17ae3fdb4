/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_INET_H
#define SHIM_LINUX_INET_H

#include <linux/socket.h>
#include <linux/types.h>
#include <net/net_namespace.h>

/*
 * As lenient as the kernel's, in what they take for the end of an address:
 * that is what the code under test has to make up for.
 */
int in4_pton(const char *src, int srclen, u8 *dst, int delim, const char **end);
int in6_pton(const char *src, int srclen, u8 *dst, int delim, const char **end);
int inet_pton_with_scope(struct net *net, unsigned short af, const char *src,
			 const char *port, struct sockaddr_storage *addr);

#endif /* SHIM_LINUX_INET_H */
