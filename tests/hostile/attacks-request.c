// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attacks on a server over a path that is up: immediate data, messages that
 * are none, memory that is not the client's, request headers.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "hostile.h"

#define IMM(type, payload) ((u64)(type) << RTRS_IMM_PAYLOAD_BITS | (payload))
#define PAYLOAD_MAX RTRS_IMM_PAYLOAD_MASK
#define ANY_CID_1 0x100000000ull

/* Modes of the server of tests/kmod. */
enum { ANSWER_AT_ONCE = 0, ANSWER_LATER = 2, ANSWER_NEVER = 5 };

/* Messages */

/* A word as it stands in the table; bit 32 says on which connection. */
static int send_imm(struct path *path, const struct attack *attack)
{
	struct wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm = attack->arg,
	};

	path_post(path, attack->arg >> 32 & 1, &wr);
	return 0;
}

static int heartbeats(struct path *path, const struct attack *attack)
{
	struct ibv_wc wc;
	u32 i;

	for (i = 0; i < attack->arg; i++) {
		struct wr wr = {
			.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
			.imm = IMM(RTRS_HB_MSG_IMM, 0),
		};

		path_post(path, 0, &wr);
		if (con_recv(&path->cons[0], i % 16 ? 0 : 10, &wc))
			con_repost(&path->cons[0], &wc);
	}
	return 0;
}

/* A plain message: its length, bit 32 as above, bit 33 with immediate data. */
static int send_message(struct path *path, const struct attack *attack)
{
	struct wr wr = {
		.opcode = attack->arg >> 33 & 1 ? IBV_WR_SEND_WITH_IMM :
						  IBV_WR_SEND,
		.local = path->buf,
		.len = (u32)attack->arg,
		.imm = IMM(RTRS_HB_MSG_IMM, 0),
	};

	path_post(path, attack->arg >> 32 & 1, &wr);
	return 0;
}

static int invalidate_chunk(struct path *path, const struct attack *attack)
{
	struct wr wr = {
		.opcode = IBV_WR_SEND_WITH_INV,
		.remote.rkey = path->chunks[1].rkey ^ (u32)attack->arg,
	};

	path_post(path, 1, &wr);
	return 0;
}

#define MESSAGE(name, run, arg, rule) \
	{ name, UP, run, arg, NULL, CLOSED, 0, rule, 0 }
#define UNKNOWN(name, arg) \
	MESSAGE(name, send_imm, arg, "immediate data of unknown type")

/* Connections: 0 unless ANY_CID_1 is added. */
const struct attack message_attacks[] = {
	UNKNOWN("answer", IMM(RTRS_IO_RSP_IMM, 0)),
	UNKNOWN("answer-1", ANY_CID_1 | IMM(RTRS_IO_RSP_IMM, 1)),
	UNKNOWN("answer-highest", ANY_CID_1 | IMM(RTRS_IO_RSP_IMM, PAYLOAD_MAX)),
	UNKNOWN("answer-inv", ANY_CID_1 | IMM(RTRS_IO_RSP_W_INV_IMM, 0)),
	UNKNOWN("imm-3", IMM(3, 0)),
	UNKNOWN("imm-7", ANY_CID_1 | IMM(7, PAYLOAD_MAX)),
	UNKNOWN("imm-10", IMM(10, 0)),
	UNKNOWN("imm-15", ANY_CID_1 | IMM(15, PAYLOAD_MAX)),
	UNKNOWN("hb-cid-1", ANY_CID_1 | IMM(RTRS_HB_MSG_IMM, 0)),
	UNKNOWN("hb-ack-cid-1", ANY_CID_1 | IMM(RTRS_HB_ACK_IMM, 0)),
	MESSAGE("hb-ack", send_imm, IMM(RTRS_HB_ACK_IMM, 0), "heartbeat: -EPROTO"),
	{ "hb-payload", UP, send_imm, IMM(RTRS_HB_MSG_IMM, PAYLOAD_MAX), NULL,
	  HARMLESS, 0, NULL, 0 },
	{ "hb-flood", UP, heartbeats, 500, NULL, HARMLESS, 0, NULL, 0 },
	MESSAGE("send-empty", send_message, 0, "message without immediate data"),
	MESSAGE("send-empty-1", send_message, ANY_CID_1, "message without immediate data"),
	MESSAGE("send-1", send_message, 1, "receive: "),
	MESSAGE("send-1-1", send_message, ANY_CID_1 | 1, "receive: "),
	MESSAGE("send-272", send_message, ANY_CID_1 | 272, "receive: "),
	MESSAGE("send-long", send_message, ANY_CID_1 | 100000, "receive: "),
	MESSAGE("send-imm", send_message, 1ull << 33, "message without immediate data"),
	MESSAGE("send-imm-1", send_message, 3ull << 32, "message without immediate data"),
	MESSAGE("invalidate", invalidate_chunk, 0, "message without immediate data"),
	MESSAGE("invalidate-none", invalidate_chunk, 0xffffff00, "receive: "),
	{ }
};

