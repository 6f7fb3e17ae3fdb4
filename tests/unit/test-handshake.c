// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of rtrs-msg.c: how a path comes up. Layout of all messages, sizes
 * and names; conn_req, conn_rsp, info_req and info_rsp, built and checked.
 *
 * Each rule of the protocol has the values at its edge, and what is refused has
 * to name the rule that was broken. Messages lie in memory of exactly their
 * length: one byte read too many is seen by the address sanitizer. What is kept
 * for later versions must be ignored, so it is filled with ones.
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "bytes.h"

/* ---- the layout, once more and from the other side ---- */

#define AT(type, field, offset, bytes)					\
	static_assert(offsetof(struct type, field) == (offset) &&	\
		      sizeof(((struct type *)0)->field) == (bytes))

AT(rtrs_msg_conn_req, magic, 2, 2);
AT(rtrs_msg_conn_req, version, 4, 2);
AT(rtrs_msg_conn_req, cid, 6, 2);
AT(rtrs_msg_conn_req, cid_num, 8, 2);
AT(rtrs_msg_conn_req, recon_cnt, 10, 2);
AT(rtrs_msg_conn_req, sess_uuid, 12, 16);
AT(rtrs_msg_conn_req, paths_uuid, 28, 16);
AT(rtrs_msg_conn_req, first_conn, 44, 1);
static_assert(sizeof(struct rtrs_msg_conn_req) == 56);

AT(rtrs_msg_conn_rsp, magic, 0, 2);
AT(rtrs_msg_conn_rsp, version, 2, 2);
AT(rtrs_msg_conn_rsp, err, 4, 2);
AT(rtrs_msg_conn_rsp, queue_depth, 6, 2);
AT(rtrs_msg_conn_rsp, max_io_size, 8, 4);
AT(rtrs_msg_conn_rsp, max_hdr_size, 12, 4);
AT(rtrs_msg_conn_rsp, flags, 16, 4);
static_assert(sizeof(struct rtrs_msg_conn_rsp) == 56);

AT(rtrs_msg_info_req, type, 0, 2);
AT(rtrs_msg_info_req, pathname, 2, 255);
static_assert(sizeof(struct rtrs_msg_info_req) == 272);

AT(rtrs_msg_info_rsp, type, 0, 2);
AT(rtrs_msg_info_rsp, sg_cnt, 2, 2);
static_assert(offsetof(struct rtrs_msg_info_rsp, desc) == 8);

AT(rtrs_sg_desc, addr, 0, 8);
AT(rtrs_sg_desc, key, 8, 4);
AT(rtrs_sg_desc, len, 12, 4);
static_assert(sizeof(struct rtrs_sg_desc) == 16);

AT(rtrs_msg_rdma_write, type, 0, 2);
AT(rtrs_msg_rdma_write, usr_len, 2, 2);
static_assert(sizeof(struct rtrs_msg_rdma_write) == 4);

AT(rtrs_msg_rdma_read, type, 0, 2);
AT(rtrs_msg_rdma_read, usr_len, 2, 2);
AT(rtrs_msg_rdma_read, flags, 4, 2);
AT(rtrs_msg_rdma_read, sg_cnt, 6, 2);
static_assert(offsetof(struct rtrs_msg_rdma_read, desc) == 8);

AT(rtrs_msg_rkey_rsp, type, 0, 2);
AT(rtrs_msg_rkey_rsp, buf_id, 2, 2);
AT(rtrs_msg_rkey_rsp, rkey, 4, 4);
static_assert(sizeof(struct rtrs_msg_rkey_rsp) == 8);

/* ---- sizes ---- */

static bool geometry_is_refused(u32 queue_depth, u64 chunk_size)
{
	const char *rule = NULL;
	int err = rtrs_check_geometry(queue_depth, chunk_size, &rule);

	return refused(err, rule);
}

