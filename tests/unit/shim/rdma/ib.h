/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_RDMA_IB_H
#define SHIM_RDMA_IB_H

#include <asm/byteorder.h>
#include <linux/types.h>

/* As in the kernel's rdma/ib.h. */
struct ib_addr {
	union {
		__u8 sib_raw[16];
		__be16 sib_addr16[8];
		__be32 sib_addr32[4];
		__be64 sib_addr64[2];
	};
};

struct sockaddr_ib {
	unsigned short sib_family;
	__be16 sib_pkey;
	__be32 sib_flowinfo;
	struct ib_addr sib_addr;
	__be64 sib_sid;
	__be64 sib_sid_mask;
	__u64 sib_scope_id;
};

#endif /* SHIM_RDMA_IB_H */
