/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RTRS wire protocol, version 2.0: what both ends put on the wire.
 *
 * Message fields are little endian; immediate data is one 32-bit word that
 * the verbs carry in network order.  doc/protocol.md explains the exchange.
 *
 * User-space programs (unit tests, test peers) include this very file.
 */
#ifndef RTRS_PRI_H
#define RTRS_PRI_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <assert.h>
#include <stddef.h>
#endif

#define RTRS_MAGIC		0x1BBD
#define RTRS_PROTO_VER_MAJOR	2
#define RTRS_PROTO_VER_MINOR	0
#define RTRS_PROTO_VER		((RTRS_PROTO_VER_MAJOR << 8) | \
				 RTRS_PROTO_VER_MINOR)

enum rtrs_limits {
	RTRS_MAX_PATHS		= 128,
	RTRS_MAX_NAME		= 255,		/* with the NUL */
	RTRS_UUID_SIZE		= 16,
	RTRS_MAX_QUEUE_DEPTH	= 65535,
	RTRS_MIN_CHUNK_SIZE	= 8192,
	RTRS_DEF_QUEUE_DEPTH	= 512,
	RTRS_DEF_CHUNK_SIZE	= 131072,
	RTRS_DEF_PORT		= 1234,
	RTRS_RETRY_COUNT	= 7,		/* of RC, also for RNR */
	RTRS_HB_INTERVAL_MS	= 5000,
	RTRS_HB_MISSED_MAX	= 5,
};

/* Immediate data: type in bits 31..28, payload in bits 27..0. */
enum rtrs_imm_layout {
	RTRS_IMM_TYPE_BITS	= 4,
	RTRS_IMM_PAYLOAD_BITS	= 28,
	RTRS_IMM_PAYLOAD_MASK	= (1 << RTRS_IMM_PAYLOAD_BITS) - 1,
	/* payload of an answer: errno in bits 27..19, msg_id in bits 18..0 */
	RTRS_IMM_MSG_ID_BITS	= 19,
	RTRS_IMM_MSG_ID_MASK	= (1 << RTRS_IMM_MSG_ID_BITS) - 1,
	RTRS_IMM_ERRNO_MAX	= (1 << 9) - 1,
};

/**
 * enum rtrs_imm_type - what a word of immediate data says
 * @RTRS_IO_REQ_IMM: a request; payload: chunk number, offset of the header
 * @RTRS_IO_RSP_IMM: an answer; payload: errno, msg_id
 * @RTRS_IO_RSP_W_INV_IMM: an answer behind a SEND_WITH_INV for the read's key
 * @RTRS_HB_MSG_IMM: heartbeat; payload 0; on cid 0
 * @RTRS_HB_ACK_IMM: answer to a heartbeat; payload 0; on cid 0
 */
enum rtrs_imm_type {
	RTRS_IO_REQ_IMM		= 0,
	RTRS_IO_RSP_IMM		= 1,
	RTRS_IO_RSP_W_INV_IMM	= 2,
	RTRS_HB_MSG_IMM		= 8,
	RTRS_HB_ACK_IMM		= 9,
};

/**
 * enum rtrs_msg_types - type of a message
 * @RTRS_MSG_INFO_REQ: struct rtrs_msg_info_req, client to server
 * @RTRS_MSG_INFO_RSP: struct rtrs_msg_info_rsp, server to client
 * @RTRS_MSG_WRITE: struct rtrs_msg_rdma_write, in a chunk
 * @RTRS_MSG_READ: struct rtrs_msg_rdma_read, in a chunk
 * @RTRS_MSG_RKEY_RSP: struct rtrs_msg_rkey_rsp, server to client
 */
enum rtrs_msg_types {
	RTRS_MSG_INFO_REQ	= 0,
	RTRS_MSG_INFO_RSP	= 1,
	RTRS_MSG_WRITE		= 2,
	RTRS_MSG_READ		= 3,
	RTRS_MSG_RKEY_RSP	= 4,
};

/**
 * enum rtrs_msg_flags - flags of messages
 * @RTRS_MSG_NEED_INVAL_F: rdma_read: invalidate the key when you answer
 * @RTRS_MSG_NEW_RKEY_F: conn_rsp: each answer brings the chunk's next key
 */
enum rtrs_msg_flags {
	RTRS_MSG_NEED_INVAL_F	= 1 << 0,
	RTRS_MSG_NEW_RKEY_F	= 1 << 1,
};

/**
 * struct rtrs_sg_desc - memory that the peer may write to
 * @addr: address
 * @key: remote key
 * @len: bytes
 */
struct rtrs_sg_desc {
	__le64 addr;
	__le32 key;
	__le32 len;
};

/**
 * struct rtrs_msg_conn_req - private data of rdma_connect()
 * @__cma_version: zero, the CM's own in AF_IB addressing
 * @__ip_version: zero, likewise
 * @magic: RTRS_MAGIC
 * @version: major << 8 | minor
 * @cid: number of this connection, 0..@cid_num-1
 * @cid_num: connections of the path
 * @recon_cnt: grows with every attempt of the path
 * @sess_uuid: identifies the path
 * @paths_uuid: identifies the session
 * @first_conn: bit 0: the server may create the session for this request
 * @reserved: zero
 */