static void geometry(void **state)
{
	u32 order;

	(void)state;
	assert_false(geometry_is_refused(512, 131072));
	assert_false(geometry_is_refused(1, 8192));
	assert_false(geometry_is_refused(1, 1 << 28));
	assert_false(geometry_is_refused(32768, 8192));
	assert_false(geometry_is_refused(2, 1 << 27));
	/* one bit too many for the immediate data */
	assert_true(geometry_is_refused(32769, 8192));
	assert_true(geometry_is_refused(65535, 8192));
	assert_true(geometry_is_refused(513, 1 << 19));
	assert_false(geometry_is_refused(512, 1 << 19));
	assert_true(geometry_is_refused(3, 1 << 27));
	assert_true(geometry_is_refused(1, 1 << 29));
	/* each value by itself */
	assert_true(geometry_is_refused(0, 8192));
	assert_true(geometry_is_refused(65536, 8192));
	assert_true(geometry_is_refused(0xffffffff, 8192));
	assert_true(geometry_is_refused(1, 0));
	assert_true(geometry_is_refused(1, 4096));
	assert_true(geometry_is_refused(1, 8191));
	assert_true(geometry_is_refused(1, 8193));
	assert_true(geometry_is_refused(1, 12288));
	for (order = 29; order < 64; order++)
		assert_true(geometry_is_refused(1, 1ULL << order));
	assert_true(geometry_is_refused(1, ~0ULL));
}

/* ---- names ---- */

/* @len bytes, without a NUL. */
static bool bytes_are_refused(const char *name, size_t len)
{
	const char *rule = NULL;
	char *copy = exactly(name, len);
	int err = rtrs_check_name(copy, len, &rule);

	free(copy);
	return refused(err, rule);
}

static bool name_is_refused(const char *name)
{
	return bytes_are_refused(name, strlen(name));
}

/* The edges of each length, and what looks like UTF-8. */
static void names_in_utf8(void **state)
{
	static const char *const good[] = {
		"\xc2\xa1", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
		"\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbf",
	};
	static const char *const bad[] = {
		"\x80", "\xbf", "\xff", "\xfe", "\xf8\x88\x80\x80\x80",
		/* cut off */
		"\xc3", "\xe2\x82", "\xf0\x9f\x98",
		/* no continuation */
		"\xc3(", "\xe2(\x82", "\xe2\x82(", "\xf0\x9f\x98\xff",
		/* longer than need be: '/', '.', NUL, U+00FF */
		"\xc0\xaf", "\xc0\xae", "\xc0\x80", "\xc1\xbf",
		"\xe0\x80\xaf", "\xe0\x9f\xbf", "\xf0\x80\x80\xaf",
		"\xf0\x8f\xbf\xbf",
		/* surrogates */
		"\xed\xa0\x80", "\xed\xbf\xbf",
		/* beyond U+10FFFF */
		"\xf4\x90\x80\x80", "\xf7\xbf\xbf\xbf",
	};
	char name[16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		snprintf(name, sizeof(name), "a%sb", good[i]);
		assert_false(name_is_refused(good[i]));
		assert_false(name_is_refused(name));
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(name, sizeof(name), "a%sb", bad[i]);
		assert_true(name_is_refused(bad[i]));
		assert_true(name_is_refused(name));
	}
}

static void names(void **state)
{
	char longest[255];

	(void)state;
	assert_false(name_is_refused("a"));
	assert_false(name_is_refused("some name_1@host-2"));
	assert_false(name_is_refused("m\xc3\xb6hre"));
	assert_true(name_is_refused(""));
	assert_true(name_is_refused("/"));
	assert_true(name_is_refused("a/b"));
	assert_true(name_is_refused("."));
	assert_true(name_is_refused("a.b"));
	assert_true(name_is_refused("a."));
	/* lines of the log, names of directories */
	assert_true(name_is_refused("a\n"));
	assert_true(name_is_refused("a\x1f"));
	assert_true(name_is_refused("a\x7f"));
	assert_true(name_is_refused("a\xc2\x80"));
	assert_true(name_is_refused("a\xc2\x9b"));
	assert_false(name_is_refused("a\xc2\xa0"));
	assert_true(bytes_are_refused("a\0b", 3));
	assert_true(bytes_are_refused("\0", 1));
	/* 254 and their NUL fit the message, 255 leave no room for it */
	memset(longest, 'x', sizeof(longest));
	assert_false(bytes_are_refused(longest, 254));
	assert_true(bytes_are_refused(longest, 255));
}

/* ---- conn_req ---- */

#define CONN_LEN 56

static void conn_req_bytes(u8 *msg)
{
	int i;

	memset(msg, 0, CONN_LEN);
	put16(msg, 2, 0x1bbd);
	put16(msg, 4, 0x0200);
	put16(msg, 6, 2);
	put16(msg, 8, 0x0105);
	put16(msg, 10, 0x0207);
	for (i = 0; i < 16; i++) {
		msg[12 + i] = 0x40 + i;
		msg[28 + i] = 0x80 + i;
	}
	msg[44] = 1;
}

