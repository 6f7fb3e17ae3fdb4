// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS core: build messages, and check those that a peer sent.
 *
 * The only place that turns bytes from the wire into numbers.  A get function
 * reads each byte once, checks every value against the rules of the protocol
 * and fills a structure in host form; what it refuses, it refuses with an
 * errno and the rule that was broken, in words for the log.  Callers never
 * look at a wire structure from a peer themselves.
 *
 * Memory that the peer can still write to (a chunk whose key is valid) is
 * copied before it is looked at, so that the values that were checked are the
 * values that are used.
 *
 * Pure: no I/O, no allocation, no locks, no kernel objects.  Any context.  The
 * unit tests compile this file in user space.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "rtrs-msg.h"

static int broken(const char **rule, const char *text, int err)
{
	*rule = text;
	return err;
}

static u32 chunk_size(const struct rtrs_conn_rsp *geo)
{
	return geo->max_io_size + geo->max_hdr_size;
}

/**
 * rtrs_imm_rsp() - immediate data of an answer
 * @with_inv: a SEND_WITH_INV was sent before
 * @msg_id: chunk number
 * @err: 0 or a negative errno; one that does not fit is sent as EIO
 *
 * Return: the word in host order.
 */
u32 rtrs_imm_rsp(bool with_inv, u32 msg_id, int err)
{
	u32 num = err < 0 ? -(u32)err : err;

	if (num > RTRS_IMM_ERRNO_MAX)
		num = EIO;
	return rtrs_imm(with_inv ? RTRS_IO_RSP_W_INV_IMM : RTRS_IO_RSP_IMM,
			num << RTRS_IMM_MSG_ID_BITS |
			(msg_id & RTRS_IMM_MSG_ID_MASK));
}
EXPORT_SYMBOL_GPL(rtrs_imm_rsp);

/**
 * rtrs_check_geometry() - can a session have these chunks
 * @queue_depth: number of chunks
 * @chunk_size: bytes of a chunk
 * @rule: set to the rule that is broken
 *
 * Return: 0 or -EINVAL.
 */
int rtrs_check_geometry(u32 queue_depth, u64 chunk_size, const char **rule)
{
	if (!queue_depth || queue_depth > RTRS_MAX_QUEUE_DEPTH)
		return broken(rule, "queue depth must be 1..65535", -EINVAL);
	if (chunk_size < RTRS_MIN_CHUNK_SIZE ||
	    chunk_size > 1u << RTRS_IMM_PAYLOAD_BITS ||
	    chunk_size & (chunk_size - 1))
		return broken(rule,
			      "chunk size must be a power of two, 8192 or more",
			      -EINVAL);
	if (order_base_2((u32)chunk_size) > rtrs_imm_off_bits(queue_depth))
		return broken(rule,
			      "chunk number and offset must fit 28 bits of immediate data",
			      -EINVAL);
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_check_geometry);

/* Length of the UTF-8 sequence at @s, which is @code; 0 if it is none. */
static size_t utf8_char(const u8 *s, size_t len, u32 *code)
{
	static const u32 smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n, i;

	n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 :
	    s[0] < 0xf0 ? 3 : s[0] < 0xf8 ? 4 : 0;
	if (!n || n > len)
		return 0;
	*code = n == 1 ? s[0] : s[0] & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	/* Longer than need be, a half of a surrogate pair, beyond Unicode. */
	if (*code < smallest[n] || (*code >= 0xd800 && *code <= 0xdfff) ||
	    *code > 0x10ffff)
		return 0;
	return n;
}

/**
 * rtrs_check_name() - can a session have this name
 * @name: the name, not NUL terminated
 * @len: its length in bytes
 * @rule: set to the rule that is broken
 *
 * The name becomes a directory of sysfs on both sides, and a part of lines in
 * the log: it is UTF-8 without control characters.
 *
 * Return: 0 or -EINVAL.
 */