struct rtrs_msg_conn_req {
	__u8 __cma_version;
	__u8 __ip_version;
	__le16 magic;
	__le16 version;
	__le16 cid;
	__le16 cid_num;
	__le16 recon_cnt;
	__u8 sess_uuid[RTRS_UUID_SIZE];
	__u8 paths_uuid[RTRS_UUID_SIZE];
	__u8 first_conn;
	__u8 reserved[11];
};

/**
 * struct rtrs_msg_conn_rsp - private data of rdma_accept() or rdma_reject()
 * @magic: RTRS_MAGIC
 * @version: major << 8 | minor
 * @err: 0 with accept; with reject a negative errno in two's complement
 * @queue_depth: chunks of the session
 * @max_io_size: largest data of a request, bytes
 * @max_hdr_size: largest user message and header together, bytes
 * @flags: RTRS_MSG_NEW_RKEY_F
 * @reserved: zero
 */
struct rtrs_msg_conn_rsp {
	__le16 magic;
	__le16 version;
	__le16 err;
	__le16 queue_depth;
	__le32 max_io_size;
	__le32 max_hdr_size;
	__le32 flags;
	__u8 reserved[36];
};

/**
 * struct rtrs_msg_info_req - the client's SEND once all connections are up
 * @type: RTRS_MSG_INFO_REQ
 * @pathname: name of the session, NUL terminated
 * @reserved: zero
 */
struct rtrs_msg_info_req {
	__le16 type;
	__u8 pathname[RTRS_MAX_NAME];
	__u8 reserved[15];
};

/**
 * struct rtrs_msg_info_rsp - the server's answer: where the chunks are
 * @type: RTRS_MSG_INFO_RSP
 * @sg_cnt: number of @desc; divides queue_depth
 * @reserved: zero
 * @desc: each covers a whole number of chunks, in order
 */
struct rtrs_msg_info_rsp {
	__le16 type;
	__le16 sg_cnt;
	__u8 reserved[4];
	struct rtrs_sg_desc desc[];
};

/**
 * struct rtrs_msg_rdma_write - header of a write, behind the user message
 * @type: RTRS_MSG_WRITE
 * @usr_len: bytes of the user message in front of this header
 */
struct rtrs_msg_rdma_write {
	__le16 type;
	__le16 usr_len;
};

/**
 * struct rtrs_msg_rdma_read - header of a read, behind the user message
 * @type: RTRS_MSG_READ
 * @usr_len: bytes of the user message in front of this header
 * @flags: RTRS_MSG_NEED_INVAL_F
 * @sg_cnt: number of @desc, 0 or 1
 * @desc: the client's buffer
 */
struct rtrs_msg_rdma_read {
	__le16 type;
	__le16 usr_len;
	__le16 flags;
	__le16 sg_cnt;
	struct rtrs_sg_desc desc[];
};

/**
 * struct rtrs_msg_rkey_rsp - the chunk's next key, with an answer
 * @type: RTRS_MSG_RKEY_RSP
 * @buf_id: chunk number
 * @rkey: its key from now on
 */
struct rtrs_msg_rkey_rsp {
	__le16 type;
	__le16 buf_id;
	__le32 rkey;
};

static_assert(sizeof(struct rtrs_sg_desc) == 16);
static_assert(sizeof(struct rtrs_msg_conn_req) == 56);
static_assert(offsetof(struct rtrs_msg_conn_req, magic) == 2);
static_assert(offsetof(struct rtrs_msg_conn_req, version) == 4);
static_assert(offsetof(struct rtrs_msg_conn_req, cid) == 6);
static_assert(offsetof(struct rtrs_msg_conn_req, cid_num) == 8);
static_assert(offsetof(struct rtrs_msg_conn_req, recon_cnt) == 10);
static_assert(offsetof(struct rtrs_msg_conn_req, sess_uuid) == 12);
static_assert(offsetof(struct rtrs_msg_conn_req, paths_uuid) == 28);
static_assert(offsetof(struct rtrs_msg_conn_req, first_conn) == 44);
static_assert(sizeof(struct rtrs_msg_conn_rsp) == 56);
static_assert(offsetof(struct rtrs_msg_conn_rsp, queue_depth) == 6);
static_assert(offsetof(struct rtrs_msg_conn_rsp, max_io_size) == 8);
static_assert(offsetof(struct rtrs_msg_conn_rsp, max_hdr_size) == 12);
static_assert(offsetof(struct rtrs_msg_conn_rsp, flags) == 16);
static_assert(sizeof(struct rtrs_msg_info_req) == 272);
static_assert(offsetof(struct rtrs_msg_info_req, pathname) == 2);
static_assert(sizeof(struct rtrs_msg_info_rsp) == 8);
static_assert(sizeof(struct rtrs_msg_rdma_write) == 4);
static_assert(sizeof(struct rtrs_msg_rdma_read) == 8);
static_assert(sizeof(struct rtrs_msg_rkey_rsp) == 8);

#endif /* RTRS_PRI_H */