static bool conn_req_is_refused(const u8 *msg, size_t len,
				struct rtrs_conn_req *req)
{
	const char *rule = NULL;
	void *copy = exactly(msg, len);
	int err;

	memset(req, 0xa5, sizeof(*req));
	err = rtrs_get_conn_req(copy, len, req, &rule);
	free(copy);
	/* the errno goes out with the reject */
	assert_true(!err || err == -ECONNRESET);
	return refused(err, rule);
}

/* With 16 bits at @at other than in a good message. */
static bool conn_req_with_is_refused(size_t at, u16 value)
{
	struct rtrs_conn_req req;
	u8 msg[CONN_LEN];

	conn_req_bytes(msg);
	put16(msg, at, value);
	return conn_req_is_refused(msg, sizeof(msg), &req);
}

static void conn_req_is_built(void **state)
{
	struct rtrs_msg_conn_req built;
	struct rtrs_conn_req req = {
		.cid = 2, .cid_num = 0x0105, .recon_cnt = 0x0207,
		.version = 0x0200, .first_conn = true,
	};
	u8 msg[CONN_LEN];

	(void)state;
	conn_req_bytes(msg);
	memcpy(req.sess_uuid, msg + 12, 16);
	memcpy(req.paths_uuid, msg + 28, 16);
	memset(&built, 0xa5, sizeof(built));
	rtrs_put_conn_req(&built, &req);
	assert_memory_equal(&built, msg, sizeof(msg));
	req.first_conn = false;
	msg[44] = 0;
	rtrs_put_conn_req(&built, &req);
	assert_memory_equal(&built, msg, sizeof(msg));
}

static void conn_req_is_read(void **state)
{
	struct rtrs_conn_req req;
	u8 msg[CONN_LEN + 40];

	(void)state;
	conn_req_bytes(msg);
	assert_false(conn_req_is_refused(msg, CONN_LEN, &req));
	assert_int_equal(req.cid, 2);
	assert_int_equal(req.cid_num, 0x0105);
	assert_int_equal(req.recon_cnt, 0x0207);
	assert_int_equal(req.version, 0x0200);
	assert_true(req.first_conn);
	assert_memory_equal(req.sess_uuid, msg + 12, 16);
	assert_memory_equal(req.paths_uuid, msg + 28, 16);
	/* the CM pads private data to what the transport carries */
	memset(msg + CONN_LEN, 0xff, sizeof(msg) - CONN_LEN);
	assert_false(conn_req_is_refused(msg, sizeof(msg), &req));
	assert_int_equal(req.cid, 2);
}

static void conn_req_too_short(void **state)
{
	struct rtrs_conn_req req;
	u8 msg[CONN_LEN];
	size_t len;

	(void)state;
	conn_req_bytes(msg);
	for (len = 0; len < CONN_LEN; len++)
		assert_true(conn_req_is_refused(msg, len, &req));
}

static void conn_req_magic_and_version(void **state)
{
	int bit;

	(void)state;
	for (bit = 0; bit < 16; bit++)
		assert_true(conn_req_with_is_refused(2, 0x1bbd ^ 1 << bit));
	/* another minor is accepted, another major is not */
	assert_false(conn_req_with_is_refused(4, 0x0200));
	assert_false(conn_req_with_is_refused(4, 0x0201));
	assert_false(conn_req_with_is_refused(4, 0x02ff));
	assert_true(conn_req_with_is_refused(4, 0x0100));
	assert_true(conn_req_with_is_refused(4, 0x01ff));
	assert_true(conn_req_with_is_refused(4, 0x0300));
	assert_true(conn_req_with_is_refused(4, 0x0002));
	assert_true(conn_req_with_is_refused(4, 0xffff));
}

static void conn_req_cids(void **state)
{
	struct rtrs_conn_req req;
	u8 msg[CONN_LEN];

	(void)state;
	conn_req_bytes(msg);
	put16(msg, 6, 0);
	put16(msg, 8, 1);
	assert_false(conn_req_is_refused(msg, sizeof(msg), &req));
	put16(msg, 6, 1);
	assert_true(conn_req_is_refused(msg, sizeof(msg), &req));
	put16(msg, 6, 0);
	put16(msg, 8, 0);
	assert_true(conn_req_is_refused(msg, sizeof(msg), &req));
	put16(msg, 6, 0xffff);
	put16(msg, 8, 0xffff);
	assert_true(conn_req_is_refused(msg, sizeof(msg), &req));
	assert_false(conn_req_with_is_refused(6, 0x0104));
	assert_true(conn_req_with_is_refused(6, 0x0105));
}

