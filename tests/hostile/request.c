// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests: their place in the chunk, their immediate data, their answers, and
 * honest ones for the server of tests/kmod, whose user message tells it what
 * to do.
 */
#include <stdio.h>
#include <string.h>

#include "hostile.h"

/* As tests/kmod/rtrs-test.h has it, which is not for user space. */
#define RTEST_MAGIC 0x54525452
#define JHASH_INITVAL 0xdeadbeef

enum { RTEST_READ, RTEST_WRITE, RTEST_NONE };

struct rtest_msg {
	__le32 magic;
	__le32 csum;
	__le64 session;
	__le32 seq;
	__le32 seed;
	__le32 data_len;
	__le32 usr_len;
	__le32 delay_us;
	__le16 err;
	u8 dir;
	u8 mode;
};

static_assert(sizeof(struct rtest_msg) == 40);	/* for jhash40() */

static u32 order_of(u32 n)
{
	u32 order = 0;

	while (1u << order < n)
		order++;
	return order;
}

/**
 * request_imm() - immediate data of a request
 * @path: path
 * @id: number of the chunk; may be more than there are
 * @off: offset of the header; may be anything
 *
 * Return: the word in host order.
 */
u32 request_imm(struct path *path, u32 id, u32 off)
{
	u32 bits = RTRS_IMM_PAYLOAD_BITS - order_of(path->depth);

	return (id << bits | (off & ((1u << bits) - 1))) &
	       RTRS_IMM_PAYLOAD_MASK;
}

/**
 * request_post() - post a request
 * @path: path that is up
 * @cid: over which connection
 * @id: to which chunk
 * @usr: user message
 * @usr_len: its length
 * @data_len: where in the chunk it goes
 * @hdr: message header, which goes behind it
 * @hdr_len: its length
 */
void request_post(struct path *path, u32 cid, u32 id, const void *usr,
		  u32 usr_len, u32 data_len, const void *hdr, u32 hdr_len)
{
	u8 *at = path->buf + id * 8192;
	struct wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.local = at,
		.len = usr_len + hdr_len,
		.remote = path->chunks[id],
		.imm = request_imm(path, id, data_len + usr_len),
	};

	wr.remote.addr += data_len;
	memcpy(at, usr, usr_len);
	memcpy(at + usr_len, hdr, hdr_len);
	path_post(path, cid, &wr);
}

static bool is_answer(struct path *path, struct con *con,
		      const struct ibv_wc *wc, u32 id)
{
	const struct rtrs_msg_rkey_rsp *rsp = con_data(con, wc);
	u32 imm = be32toh(wc->imm_data);
	u32 type = imm >> RTRS_IMM_PAYLOAD_BITS;

	if (!(wc->wc_flags & IBV_WC_WITH_IMM) ||
	    (type != RTRS_IO_RSP_IMM && type != RTRS_IO_RSP_W_INV_IMM) ||
	    (imm & RTRS_IMM_MSG_ID_MASK) != id)
		return false;
	if (wc->opcode == IBV_WC_RECV && wc->byte_len == sizeof(*rsp))
		path->chunks[id].rkey = le32toh(rsp->rkey);
	return true;
}

/**
 * request_answer() - wait for the answer to a request
 * @path: path
 * @cid: the request's connection
 * @id: its chunk
 * @ms: for how long
 *
 * Return: the errno of the answer, 0 or negative; 1 if there is none.
 */
int request_answer(struct path *path, u32 cid, u32 id, u32 ms)
{
	struct con *con = &path->cons[cid];
	u64 end = now_ms() + ms, now;
	struct ibv_wc wc;

	while ((now = now_ms()) < end && con_recv(con, end - now, &wc)) {
		u32 imm = be32toh(wc.imm_data);

		con_repost(con, &wc);
		if (is_answer(path, con, &wc, id))
			return -(int)((imm & RTRS_IMM_PAYLOAD_MASK) >>
				      RTRS_IMM_MSG_ID_BITS);
	}
	return 1;
}

static u32 rol(u32 word, u32 shift)
{
	return word << shift | word >> (32 - shift);
}

/* The kernel's jhash() of a message of 40 bytes. */
static u32 jhash40(const u8 *k)
{
	u32 a, b, c, w[10], i;

	for (i = 0; i < 10; i++)
		w[i] = k[4 * i] | k[4 * i + 1] << 8 | k[4 * i + 2] << 16 |
		       (u32)k[4 * i + 3] << 24;
	a = JHASH_INITVAL + 40 + RTEST_MAGIC;
	b = a;
	c = a;
	for (i = 0; i < 9; i += 3) {
		a += w[i];
		b += w[i + 1];
		c += w[i + 2];
		a -= c; a ^= rol(c, 4); c += b;
		b -= a; b ^= rol(a, 6); a += c;
		c -= b; c ^= rol(b, 8); b += a;
		a -= c; a ^= rol(c, 16); c += b;
		b -= a; b ^= rol(a, 19); a += c;
		c -= b; c ^= rol(b, 4); b += a;
	}
	a += w[9];
	c ^= b; c -= rol(b, 14);
	a ^= c; a -= rol(c, 11);
	b ^= a; b -= rol(a, 25);
	c ^= b; c -= rol(b, 16);
	a ^= c; a -= rol(c, 4);
	b ^= a; b -= rol(a, 14);
	c ^= b; c -= rol(b, 24);
	return c;
}

/**
 * request_usr() - the user message of an honest request
 * @path: path
 * @usr: filled in
 * @read_len: bytes to read, 0 for a request without data
 * @mode: how the server answers: 0 at once, 2 later, 5 never
 * @delay_us: how much later
 *
 * Return: its length.
 */
u32 request_usr(struct path *path, void *usr, u32 read_len, u8 mode,
		u32 delay_us)
{
	struct rtest_msg msg = {
		.magic = htole32(RTEST_MAGIC),
		.session = htole64(1),
		.seq = htole32(++path->seq),
		.data_len = htole32(read_len),
		.usr_len = htole32(sizeof(msg)),
		.delay_us = htole32(delay_us),
		.dir = read_len ? RTEST_READ : RTEST_NONE,
		.mode = mode,
	};

	msg.csum = htole32(jhash40((u8 *)&msg));
	memcpy(usr, &msg, sizeof(msg));
	return sizeof(msg);
}

/**
 * request_honest() - a request as an honest client sends it, and its answer
 * @path: path that is up
 * @cid: over which connection
 * @id: in which chunk
 * @read_len: bytes to read, 0 for a write without data
 *
 * Return: the errno of the answer; 1 if there is none.
 */
int request_honest(struct path *path, u32 cid, u32 id, u32 read_len)
{
	struct rtrs_msg_rdma_write write = { .type = htole16(RTRS_MSG_WRITE) };
	struct {
		struct rtrs_msg_rdma_read msg;
		struct rtrs_sg_desc desc;
	} read = {
		.msg.type = htole16(RTRS_MSG_READ),
		.msg.sg_cnt = htole16(1),
		.desc.addr = htole64((unsigned long)path->buf),
		.desc.key = htole32(path->buf_mr->rkey),
		.desc.len = htole32(BUF_SIZE),
	};
	u8 usr[64];
	u32 len = request_usr(path, usr, read_len, 0, 0);

	write.usr_len = htole16(len);
	read.msg.usr_len = htole16(len);
	if (read_len)
		request_post(path, cid, id, usr, len, read_len, &read,
			     sizeof(read));
	else
		request_post(path, cid, id, usr, len, 0, &write,
			     sizeof(write));
	return request_answer(path, cid, id, REPLY_MS);
}