/* Memory */

/* Bytes behind the chunk's end, or in front of its start. */
static int write_around(struct path *path, const struct attack *attack)
{
	struct wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.local = path->buf,
		.len = 8,
		.remote = path->chunks[1],
	};

	wr.remote.addr += (long)attack->arg < 0 ? (long)attack->arg :
			  (long)(path->depth * path->chunk_size);
	if (!path->secure)
		wr.remote.addr -= path->chunks[1].addr - path->chunks[0].addr;
	path_post(path, 1, &wr);
	return 0;
}

static int write_wrong_key(struct path *path, const struct attack *attack)
{
	struct wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.local = path->buf,
		.len = 8,
		.remote = path->chunks[1],
	};

	wr.remote.rkey ^= attack->arg;
	path_post(path, 1, &wr);
	return 0;
}

/* A key that was valid before the last request. */
static int write_old_key(struct path *path, const struct attack *attack)
{
	struct wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.local = path->buf,
		.len = 8,
		.remote = path->chunks[1],
	};

	if (request_honest(path, 1, 1, 0))
		die("an honest request failed");
	path_post(path, 1, &wr);
	return 0;
}

/* Memory of its own may be written to at any time. */
static int write_own(struct path *path, const struct attack *attack)
{
	struct wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.local = path->buf,
		.len = path->chunk_size,
		.remote = path->chunks[1],
	};

	memset(path->buf, 0xff, path->chunk_size);
	path_post(path, 1, &wr);
	return 0;
}

/* Requests */

/* A word that names a chunk and an offset, nothing written. */
static int bare_request(struct path *path, const struct attack *attack)
{
	u32 id = attack->arg >> 32, off = attack->arg;
	struct wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm = request_imm(path, id, off),
	};

	path_post(path, 1, &wr);
	return 0;
}

/* The same with offsets relative to the chunk's end. */
static int request_at_end(struct path *path, const struct attack *attack)
{
	struct wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm = request_imm(path, 1, path->chunk_size +
				   (int)attack->arg),
	};

	path_post(path, 1, &wr);
	return 0;
}

/* A header in chunk 1: fields from the table, at an offset from the table. */
#define HDR(type, usr_len, flags, sg_cnt)				\
	((u64)(type) | (u64)(usr_len) << 16 | (u64)(flags) << 32 |	\
	 (u64)(sg_cnt) << 48)

struct header {
	__le16 field[4];
	struct rtrs_sg_desc desc;
};

static struct header make_header(struct path *path, u64 arg)
{
	struct header hdr = {
		.desc.addr = htole64((unsigned long)path->buf),
		.desc.key = htole32(path->buf_mr->rkey),
		.desc.len = htole32(64),
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hdr.field); i++)
		hdr.field[i] = htole16(arg >> 16 * i);
	return hdr;
}

static void post_header(struct path *path, const struct header *hdr, u32 off,
			u32 len)
{
	struct wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.local = path->buf,
		.len = len,
		.remote = path->chunks[1],
		.imm = request_imm(path, 1, off),
	};

	memcpy(path->buf, hdr, sizeof(*hdr));
	wr.remote.addr += off;
	path_post(path, 1, &wr);
}

/* The text, if there is one, says where: a number, or bytes before the end. */
static int send_header(struct path *path, const struct attack *attack)
{
	struct header hdr = make_header(path, attack->arg);
	u32 off = 64, len = sizeof(hdr);

	if (attack->text && attack->text[0] == 'e')
		off = path->chunk_size - (attack->text[1] - 'a');
	else if (attack->text && attack->text[0] == 'd')
		off = path->chunk_size - path->hdr_size + 1;
	if (off > path->chunk_size - len)
		len = path->chunk_size - off;
	post_header(path, &hdr, off, len);
	return 0;
}