/* Bits that are not ours, and those of later versions, are no fault. */
static void conn_req_reserved(void **state)
{
	struct rtrs_conn_req req;
	u8 msg[CONN_LEN];

	(void)state;
	conn_req_bytes(msg);
	msg[0] = 0xff;
	msg[1] = 0xff;
	memset(msg + 45, 0xff, 11);
	msg[44] = 0xff;
	assert_false(conn_req_is_refused(msg, sizeof(msg), &req));
	assert_true(req.first_conn);
	msg[44] = 0xfe;
	assert_false(conn_req_is_refused(msg, sizeof(msg), &req));
	assert_false(req.first_conn);
}

/* ---- conn_rsp ---- */

#define CHUNK 131072
#define HDR 4096
#define DEPTH 512

static void conn_rsp_bytes(u8 *msg)
{
	memset(msg, 0, CONN_LEN);
	put16(msg, 0, 0x1bbd);
	put16(msg, 2, 0x0200);
	put16(msg, 6, DEPTH);
	put32(msg, 8, CHUNK - HDR);
	put32(msg, 12, HDR);
	put32(msg, 16, 2);
}

static int conn_rsp_get(const u8 *msg, size_t len, bool accepted,
			struct rtrs_conn_rsp *rsp)
{
	const char *rule = NULL;
	void *copy = exactly(msg, len);
	int err;

	memset(rsp, 0xa5, sizeof(*rsp));
	err = rtrs_get_conn_rsp(copy, len, accepted, rsp, &rule);
	free(copy);
	refused(err, rule);
	return err;
}

static bool sizes_are_refused(u16 depth, u32 io_size, u32 hdr_size)
{
	struct rtrs_conn_rsp rsp;
	u8 msg[CONN_LEN];

	conn_rsp_bytes(msg);
	put16(msg, 6, depth);
	put32(msg, 8, io_size);
	put32(msg, 12, hdr_size);
	return conn_rsp_get(msg, sizeof(msg), true, &rsp);
}

static void conn_rsp_is_built(void **state)
{
	struct rtrs_msg_conn_rsp built;
	struct rtrs_conn_rsp rsp = {
		.queue_depth = DEPTH, .max_io_size = CHUNK - HDR,
		.max_hdr_size = HDR, .new_rkey = true,
	};
	u8 msg[CONN_LEN];

	(void)state;
	conn_rsp_bytes(msg);
	memset(&built, 0xa5, sizeof(built));
	rtrs_put_conn_rsp(&built, &rsp);
	assert_memory_equal(&built, msg, sizeof(msg));
	rsp.new_rkey = false;
	put32(msg, 16, 0);
	rtrs_put_conn_rsp(&built, &rsp);
	assert_memory_equal(&built, msg, sizeof(msg));
}

/* A refusal carries its errno in two's complement. */
static void conn_rsp_refusal_is_built(void **state)
{
	struct rtrs_msg_conn_rsp built;
	struct rtrs_conn_rsp rsp = { .err = -EEXIST };
	u8 *msg = (u8 *)&built;

	(void)state;
	memset(&built, 0xa5, sizeof(built));
	rtrs_put_conn_rsp(&built, &rsp);
	assert_int_equal(msg[0] | msg[1] << 8, 0x1bbd);
	assert_int_equal(msg[2] | msg[3] << 8, 0x0200);
	assert_int_equal(msg[4] | msg[5] << 8, 0x10000 - EEXIST);
}

static void conn_rsp_is_read(void **state)
{
	struct rtrs_conn_rsp rsp;
	u8 msg[CONN_LEN + 140];

	(void)state;
	conn_rsp_bytes(msg);
	assert_int_equal(conn_rsp_get(msg, CONN_LEN, true, &rsp), 0);
	assert_int_equal(rsp.err, 0);
	assert_int_equal(rsp.queue_depth, DEPTH);
	assert_int_equal(rsp.max_io_size, CHUNK - HDR);
	assert_int_equal(rsp.max_hdr_size, HDR);
	assert_true(rsp.new_rkey);
	/* bits of later versions, padding of the CM */
	memset(msg + 20, 0xff, sizeof(msg) - 20);
	put32(msg, 16, 0xfffffffd);
	assert_int_equal(conn_rsp_get(msg, sizeof(msg), true, &rsp), 0);
	assert_false(rsp.new_rkey);
}

