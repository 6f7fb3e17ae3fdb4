/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_NET_NET_NAMESPACE_H
#define SHIM_NET_NET_NAMESPACE_H

struct net {
	int unused;
};

extern struct net init_net;

#endif /* SHIM_NET_NET_NAMESPACE_H */