/* User message and header together are one byte more than may be. */
static int usr_too_long(struct path *path, const struct attack *attack)
{
	u32 hdr_len = attack->arg;
	u32 usr_len = path->hdr_size - hdr_len + 1;
	bool write = hdr_len == sizeof(struct rtrs_msg_rdma_write);
	u32 type = write ? RTRS_MSG_WRITE : RTRS_MSG_READ;
	struct header hdr = make_header(path, HDR(type, usr_len, 0,
						  hdr_len == sizeof(hdr)));

	post_header(path, &hdr, usr_len, hdr_len);
	return 0;
}

/* An honest read, but for where its data is to go. */
static int read_to(struct path *path, u64 addr, u32 key, u32 len)
{
	struct header hdr = make_header(path, 0);
	u8 usr[64];
	u32 usr_len = request_usr(path, usr, len, ANSWER_AT_ONCE, 0);

	hdr = make_header(path, HDR(RTRS_MSG_READ, usr_len, 0, 1));
	hdr.desc.addr = htole64(addr);
	hdr.desc.key = htole32(key);
	hdr.desc.len = htole32(len);
	request_post(path, 1, 1, usr, usr_len, len, &hdr, sizeof(hdr));
	return 0;
}

static int read_wrong_key(struct path *path, const struct attack *attack)
{
	return read_to(path, (unsigned long)path->buf,
		       path->buf_mr->rkey ^ (u32)attack->arg, 4096);
}

static int read_wrong_addr(struct path *path, const struct attack *attack)
{
	return read_to(path, attack->arg, path->buf_mr->rkey, 4096);
}

/* The buffer ends in the middle of what is read. */
static int read_beyond(struct path *path, const struct attack *attack)
{
	return read_to(path, (unsigned long)path->buf + BUF_SIZE - 100,
		       path->buf_mr->rkey, 4096);
}

/* The server works on the chunk when the next request comes. */
static int chunk_again(struct path *path, const struct attack *attack)
{
	struct rtrs_msg_rdma_write hdr = { .type = htole16(RTRS_MSG_WRITE) };
	struct wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm = request_imm(path, 1, 64),
	};
	u8 usr[64];
	u32 len = request_usr(path, usr, 0, ANSWER_LATER, 1000000);

	hdr.usr_len = htole16(len);
	request_post(path, 1, 1, usr, len, 0, &hdr, sizeof(hdr));
	path_post(path, attack->arg, &wr);
	return 0;
}

/*
 * An honest request whose message is written over and over again, as many ms
 * later as the table says: before it is looked at, or while the ULP has it.
 */
static int rewrite(struct path *path, const struct attack *attack)
{
	struct rtrs_msg_rdma_write hdr = { .type = htole16(RTRS_MSG_WRITE) };
	u8 usr[64], *other = path->buf + BUF_SIZE / 2;
	u32 len = request_usr(path, usr, 0, ANSWER_LATER, 300000);
	struct wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.local = other,
		.len = len + sizeof(hdr),
		.remote = path->chunks[1],
	};
	u32 i;

	memset(other, 0xff, wr.len);
	hdr.usr_len = htole16(len);
	request_post(path, 1, 1, usr, len, 0, &hdr, sizeof(hdr));
	usleep(attack->arg * 1000);
	for (i = 0; i < 50; i++) {
		path_post(path, 1, &wr);
		usleep(1000);
	}
	return request_answer(path, 1, 1, REPLY_MS);
}

#define REQUEST(name, run, arg, rule) \
	{ name, UP, run, arg, NULL, CLOSED, 0, rule, 0 }
#define HEADER(name, arg, where, rule) \
	{ name, UP, send_header, arg, where, CLOSED, 0, rule, 0 }
#define TYPE(name, type) \
	HEADER(name, HDR(type, 0, 0, 0), NULL, "request of unknown type")