static void conn_rsp_too_short(void **state)
{
	struct rtrs_conn_rsp rsp;
	u8 msg[CONN_LEN];
	size_t len;

	(void)state;
	conn_rsp_bytes(msg);
	for (len = 0; len < CONN_LEN; len++)
		assert_true(conn_rsp_get(msg, len, true, &rsp));
}

static void conn_rsp_magic_and_version(void **state)
{
	struct rtrs_conn_rsp rsp;
	u8 msg[CONN_LEN];
	int bit;

	(void)state;
	for (bit = 0; bit < 16; bit++) {
		conn_rsp_bytes(msg);
		put16(msg, 0, 0x1bbd ^ 1 << bit);
		assert_true(conn_rsp_get(msg, CONN_LEN, true, &rsp));
	}
	conn_rsp_bytes(msg);
	put16(msg, 2, 0x02ff);
	assert_false(conn_rsp_get(msg, CONN_LEN, true, &rsp));
	put16(msg, 2, 0x0300);
	assert_true(conn_rsp_get(msg, CONN_LEN, true, &rsp));
	put16(msg, 2, 0x0100);
	assert_true(conn_rsp_get(msg, CONN_LEN, true, &rsp));
}

static void conn_rsp_sizes(void **state)
{
	(void)state;
	assert_false(sizes_are_refused(1, 4096, 4096));
	assert_false(sizes_are_refused(32768, 4096, 4096));
	assert_true(sizes_are_refused(0, CHUNK - HDR, HDR));
	assert_true(sizes_are_refused(65535, 4096, 4096));
	/* no power of two, too small */
	assert_true(sizes_are_refused(DEPTH, CHUNK, HDR));
	assert_true(sizes_are_refused(DEPTH, CHUNK - HDR - 1, HDR));
	assert_true(sizes_are_refused(DEPTH, 2048, 2048));
	/* too large for the immediate data */
	assert_true(sizes_are_refused(DEPTH, (1 << 20) - HDR, HDR));
	/* a sum that is sound only because it wrapped around */
	assert_true(sizes_are_refused(1, 0xffffe000, 0x4000));
	assert_true(sizes_are_refused(1, 0x4000, 0xffffe000));
	assert_true(sizes_are_refused(1, 0x80000000, 0x80000000));
	/* nothing to carry, or no room for a read's header */
	assert_true(sizes_are_refused(1, 0, 8192));
	assert_false(sizes_are_refused(1, 1, 8191));
	assert_true(sizes_are_refused(1, 8192, 0));
	assert_true(sizes_are_refused(1, 8192 - 23, 23));
	assert_false(sizes_are_refused(1, 8192 - 24, 24));
}

static int errno_of_refusal(u16 value)
{
	struct rtrs_conn_rsp rsp;
	u8 msg[CONN_LEN];
	int err;

	memset(msg, 0, sizeof(msg));
	put16(msg, 0, 0x1bbd);
	put16(msg, 2, 0x0200);
	put16(msg, 4, value);
	err = conn_rsp_get(msg, sizeof(msg), false, &rsp);
	return err ? err : rsp.err;
}

static void conn_rsp_errno(void **state)
{
	struct rtrs_conn_rsp rsp;
	u8 msg[CONN_LEN];

	(void)state;
	assert_int_equal(errno_of_refusal(0x10000 - EEXIST), -EEXIST);
	assert_int_equal(errno_of_refusal(0x10000 - ENXIO), -ENXIO);
	assert_int_equal(errno_of_refusal(0x10000 - 4095), -4095);
	/* whatever it says, a refusal is no success */
	assert_true(errno_of_refusal(0) < 0);
	assert_true(errno_of_refusal(1) < 0);
	assert_true(errno_of_refusal(0x7fff) < 0);
	assert_true(errno_of_refusal(0x8000) < 0);
	/* and no acceptance has an errno */
	conn_rsp_bytes(msg);
	put16(msg, 4, 0x10000 - EEXIST);
	assert_true(conn_rsp_get(msg, sizeof(msg), true, &rsp));
	put16(msg, 4, 1);
	assert_true(conn_rsp_get(msg, sizeof(msg), true, &rsp));
}

/* ---- info_req ---- */

