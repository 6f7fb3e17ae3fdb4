// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of rtrs-msg.c: what I/O needs. Immediate data, the headers of
 * requests in a chunk, and the message with a chunk's next key.
 *
 * A chunk is memory of exactly its size, so that the address sanitizer sees a
 * header that is read beyond its end; around the header stands what is none.
 * Each limit is tried from both sides, in sums that wrap around as well.
 */
#include <stdlib.h>

#include <linux/errno.h>
#include <linux/string.h>

#include "bytes.h"

/* ---- immediate data ---- */

static void imm_words(void **state)
{
	(void)state;
	assert_int_equal(rtrs_imm(RTRS_IO_REQ_IMM, 0x0abcdef), 0x00abcdef);
	assert_int_equal(rtrs_imm(RTRS_IO_RSP_IMM, 0xfffffff), 0x1fffffff);
	assert_true(rtrs_imm(RTRS_HB_MSG_IMM, 0) == 0x80000000);
	assert_true(rtrs_imm(RTRS_HB_ACK_IMM, 0) == 0x90000000);
	assert_int_equal(rtrs_imm_type(0x2fffffff), RTRS_IO_RSP_W_INV_IMM);
	assert_int_equal(rtrs_imm_type(0xffffffff), 15);
	assert_int_equal(rtrs_imm_payload(0xf7654321), 0x7654321);
}

static void imm_offset_bits(void **state)
{
	(void)state;
	assert_int_equal(rtrs_imm_off_bits(1), 28);
	assert_int_equal(rtrs_imm_off_bits(2), 27);
	assert_int_equal(rtrs_imm_off_bits(3), 26);
	assert_int_equal(rtrs_imm_off_bits(512), 19);
	assert_int_equal(rtrs_imm_off_bits(513), 18);
	assert_int_equal(rtrs_imm_off_bits(65535), 12);
}

static void imm_answers(void **state)
{
	(void)state;
	assert_int_equal(rtrs_imm_rsp(false, 0, 0), 0x10000000);
	assert_int_equal(rtrs_imm_rsp(true, 0, 0), 0x20000000);
	assert_int_equal(rtrs_imm_rsp(false, 65534, 0), 0x1000fffe);
	/* EIO is 5: bits 27..19 */
	assert_int_equal(rtrs_imm_rsp(false, 3, -EIO), 0x10000003 | 5 << 19);
	assert_int_equal(rtrs_imm_rsp(true, 3, -511), 0x20000003 | 511 << 19);
	/* what does not fit in 9 bits is EIO */
	assert_int_equal(rtrs_imm_rsp(false, 3, -512), 0x10000003 | 5 << 19);
	assert_int_equal(rtrs_imm_rsp(false, 3, -4095), 0x10000003 | 5 << 19);
	assert_int_equal(rtrs_imm_rsp(false, 3, INT32_MIN), 0x10000003 | 5 << 19);
	/* a number that does not fit reaches into nothing else */
	assert_int_equal(rtrs_imm_rsp(false, 1 << 19 | 7, 0), 0x10000007);
	assert_int_equal(rtrs_imm_rsp_id(0xfffffff), 0x7ffff);
	assert_int_equal(rtrs_imm_rsp_err(0xfffffff), -511);
	assert_int_equal(rtrs_imm_rsp_err(0x7ffff), 0);
	assert_int_equal(rtrs_imm_rsp_err(1 << 19), -1);
}

/* Each errno arrives as it was sent, with each chunk's number. */
static void imm_answers_are_read_back(void **state)
{
	u32 ids[] = { 0, 1, 511, 512, 65534 };
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		for (err = 0; err <= 511; err++) {
			u32 imm = rtrs_imm_rsp(err & 1, ids[i], -err);
			u32 payload = rtrs_imm_payload(imm);

			assert_int_equal(rtrs_imm_type(imm), 1 + (err & 1));
			assert_int_equal(rtrs_imm_rsp_id(payload), ids[i]);
			assert_int_equal(rtrs_imm_rsp_err(payload), -err);
		}
	}
}

