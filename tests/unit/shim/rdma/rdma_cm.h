/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_RDMA_RDMA_CM_H
#define SHIM_RDMA_RDMA_CM_H

/* The service ids of RDMA_PS_IB; the port is in the last 16 bits. */
#define RDMA_IB_IP_PS_IB	0x00000000013F0000ULL

#endif /* SHIM_RDMA_RDMA_CM_H */
