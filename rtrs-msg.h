/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages in host form: what rtrs-msg.c builds and what it has checked.
 *
 * Every value that a peer sent is taken from one of these structures, never
 * from the wire structure itself.  No I/O, no allocation, no kernel object:
 * the unit tests compile this in user space.
 */
#ifndef RTRS_MSG_H
#define RTRS_MSG_H

#include "rtrs-pri.h"

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/log2.h>
#endif

/**
 * struct rtrs_conn_req - a connection request
 * @cid: number of the connection, below @cid_num
 * @cid_num: connections of the path, at least 1
 * @recon_cnt: attempt of the path
 * @version: what the client speaks
 * @first_conn: the session may be created for this request
 * @sess_uuid: identifies the path
 * @paths_uuid: identifies the session
 */
struct rtrs_conn_req {
	u16 cid;
	u16 cid_num;
	u16 recon_cnt;
	u16 version;
	bool first_conn;
	u8 sess_uuid[RTRS_UUID_SIZE];
	u8 paths_uuid[RTRS_UUID_SIZE];
};

/**
 * struct rtrs_conn_rsp - the answer to a connection request
 * @err: 0 when accepted, else the server's negative errno
 * @queue_depth: chunks, 1..RTRS_MAX_QUEUE_DEPTH
 * @max_io_size: largest data of a request, bytes
 * @max_hdr_size: largest user message and header together, bytes
 * @new_rkey: each answer brings the chunk's next key
 *
 * @max_io_size + @max_hdr_size is the size of a chunk: a power of two that
 * fits the immediate data together with @queue_depth.  With @err set the rest
 * means nothing.
 */
struct rtrs_conn_rsp {
	int err;
	u32 queue_depth;
	u32 max_io_size;
	u32 max_hdr_size;
	bool new_rkey;
};

/**
 * struct rtrs_io_req - a request found in a chunk
 * @write: the direction: true for a write, false for a read
 * @need_inval: read: invalidate @desc's key with the answer
 * @data_len: bytes of data at the chunk's start, or wanted there by a read
 * @usr_len: bytes of the user message, which starts at @data_len
 * @addr: read with data: the client's buffer
 * @key: read with data: its key
 * @has_desc: a read that says where its data goes
 */
struct rtrs_io_req {
	bool write;
	bool need_inval;
	bool has_desc;
	u32 data_len;
	u32 usr_len;
	u64 addr;
	u32 key;
};

/**
 * rtrs_imm() - put a word of immediate data together
 * @type: enum rtrs_imm_type
 * @payload: at most RTRS_IMM_PAYLOAD_MASK
 *
 * Return: the word in host order.
 */
static inline u32 rtrs_imm(enum rtrs_imm_type type, u32 payload)
{
	return (u32)type << RTRS_IMM_PAYLOAD_BITS | payload;
}

static inline u32 rtrs_imm_type(u32 imm)
{
	return imm >> RTRS_IMM_PAYLOAD_BITS;
}

static inline u32 rtrs_imm_payload(u32 imm)
{
	return imm & RTRS_IMM_PAYLOAD_MASK;
}

/**
 * rtrs_imm_off_bits() - bits of a request's payload that hold the offset
 * @queue_depth: chunks of the session, at least 1
 *
 * Return: the number of bits; the chunk number is above them.
 */
static inline u32 rtrs_imm_off_bits(u32 queue_depth)
{
	return RTRS_IMM_PAYLOAD_BITS - order_base_2(queue_depth);
}

static inline u32 rtrs_imm_rsp_id(u32 payload)
{
	return payload & RTRS_IMM_MSG_ID_MASK;
}

/* The errno of an answer, 0 or negative. */
static inline int rtrs_imm_rsp_err(u32 payload)
{
	return -(int)(payload >> RTRS_IMM_MSG_ID_BITS);
}

u32 rtrs_imm_rsp(bool with_inv, u32 msg_id, int err);

int __must_check rtrs_check_geometry(u32 queue_depth, u64 chunk_size,
				     const char **rule);
int __must_check rtrs_check_name(const char *name, size_t len,
				 const char **rule);

void rtrs_put_conn_req(struct rtrs_msg_conn_req *msg,
		       const struct rtrs_conn_req *req);
int __must_check rtrs_get_conn_req(const void *data, size_t len,
				   struct rtrs_conn_req *req,
				   const char **rule);
void rtrs_put_conn_rsp(struct rtrs_msg_conn_rsp *msg,
		       const struct rtrs_conn_rsp *rsp);
int __must_check rtrs_get_conn_rsp(const void *data, size_t len, bool accepted,
				   struct rtrs_conn_rsp *rsp,
				   const char **rule);
void rtrs_put_info_req(struct rtrs_msg_info_req *msg, const char *name);
int __must_check rtrs_get_info_req(const void *data, size_t len,
				   char name[RTRS_MAX_NAME],
				   const char **rule);
int __must_check rtrs_check_info_rsp(const void *data, size_t len,
				     const struct rtrs_conn_rsp *geo,
				     const char **rule);
int __must_check rtrs_get_io_req(const void *chunk, u32 off,
				 const struct rtrs_conn_rsp *geo,
				 struct rtrs_io_req *req, const char **rule);
void rtrs_put_rkey_rsp(struct rtrs_msg_rkey_rsp *msg, u32 buf_id, u32 rkey);
int __must_check rtrs_get_rkey_rsp(const void *data, size_t len, u32 buf_id,
				   u32 *rkey, const char **rule);

#endif /* RTRS_MSG_H */