#define INFO_REQ_LEN 272

static void info_req_bytes(u8 *msg, const char *name)
{
	memset(msg, 0, INFO_REQ_LEN);
	memcpy(msg + 2, name, strlen(name));
}

static bool info_req_is_refused(const u8 *msg, size_t len, char name[255])
{
	const char *rule = NULL;
	void *copy = exactly(msg, len);
	int err;

	memset(name, 0xa5, 255);
	err = rtrs_get_info_req(copy, len, name, &rule);
	free(copy);
	return refused(err, rule);
}

static void info_req_is_built(void **state)
{
	struct rtrs_msg_info_req built;
	char longest[300];
	u8 msg[INFO_REQ_LEN];

	(void)state;
	info_req_bytes(msg, "name");
	memset(&built, 0xa5, sizeof(built));
	rtrs_put_info_req(&built, "name");
	assert_memory_equal(&built, msg, sizeof(msg));
	memset(longest, 'x', sizeof(longest));
	longest[254] = '\0';
	info_req_bytes(msg, longest);
	memset(&built, 0xa5, sizeof(built));
	rtrs_put_info_req(&built, longest);
	assert_memory_equal(&built, msg, sizeof(msg));
	/* one that is too long is cut, and nothing behind it touched */
	memset(longest, 'x', sizeof(longest));
	longest[299] = '\0';
	rtrs_put_info_req(&built, longest);
	assert_memory_equal(&built, msg, sizeof(msg));
}

static void info_req_is_read(void **state)
{
	u8 msg[INFO_REQ_LEN];
	char name[255];

	(void)state;
	info_req_bytes(msg, "name");
	assert_false(info_req_is_refused(msg, sizeof(msg), name));
	assert_string_equal(name, "name");
	memset(msg + 257, 0xff, 15);
	assert_false(info_req_is_refused(msg, sizeof(msg), name));
	memset(msg + 2, 'x', 254);
	assert_false(info_req_is_refused(msg, sizeof(msg), name));
	assert_int_equal(strlen(name), 254);
}

static void info_req_rules(void **state)
{
	u8 msg[INFO_REQ_LEN];
	char name[255];
	size_t len;
	u16 type;

	(void)state;
	info_req_bytes(msg, "name");
	for (len = 0; len < INFO_REQ_LEN; len++)
		assert_true(info_req_is_refused(msg, len, name));
	for (type = 1; type < 16; type++) {
		put16(msg, 0, type);
		assert_true(info_req_is_refused(msg, sizeof(msg), name));
	}
	put16(msg, 0, 0x0100);
	assert_true(info_req_is_refused(msg, sizeof(msg), name));
	info_req_bytes(msg, "");
	assert_true(info_req_is_refused(msg, sizeof(msg), name));
	info_req_bytes(msg, "a/b");
	assert_true(info_req_is_refused(msg, sizeof(msg), name));
	info_req_bytes(msg, "..");
	assert_true(info_req_is_refused(msg, sizeof(msg), name));
	/* no NUL in the field; the one behind it does not count */
	info_req_bytes(msg, "");
	memset(msg + 2, 'x', 255);
	assert_true(info_req_is_refused(msg, sizeof(msg), name));
}

/* ---- info_rsp ---- */

static const struct rtrs_conn_rsp small = {
	.queue_depth = 4, .max_io_size = 4096, .max_hdr_size = 4096,
};

/* @nr descriptors of @len bytes; the length of the message is returned. */
static size_t info_rsp_bytes(u8 *msg, u32 nr, u32 len)
{
	u32 i;

	memset(msg, 0, 8 + 16 * nr);
	put16(msg, 0, 1);
	put16(msg, 2, nr);
	for (i = 0; i < nr; i++) {
		put64(msg, 8 + 16 * i, 0x123456789abc0000ULL + i * 0x10000);
		put32(msg, 16 + 16 * i, 0x1000 + i);
		put32(msg, 20 + 16 * i, len);
	}
	return 8 + 16 * nr;
}

static bool info_rsp_is_refused(const u8 *msg, size_t len, bool new_rkey)
{
	struct rtrs_conn_rsp geo = small;
	const char *rule = NULL;
	void *copy = exactly(msg, len);
	int err;

	geo.new_rkey = new_rkey;
	err = rtrs_check_info_rsp(copy, len, &geo, &rule);
	free(copy);
	return refused(err, rule);
}