/* ---- requests in a chunk ---- */

#define SMALL_CHUNK 8192
#define SMALL_HDR 4096

static const struct rtrs_conn_rsp small = {
	.queue_depth = 4, .max_io_size = 4096, .max_hdr_size = 4096,
};

/* The whole chunk, filled with what is no header, lies in memory of its own. */
static u8 *chunk_new(void)
{
	u8 *chunk = malloc(SMALL_CHUNK);

	assert_non_null(chunk);
	memset(chunk, 0xff, SMALL_CHUNK);
	return chunk;
}

static bool io_req_is_refused(const u8 *chunk, u32 off, struct rtrs_io_req *req)
{
	const char *rule = NULL;
	int err;

	memset(req, 0xa5, sizeof(*req));
	err = rtrs_get_io_req(chunk, off, &small, req, &rule);
	return refused(err, rule);
}

static void write_bytes(u8 *header, u16 usr_len)
{
	put16(header, 0, 2);
	put16(header, 2, usr_len);
}

static void read_bytes(u8 *header, u16 usr_len, u16 flags, u16 sg_cnt, u32 len)
{
	put16(header, 0, 3);
	put16(header, 2, usr_len);
	put16(header, 4, flags);
	put16(header, 6, sg_cnt);
	if (sg_cnt) {
		put64(header, 8, 0xfedcba9876543210ULL);
		put32(header, 16, 0x89abcdef);
		put32(header, 20, len);
	}
}

static bool write_is_refused(u32 off, u16 usr_len)
{
	struct rtrs_io_req req;
	u8 *chunk = chunk_new();
	bool bad;

	write_bytes(chunk + off, usr_len);
	bad = io_req_is_refused(chunk, off, &req);
	free(chunk);
	if (!bad) {
		assert_true(req.write);
		assert_false(req.need_inval);
		assert_false(req.has_desc);
		assert_int_equal(req.usr_len, usr_len);
		assert_int_equal(req.data_len, off - usr_len);
	}
	return bad;
}

static void writes(void **state)
{
	(void)state;
	/* data, user message, both, neither */
	assert_false(write_is_refused(4096, 0));
	assert_false(write_is_refused(100, 100));
	assert_false(write_is_refused(612, 100));
	assert_false(write_is_refused(0, 0));
	/* at no boundary whatever */
	assert_false(write_is_refused(4097, 3));
	/* the user message starts before the chunk does */
	assert_true(write_is_refused(99, 100));
	assert_true(write_is_refused(0, 1));
	assert_true(write_is_refused(100, 0xffff));
	/* user message and header fill what is for them, or more */
	assert_false(write_is_refused(4096 - 4, SMALL_HDR - 4));
	assert_true(write_is_refused(4096, SMALL_HDR - 3));
	assert_false(write_is_refused(SMALL_CHUNK - 4, SMALL_HDR - 4));
	/* data fills what is for it, or more */
	assert_false(write_is_refused(4096 + 100, 100));
	assert_true(write_is_refused(4096 + 101, 100));
	assert_true(write_is_refused(SMALL_CHUNK - 4, 0));
}

/* The header itself has to lie in the chunk. */
static void offsets(void **state)
{
	static const u32 off[] = {
		SMALL_CHUNK - 3, SMALL_CHUNK - 2, SMALL_CHUNK - 1, SMALL_CHUNK,
		SMALL_CHUNK + 1, 1 << 20, 0x0fffffff, 0x7fffffff, 0xfffffffc,
		0xffffffff,
	};
	struct rtrs_io_req req;
	u8 *chunk = chunk_new();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(off) / sizeof(*off); i++) {
		const char *rule = NULL;

		assert_true(rtrs_get_io_req(chunk, off[i], &small, &req,
					    &rule));
		assert_non_null(strstr(rule, "beyond the chunk's end"));
	}
	free(chunk);
}