const struct attack request_attacks[] = {
	REQUEST("write-behind", write_around, 0, "receive: "),
	REQUEST("write-before", write_around, -8, "receive: "),
	REQUEST("write-across", write_around, -4, "receive: "),
	REQUEST("write-key-1", write_wrong_key, 1, "receive: "),
	REQUEST("write-key-high", write_wrong_key, 0xff000000, "receive: "),
	{ "write-own", UP, write_own, 0, NULL, HARMLESS, 0, NULL, 0 },
	REQUEST("chunk-depth", bare_request, 6ull << 32,
		"request for a chunk that does not exist"),
	REQUEST("chunk-highest", bare_request, 7ull << 32,
		"request for a chunk that does not exist"),
	REQUEST("nothing-written", bare_request, 0, "request of unknown type"),
	REQUEST("off-highest", bare_request, 0xffffffff, "header beyond the chunk's end"),
	REQUEST("off-end", request_at_end, 0, "header beyond the chunk's end"),
	REQUEST("off-end-3", request_at_end, -3, "header beyond the chunk's end"),
	REQUEST("off-behind", request_at_end, 1, "header beyond the chunk's end"),
	TYPE("type-0", 0),
	TYPE("type-1", 1),
	TYPE("type-4", 4),
	TYPE("type-5", 5),
	TYPE("type-highest", 0xffff),
	HEADER("usr-before", HDR(RTRS_MSG_WRITE, 65, 0, 0), NULL,
	       "user message begins before the chunk"),
	HEADER("usr-highest", HDR(RTRS_MSG_WRITE, 0xffff, 0, 0), NULL,
	       "user message begins before the chunk"),
	HEADER("read-usr-before", HDR(RTRS_MSG_READ, 65, 0, 1), NULL,
	       "user message begins before the chunk"),
	HEADER("data-long", HDR(RTRS_MSG_WRITE, 0, 0, 0), "d", "more data than max_io_size"),
	REQUEST("usr-long", usr_too_long, 4, "user message and header beyond max_hdr_size"),
	REQUEST("read-usr-long", usr_too_long, 8, "user message and header beyond max_hdr_size"),
	REQUEST("read-usr-long-1", usr_too_long, 24,
		"user message and header beyond max_hdr_size"),
	HEADER("read-cut", HDR(RTRS_MSG_READ, 4092, 0, 0), "ee",
	       "read header beyond the chunk's end"),
	HEADER("read-cut-7", HDR(RTRS_MSG_READ, 4092, 0, 0), "eh",
	       "read header beyond the chunk's end"),
	HEADER("read-cut-desc", HDR(RTRS_MSG_READ, 4080, 0, 1), "ex",
	       "read header beyond the chunk's end"),
	HEADER("read-2-bufs", HDR(RTRS_MSG_READ, 0, 0, 2), NULL, "read with more than one buffer"),
	HEADER("read-many-bufs", HDR(RTRS_MSG_READ, 0, 0, 0xffff), NULL,
	       "read with more than one buffer"),
	HEADER("read-no-buf", HDR(RTRS_MSG_READ, 0, 0, 0), NULL, "read of data without a buffer"),
	HEADER("read-inval-no-buf", HDR(RTRS_MSG_READ, 64, 1, 0), NULL,
	       "invalidation without a key"),
	HEADER("read-short-buf", HDR(RTRS_MSG_READ, 0, 0, 1), "d",
	       "more data than max_io_size"),
	REQUEST("read-key", read_wrong_key, 1, "remote access error"),
	REQUEST("read-key-high", read_wrong_key, 0xffffff00, "remote access error"),
	REQUEST("read-addr-0", read_wrong_addr, 0, "remote access error"),
	REQUEST("read-addr-highest", read_wrong_addr, -4096, "remote access error"),
	REQUEST("read-beyond", read_beyond, 0, "remote access error"),
	REQUEST("chunk-again", chunk_again, 1, "request for a chunk whose answer has not left"),
	REQUEST("chunk-again-cid-0", chunk_again, 0,
		"request for a chunk whose answer has not left"),
	{ "rewrite", UP, rewrite, 0, NULL, EITHER, 0, NULL, 0 },
	{ }
};

/* With always_invalidate=Y alone. */
const struct attack secure_attacks[] = {
	REQUEST("write-old-key", write_old_key, 0, "receive: "),
	REQUEST("rewrite-late", rewrite, 20, "receive: "),
	{ }
};

/* With always_invalidate=N alone. */
const struct attack plain_attacks[] = {
	{ "rewrite-late", UP, rewrite, 20, NULL, HARMLESS, 0, NULL, 0 },
	{ }
};