static void info_rsp_descriptors(void **state)
{
	u8 msg[8 + 16 * 8];
	size_t len;

	(void)state;
	len = info_rsp_bytes(msg, 4, 8192);
	assert_false(info_rsp_is_refused(msg, len, true));
	assert_false(info_rsp_is_refused(msg, len, false));
	/* several chunks each: only where keys do not change */
	len = info_rsp_bytes(msg, 2, 16384);
	assert_false(info_rsp_is_refused(msg, len, false));
	assert_true(info_rsp_is_refused(msg, len, true));
	len = info_rsp_bytes(msg, 1, 32768);
	assert_false(info_rsp_is_refused(msg, len, false));
	assert_true(info_rsp_is_refused(msg, len, true));
	/* none; no divisor of the depth; more than chunks */
	len = info_rsp_bytes(msg, 0, 0);
	assert_true(info_rsp_is_refused(msg, len, false));
	len = info_rsp_bytes(msg, 3, 8192);
	assert_true(info_rsp_is_refused(msg, len, false));
	len = info_rsp_bytes(msg, 5, 8192);
	assert_true(info_rsp_is_refused(msg, len, false));
	len = info_rsp_bytes(msg, 8, 4096);
	assert_true(info_rsp_is_refused(msg, len, false));
}

static void info_rsp_lengths(void **state)
{
	u8 msg[8 + 16 * 8];
	size_t len;

	(void)state;
	len = info_rsp_bytes(msg, 2, 16384);
	put32(msg, 20, 16383);
	assert_true(info_rsp_is_refused(msg, len, false));
	put32(msg, 20, 0);
	assert_true(info_rsp_is_refused(msg, len, false));
	put32(msg, 20, 0xffffffff);
	assert_true(info_rsp_is_refused(msg, len, false));
	/* too much by one chunk, too little by one */
	put32(msg, 20, 24576);
	assert_true(info_rsp_is_refused(msg, len, false));
	put32(msg, 20, 8192);
	assert_true(info_rsp_is_refused(msg, len, false));
	/* a sum that is right only because it wrapped around */
	len = info_rsp_bytes(msg, 4, 8192);
	put32(msg, 20, 0x80002000);
	put32(msg, 36, 0x80002000);
	assert_true(info_rsp_is_refused(msg, len, false));
}

static void info_rsp_length_of_message(void **state)
{
	u8 msg[8 + 16 * 8];
	size_t len, short_len;

	(void)state;
	len = info_rsp_bytes(msg, 4, 8192);
	for (short_len = 0; short_len < len; short_len++)
		assert_true(info_rsp_is_refused(msg, short_len, false));
	put16(msg, 2, 0xffff);
	assert_true(info_rsp_is_refused(msg, len, false));
	put16(msg, 2, 0x8004);
	assert_true(info_rsp_is_refused(msg, len, false));
	len = info_rsp_bytes(msg, 4, 8192);
	memset(msg + 4, 0xff, 4);
	assert_false(info_rsp_is_refused(msg, len, false));
	put16(msg, 0, 0);
	assert_true(info_rsp_is_refused(msg, len, false));
	put16(msg, 0, 0x0101);
	assert_true(info_rsp_is_refused(msg, len, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(geometry),
		cmocka_unit_test(names),
		cmocka_unit_test(names_in_utf8),
		cmocka_unit_test(conn_req_is_built),
		cmocka_unit_test(conn_req_is_read),
		cmocka_unit_test(conn_req_too_short),
		cmocka_unit_test(conn_req_magic_and_version),
		cmocka_unit_test(conn_req_cids),
		cmocka_unit_test(conn_req_reserved),
		cmocka_unit_test(conn_rsp_is_built),
		cmocka_unit_test(conn_rsp_refusal_is_built),
		cmocka_unit_test(conn_rsp_is_read),
		cmocka_unit_test(conn_rsp_too_short),
		cmocka_unit_test(conn_rsp_magic_and_version),
		cmocka_unit_test(conn_rsp_sizes),
		cmocka_unit_test(conn_rsp_errno),
		cmocka_unit_test(info_req_is_built),
		cmocka_unit_test(info_req_is_read),
		cmocka_unit_test(info_req_rules),
		cmocka_unit_test(info_rsp_descriptors),
		cmocka_unit_test(info_rsp_lengths),
		cmocka_unit_test(info_rsp_length_of_message),
	};

	return cmocka_run_group_tests_name("handshake", tests, NULL, NULL);
}