static void types(void **state)
{
	static const u16 bad[] = { 0, 1, 4, 5, 0x0102, 0x0203, 0x8002, 0xffff };
	struct rtrs_io_req req;
	u8 *chunk = chunk_new();
	size_t i;

	(void)state;
	/* but for the type it is a good read, and a good write */
	memset(chunk, 0, SMALL_CHUNK);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put16(chunk, 0, bad[i]);
		assert_true(io_req_is_refused(chunk, 0, &req));
	}
	free(chunk);
}

/* Offset of the header, user message, flags, descriptors, length of the one. */
static bool read_is_refused(u32 off, u16 usr_len, u16 flags, u16 sg_cnt,
			    u32 len)
{
	struct rtrs_io_req req;
	u8 *chunk = chunk_new();
	bool bad;

	read_bytes(chunk + off, usr_len, flags, sg_cnt, len);
	bad = io_req_is_refused(chunk, off, &req);
	free(chunk);
	if (!bad) {
		assert_false(req.write);
		assert_int_equal(req.need_inval, flags & 1);
		assert_int_equal(req.has_desc, sg_cnt == 1);
		assert_int_equal(req.usr_len, usr_len);
		assert_int_equal(req.data_len, off - usr_len);
		if (sg_cnt) {
			assert_true(req.addr == 0xfedcba9876543210ULL);
			assert_true(req.key == 0x89abcdef);
		}
	}
	return bad;
}

static void reads(void **state)
{
	(void)state;
	assert_false(read_is_refused(4096, 0, 1, 1, 4096));
	assert_false(read_is_refused(4096, 0, 0, 1, 4096));
	assert_false(read_is_refused(612, 100, 1, 1, 512));
	/* a request without data has nothing to invalidate */
	assert_false(read_is_refused(100, 100, 0, 0, 0));
	assert_false(read_is_refused(0, 0, 0, 0, 0));
	/* flags of later versions */
	assert_false(read_is_refused(4096, 0, 0xfffe, 1, 4096));
	assert_false(read_is_refused(4096, 0, 0xffff, 1, 4096));
	/* user message, header and descriptor fill what is for them, or more */
	assert_false(read_is_refused(4096, SMALL_HDR - 24, 1, 1,
				     4096 - SMALL_HDR + 24));
	assert_true(read_is_refused(4096, SMALL_HDR - 23, 1, 1,
				    4096 - SMALL_HDR + 23));
	assert_true(read_is_refused(99, 100, 0, 0, 0));
	assert_true(read_is_refused(4097, 0, 1, 1, 4097));
}

static void read_descriptors(void **state)
{
	(void)state;
	assert_true(read_is_refused(4096, 0, 1, 2, 4096));
	assert_true(read_is_refused(4096, 0, 1, 0xffff, 4096));
	/* the buffer is smaller than what is asked for, or is empty */
	assert_true(read_is_refused(4096, 0, 1, 1, 4095));
	assert_true(read_is_refused(4096, 0, 1, 1, 0));
	/* data, but nowhere to put it */
	assert_true(read_is_refused(4096, 0, 0, 0, 0));
	/* nothing to invalidate */
	assert_true(read_is_refused(100, 100, 1, 0, 0));
}

/*
 * A read's header, and its descriptor, are longer than that of a write. What
 * sticks out of the chunk must not be looked at, so it has to be this rule, and
 * not a later one, that refuses it.
 */
static bool sticks_out(u32 off, u16 sg_cnt)
{
	u8 header[SMALL_CHUNK + 24];
	struct rtrs_io_req req;
	const char *rule = NULL;
	u8 *chunk;

	memset(header, 0xff, sizeof(header));
	read_bytes(header + off, off - 4096, 1, sg_cnt, 8192);
	chunk = exactly(header, SMALL_CHUNK);
	assert_true(rtrs_get_io_req(chunk, off, &small, &req, &rule));
	free(chunk);
	return strstr(rule, "beyond the chunk's end");
}