int rtrs_check_name(const char *name, size_t len, const char **rule)
{
	size_t n;
	u32 c;

	if (!len)
		return broken(rule, "session name must not be empty", -EINVAL);
	if (len >= RTRS_MAX_NAME)
		return broken(rule, "session name is longer than 254 bytes",
			      -EINVAL);
	for (; len; name += n, len -= n) {
		n = utf8_char((const u8 *)name, len, &c);
		if (!n)
			return broken(rule, "session name must be UTF-8",
				      -EINVAL);
		if (c == '/' || c == '.')
			return broken(rule,
				      "session name must not contain '/' or '.'",
				      -EINVAL);
		if (c < ' ' || (c >= 0x7f && c < 0xa0))
			return broken(rule,
				      "session name must not contain control characters",
				      -EINVAL);
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_check_name);

/* Magic and version, common to request and answer of a connection. */
static int check_greeting(u16 magic, u16 version, const char **rule)
{
	if (magic != RTRS_MAGIC)
		return broken(rule, "wrong magic", -ECONNRESET);
	if (version >> 8 != RTRS_PROTO_VER_MAJOR)
		return broken(rule, "another major version of the protocol",
			      -ECONNRESET);
	return 0;
}

/**
 * rtrs_put_conn_req() - build a connection request
 * @msg: filled in
 * @req: what to ask for; its version is not used
 */
void rtrs_put_conn_req(struct rtrs_msg_conn_req *msg,
		       const struct rtrs_conn_req *req)
{
	memset(msg, 0, sizeof(*msg));
	msg->magic = cpu_to_le16(RTRS_MAGIC);
	msg->version = cpu_to_le16(RTRS_PROTO_VER);
	msg->cid = cpu_to_le16(req->cid);
	msg->cid_num = cpu_to_le16(req->cid_num);
	msg->recon_cnt = cpu_to_le16(req->recon_cnt);
	msg->first_conn = req->first_conn;
	memcpy(msg->sess_uuid, req->sess_uuid, sizeof(msg->sess_uuid));
	memcpy(msg->paths_uuid, req->paths_uuid, sizeof(msg->paths_uuid));
}
EXPORT_SYMBOL_GPL(rtrs_put_conn_req);

/**
 * rtrs_get_conn_req() - check a connection request
 * @data: private data of the CM's event
 * @len: its length in bytes
 * @req: filled in
 * @rule: set to the rule that is broken
 *
 * Return: 0, or the errno for the reject.
 */
int rtrs_get_conn_req(const void *data, size_t len, struct rtrs_conn_req *req,
		      const char **rule)
{
	struct rtrs_msg_conn_req msg;
	int err;

	if (!data || len < sizeof(msg))
		return broken(rule, "connection request is too short",
			      -ECONNRESET);
	memcpy(&msg, data, sizeof(msg));
	err = check_greeting(le16_to_cpu(msg.magic), le16_to_cpu(msg.version),
			     rule);
	if (err)
		return err;
	req->version = le16_to_cpu(msg.version);
	req->cid = le16_to_cpu(msg.cid);
	req->cid_num = le16_to_cpu(msg.cid_num);
	req->recon_cnt = le16_to_cpu(msg.recon_cnt);
	req->first_conn = msg.first_conn & 1;
	memcpy(req->sess_uuid, msg.sess_uuid, sizeof(req->sess_uuid));
	memcpy(req->paths_uuid, msg.paths_uuid, sizeof(req->paths_uuid));
	if (req->cid >= req->cid_num)
		return broken(rule, "cid is not below cid_num", -ECONNRESET);
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_get_conn_req);

/**
 * rtrs_put_conn_rsp() - build the answer to a connection request
 * @msg: filled in
 * @rsp: what to answer
 */
void rtrs_put_conn_rsp(struct rtrs_msg_conn_rsp *msg,
		       const struct rtrs_conn_rsp *rsp)
{
	memset(msg, 0, sizeof(*msg));
	msg->magic = cpu_to_le16(RTRS_MAGIC);
	msg->version = cpu_to_le16(RTRS_PROTO_VER);
	msg->err = cpu_to_le16((u16)rsp->err);
	msg->queue_depth = cpu_to_le16(rsp->queue_depth);
	msg->max_io_size = cpu_to_le32(rsp->max_io_size);
	msg->max_hdr_size = cpu_to_le32(rsp->max_hdr_size);
	msg->flags = cpu_to_le32(rsp->new_rkey ? RTRS_MSG_NEW_RKEY_F : 0);
}
EXPORT_SYMBOL_GPL(rtrs_put_conn_rsp);

static int check_conn_rsp_sizes(const struct rtrs_conn_rsp *rsp,
				const char **rule)
{
	u64 sum = (u64)rsp->max_io_size + rsp->max_hdr_size;

	if (!rsp->max_io_size)
		return broken(rule, "max_io_size is 0", -EPROTO);
	if (rsp->max_hdr_size < sizeof(struct rtrs_msg_rdma_read) +
				sizeof(struct rtrs_sg_desc))
		return broken(rule, "max_hdr_size holds no header", -EPROTO);
	if (rtrs_check_geometry(rsp->queue_depth, sum, rule))
		return -EPROTO;
	return 0;
}

/**
 * rtrs_get_conn_rsp() - check the answer to a connection request
 * @data: private data of the CM's event
 * @len: its length in bytes
 * @accepted: the event was an accept, not a reject
 * @rsp: filled in
 * @rule: set to the rule that is broken
 *
 * Return: 0, or -EPROTO for an answer that breaks a rule.  A well-formed
 * reject is 0 with @rsp->err set.
 */
int rtrs_get_conn_rsp(const void *data, size_t len, bool accepted,
		      struct rtrs_conn_rsp *rsp, const char **rule)
{
	struct rtrs_msg_conn_rsp msg;

	if (!data || len < sizeof(msg))
		return broken(rule, "connection answer is too short", -EPROTO);
	memcpy(&msg, data, sizeof(msg));
	if (check_greeting(le16_to_cpu(msg.magic), le16_to_cpu(msg.version),
			   rule))
		return -EPROTO;
	rsp->err = (s16)le16_to_cpu(msg.err);
	rsp->queue_depth = le16_to_cpu(msg.queue_depth);
	rsp->max_io_size = le32_to_cpu(msg.max_io_size);
	rsp->max_hdr_size = le32_to_cpu(msg.max_hdr_size);
	rsp->new_rkey = le32_to_cpu(msg.flags) & RTRS_MSG_NEW_RKEY_F;
	if (!accepted) {
		if (rsp->err >= 0 || rsp->err < -MAX_ERRNO)
			return broken(rule, "reject without an errno",
				      -EPROTO);
		return 0;
	}
	if (rsp->err)
		return broken(rule, "accept with an errno", -EPROTO);
	return check_conn_rsp_sizes(rsp, rule);
}
EXPORT_SYMBOL_GPL(rtrs_get_conn_rsp);

/**
 * rtrs_put_info_req() - build the message that tells the session's name
 * @msg: filled in
 * @name: a name that rtrs_check_name() accepts, NUL terminated
 */
void rtrs_put_info_req(struct rtrs_msg_info_req *msg, const char *name)
{
	memset(msg, 0, sizeof(*msg));
	msg->type = cpu_to_le16(RTRS_MSG_INFO_REQ);
	memcpy(msg->pathname, name, strnlen(name, sizeof(msg->pathname) - 1));
}
EXPORT_SYMBOL_GPL(rtrs_put_info_req);

/**
 * rtrs_get_info_req() - check the message that tells the session's name
 * @data: what was received
 * @len: its length in bytes
 * @name: set to the name, NUL terminated
 * @rule: set to the rule that is broken
 *
 * Return: 0, or -EPROTO.
 */
int rtrs_get_info_req(const void *data, size_t len, char name[RTRS_MAX_NAME],
		      const char **rule)
{
	const struct rtrs_msg_info_req *msg = data;
	size_t name_len;

	if (len != sizeof(*msg))
		return broken(rule, "info_req has another length", -EPROTO);
	if (le16_to_cpu(msg->type) != RTRS_MSG_INFO_REQ)
		return broken(rule, "info_req has another type", -EPROTO);
	name_len = strnlen((const char *)msg->pathname, RTRS_MAX_NAME);
	if (name_len == RTRS_MAX_NAME)
		return broken(rule, "session name is not terminated", -EPROTO);
	if (rtrs_check_name((const char *)msg->pathname, name_len, rule))
		return -EPROTO;
	memcpy(name, msg->pathname, name_len + 1);
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_get_info_req);

/**
 * rtrs_check_info_rsp() - check the message that tells where the chunks are
 * @data: what was received
 * @len: its length in bytes
 * @geo: what was agreed when connecting
 * @rule: set to the rule that is broken
 *
 * Return: 0: sg_cnt descriptors cover all chunks, each the same number of
 * them; or -EPROTO.
 */
int rtrs_check_info_rsp(const void *data, size_t len,
			const struct rtrs_conn_rsp *geo, const char **rule)
{
	const struct rtrs_msg_info_rsp *msg = data;
	u32 sg_cnt, i;
	u64 share;

	if (len < sizeof(*msg))
		return broken(rule, "info_rsp is too short", -EPROTO);
	if (le16_to_cpu(msg->type) != RTRS_MSG_INFO_RSP)
		return broken(rule, "info_rsp has another type", -EPROTO);
	sg_cnt = le16_to_cpu(msg->sg_cnt);
	if (!sg_cnt || geo->queue_depth % sg_cnt)
		return broken(rule, "sg_cnt does not divide queue_depth",
			      -EPROTO);
	if (geo->new_rkey && sg_cnt != geo->queue_depth)
		return broken(rule, "chunks with keys of their own share one",
			      -EPROTO);
	if (len != sizeof(*msg) + sg_cnt * sizeof(msg->desc[0]))
		return broken(rule, "info_rsp has another length than sg_cnt says",
			      -EPROTO);
	share = (u64)(geo->queue_depth / sg_cnt) * chunk_size(geo);
	for (i = 0; i < sg_cnt; i++)
		if (le32_to_cpu(msg->desc[i].len) != share)
			return broken(rule, "descriptor does not cover its chunks",
				      -EPROTO);
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_check_info_rsp);

/* The part of a request's header that only a read has. */
static int get_read(const struct rtrs_msg_rdma_read *msg,
		    const struct rtrs_sg_desc *desc, u32 room,
		    struct rtrs_io_req *req, const char **rule)
{
	u32 sg_cnt;

	if (room < sizeof(*msg))
		return broken(rule, "read header beyond the chunk's end",
			      -EPROTO);
	sg_cnt = le16_to_cpu(msg->sg_cnt);
	if (sg_cnt > 1)
		return broken(rule, "read with more than one buffer", -EPROTO);
	req->need_inval = le16_to_cpu(msg->flags) & RTRS_MSG_NEED_INVAL_F;
	req->has_desc = sg_cnt;
	if (!sg_cnt) {
		if (req->data_len)
			return broken(rule, "read of data without a buffer",
				      -EPROTO);
		if (req->need_inval)
			return broken(rule, "invalidation without a key",
				      -EPROTO);
		return 0;
	}
	if (room < sizeof(*msg) + sizeof(*desc))
		return broken(rule, "read header beyond the chunk's end",
			      -EPROTO);
	if (le32_to_cpu(desc->len) < req->data_len)
		return broken(rule, "read of more data than its buffer holds",
			      -EPROTO);
	req->addr = le64_to_cpu(desc->addr);
	req->key = le32_to_cpu(desc->key);
	return 0;
}

/**
 * rtrs_get_io_req() - check a request
 * @chunk: the chunk; the peer may still write to it
 * @off: offset of the header, as the immediate data says
 * @geo: what was agreed when connecting
 * @req: filled in
 * @rule: set to the rule that is broken
 *
 * Return: 0: data and user message of @req lie inside the chunk; or -EPROTO.
 */
int rtrs_get_io_req(const void *chunk, u32 off, const struct rtrs_conn_rsp *geo,
		    struct rtrs_io_req *req, const char **rule)
{
	struct {
		struct rtrs_msg_rdma_read read;
		struct rtrs_sg_desc desc;
	} hdr;
	u32 size = chunk_size(geo), room, type, hdr_len;
	int err;

	memset(req, 0, sizeof(*req));
	if (off > size || size - off < sizeof(struct rtrs_msg_rdma_write))
		return broken(rule, "header beyond the chunk's end", -EPROTO);
	room = min_t(u32, size - off, sizeof(hdr));
	memcpy(&hdr, chunk + off, room);

	/* Type and length of the user message stand first in both headers. */
	type = le16_to_cpu(hdr.read.type);
	if (type != RTRS_MSG_WRITE && type != RTRS_MSG_READ)
		return broken(rule, "request of unknown type", -EPROTO);
	req->write = type == RTRS_MSG_WRITE;
	req->usr_len = le16_to_cpu(hdr.read.usr_len);
	if (req->usr_len > off)
		return broken(rule, "user message begins before the chunk",
			      -EPROTO);
	req->data_len = off - req->usr_len;
	if (req->data_len > geo->max_io_size)
		return broken(rule, "more data than max_io_size", -EPROTO);
	if (!req->write) {
		err = get_read(&hdr.read, &hdr.desc, room, req, rule);
		if (err)
			return err;
	}
	hdr_len = req->write ? sizeof(struct rtrs_msg_rdma_write) :
		  req->has_desc ? sizeof(hdr) : sizeof(hdr.read);
	if (req->usr_len > geo->max_hdr_size - hdr_len)
		return broken(rule, "user message and header beyond max_hdr_size",
			      -EPROTO);
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_get_io_req);

/**
 * rtrs_put_rkey_rsp() - build the message with a chunk's next key
 * @msg: filled in
 * @buf_id: chunk number
 * @rkey: its key
 */
void rtrs_put_rkey_rsp(struct rtrs_msg_rkey_rsp *msg, u32 buf_id, u32 rkey)
{
	msg->type = cpu_to_le16(RTRS_MSG_RKEY_RSP);
	msg->buf_id = cpu_to_le16(buf_id);
	msg->rkey = cpu_to_le32(rkey);
}
EXPORT_SYMBOL_GPL(rtrs_put_rkey_rsp);

/**
 * rtrs_get_rkey_rsp() - check the message with a chunk's next key
 * @data: what was received
 * @len: its length in bytes
 * @buf_id: the chunk that the immediate data names
 * @rkey: set to the key
 * @rule: set to the rule that is broken
 *
 * Return: 0, or -EPROTO.
 */
int rtrs_get_rkey_rsp(const void *data, size_t len, u32 buf_id, u32 *rkey,
		      const char **rule)
{
	const struct rtrs_msg_rkey_rsp *msg = data;

	if (len != sizeof(*msg))
		return broken(rule, "rkey_rsp has another length", -EPROTO);
	if (le16_to_cpu(msg->type) != RTRS_MSG_RKEY_RSP)
		return broken(rule, "rkey_rsp has another type", -EPROTO);
	if (le16_to_cpu(msg->buf_id) != buf_id)
		return broken(rule, "rkey_rsp is for another chunk", -EPROTO);
	*rkey = le32_to_cpu(msg->rkey);
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_get_rkey_rsp);