static void reads_at_the_end(void **state)
{
	u32 off;

	(void)state;
	assert_false(read_is_refused(SMALL_CHUNK - 24, 4072, 1, 1, 4096));
	assert_false(read_is_refused(4080, 4080, 0, 0, 0));
	for (off = SMALL_CHUNK - 23; off <= SMALL_CHUNK - 4; off++)
		assert_true(sticks_out(off, 1));
	for (off = SMALL_CHUNK - 7; off <= SMALL_CHUNK - 4; off++)
		assert_true(sticks_out(off, 0));
	assert_false(sticks_out(SMALL_CHUNK - 8, 0));
}

/* Nothing that a peer can write makes the check read outside the chunk. */
static void random_headers(void **state)
{
	struct rtrs_io_req req;
	u8 *chunk = chunk_new();
	unsigned int seed = 1;
	int i, k;

	(void)state;
	for (i = 0; i < 200000; i++) {
		u32 off = rand_r(&seed) % (SMALL_CHUNK + 32);

		for (k = 0; k < 24 && off + k < SMALL_CHUNK; k++)
			chunk[off + k] = rand_r(&seed) & (k & 1 ? 0x1f : 0xff);
		if (off + 2 <= SMALL_CHUNK)
			put16(chunk, off, 2 + (i & 1));
		if (io_req_is_refused(chunk, off, &req))
			continue;
		assert_in_range(off, 0, SMALL_CHUNK - 4);
		assert_int_equal(req.data_len + req.usr_len, off);
		assert_in_range(req.data_len, 0, SMALL_CHUNK - SMALL_HDR);
	}
	free(chunk);
}

/* ---- rkey_rsp ---- */

static bool rkey_rsp_is_refused(const u8 *msg, size_t len, u32 buf_id,
				u32 *rkey)
{
	const char *rule = NULL;
	void *copy = exactly(msg, len);
	int err = rtrs_get_rkey_rsp(copy, len, buf_id, rkey, &rule);

	free(copy);
	return refused(err, rule);
}

static void rkey_rsp(void **state)
{
	struct rtrs_msg_rkey_rsp built;
	u8 msg[8] = { 4, 0, 0xfe, 0xff, 0xef, 0xcd, 0xab, 0x89 };
	u32 rkey = 0;
	size_t len;

	(void)state;
	memset(&built, 0xa5, sizeof(built));
	rtrs_put_rkey_rsp(&built, 65534, 0x89abcdef);
	assert_memory_equal(&built, msg, sizeof(msg));
	assert_false(rkey_rsp_is_refused(msg, sizeof(msg), 65534, &rkey));
	assert_true(rkey == 0x89abcdef);
	/* of another chunk than the answer */
	assert_true(rkey_rsp_is_refused(msg, sizeof(msg), 65533, &rkey));
	assert_true(rkey_rsp_is_refused(msg, sizeof(msg), 0x1fffe, &rkey));
	for (len = 0; len < sizeof(msg); len++)
		assert_true(rkey_rsp_is_refused(msg, len, 65534, &rkey));
	put16(msg, 0, 3);
	assert_true(rkey_rsp_is_refused(msg, sizeof(msg), 65534, &rkey));
	put16(msg, 0, 0x0104);
	assert_true(rkey_rsp_is_refused(msg, sizeof(msg), 65534, &rkey));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(imm_words),
		cmocka_unit_test(imm_offset_bits),
		cmocka_unit_test(imm_answers),
		cmocka_unit_test(imm_answers_are_read_back),
		cmocka_unit_test(writes),
		cmocka_unit_test(offsets),
		cmocka_unit_test(types),
		cmocka_unit_test(reads),
		cmocka_unit_test(read_descriptors),
		cmocka_unit_test(reads_at_the_end),
		cmocka_unit_test(random_headers),
		cmocka_unit_test(rkey_rsp),
	};

	return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
