// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of rtrs-addr.c: what is an address, what is none, and that what
 * is printed is read back as the same address.
 *
 * Each rule of the head of rtrs-addr.c has a test with the values at its edge.
 * Storage is filled with a pattern first, so that a field that was not written
 * shows, and printing goes to buffers of exactly the size given, so that the
 * address sanitizer sees one byte too many.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <linux/errno.h>
#include <linux/string.h>
#include <rdma/ib.h>

#include "rtrs.h"

#define PORT 1234

/* Room for one pair, as a caller has it. */
struct pair {
	struct sockaddr_storage src, dst;
	struct rtrs_addr addr;
};

static void pair_init(struct pair *pair)
{
	memset(pair, 0xa5, sizeof(*pair));
	pair->addr.src = &pair->src;
	pair->addr.dst = &pair->dst;
}

/* The text lies in memory of exactly its length, without a NUL. */
static int parse_bytes(struct pair *pair, const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);
	int err;

	assert_non_null(copy);
	memcpy(copy, text, len);
	pair_init(pair);
	err = rtrs_addr_to_sockaddr(copy, len, PORT, &pair->addr);
	free(copy);
	return err;
}

static int parse(struct pair *pair, const char *text)
{
	return parse_bytes(pair, text, strlen(text));
}

static void assert_v4(const struct sockaddr_storage *ss, const char *ip,
		      u16 port)
{
	const struct sockaddr_in *sin = (const struct sockaddr_in *)ss;
	struct sockaddr_in want = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};

	assert_int_equal(inet_pton(AF_INET, ip, &want.sin_addr), 1);
	assert_memory_equal(sin, &want, sizeof(want));
}

static void assert_v6(const struct sockaddr_storage *ss, const char *ip,
		      u16 port, u32 scope)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)ss;
	struct sockaddr_in6 want = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
		.sin6_scope_id = scope,
	};

	assert_int_equal(inet_pton(AF_INET6, ip, &want.sin6_addr), 1);
	assert_memory_equal(sin6, &want, sizeof(want));
}

static void assert_gid(const struct sockaddr_storage *ss, const char *gid,
		       u16 port)
{
	const struct sockaddr_ib *sib = (const struct sockaddr_ib *)ss;
	u8 raw[16];

	assert_int_equal(inet_pton(AF_INET6, gid, raw), 1);
	assert_int_equal(sib->sib_family, AF_IB);
	assert_memory_equal(sib->sib_addr.sib_raw, raw, sizeof(raw));
	assert_int_equal(be64toh(sib->sib_sid), 0x13f0000ULL | port);
	assert_true(sib->sib_sid_mask == ~0ULL);
	assert_int_equal(sib->sib_pkey, 0xffff);
	assert_int_equal(sib->sib_flowinfo, 0);
	assert_int_equal(sib->sib_scope_id, 0);
}

static void v4_alone(void **state)
{
	struct pair pair;

	(void)state;
	assert_int_equal(parse(&pair, "ip:10.0.0.1"), 0);
	assert_null(pair.addr.src);
	assert_ptr_equal(pair.addr.dst, &pair.dst);
	assert_v4(&pair.dst, "10.0.0.1", PORT);
	assert_int_equal(parse(&pair, "ip:255.255.255.255"), 0);
	assert_v4(&pair.dst, "255.255.255.255", PORT);
	assert_int_equal(parse(&pair, "ip:0.0.0.0"), 0);
	assert_v4(&pair.dst, "0.0.0.0", PORT);
}

static void v6_alone(void **state)
{
	struct pair pair;

	(void)state;
	assert_int_equal(parse(&pair, "ip:fd00::1:2"), 0);
	assert_null(pair.addr.src);
	assert_v6(&pair.dst, "fd00::1:2", PORT, 0);
	assert_int_equal(parse(&pair, "ip:::1"), 0);
	assert_v6(&pair.dst, "::1", PORT, 0);
	assert_int_equal(parse(&pair, "ip:::ffff:10.0.0.1"), 0);
	assert_v6(&pair.dst, "::ffff:10.0.0.1", PORT, 0);
	assert_int_equal(parse(&pair, "ip:2001:0db8:85A3:0000:0000:8a2e:0370:7334"), 0);
	assert_v6(&pair.dst, "2001:db8:85a3::8a2e:370:7334", PORT, 0);
}

static void v6_scope(void **state)
{
	struct pair pair;

	(void)state;
	assert_int_equal(parse(&pair, "ip:fe80::1%lo"), 0);
	assert_v6(&pair.dst, "fe80::1", PORT, 1);
	assert_int_equal(parse(&pair, "ip:fe80::1%7@ip:fe80::2%8"), 0);
	assert_v6(&pair.src, "fe80::1", 0, 7);
	assert_v6(&pair.dst, "fe80::2", PORT, 8);
	/* without a scope: left to whoever connects */
	assert_int_equal(parse(&pair, "ip:fe80::1"), 0);
	assert_v6(&pair.dst, "fe80::1", PORT, 0);
	/* only link-local addresses have one */
	assert_int_equal(parse(&pair, "ip:fd00::1%lo"), -EINVAL);
	assert_int_equal(parse(&pair, "ip:fd00::1%7"), -EINVAL);
	assert_int_equal(parse(&pair, "ip:fe80::1%"), -EINVAL);
	assert_int_equal(parse(&pair, "ip:fe80::1%nosuch0"), -EINVAL);
	assert_int_equal(parse(&pair, "ip:10.0.0.1%lo"), -EINVAL);
}

static void gid_alone(void **state)
{
	struct pair pair;

	(void)state;
	assert_int_equal(parse(&pair, "gid:fe80:0000:0000:0000:0002:c903:0010:c0f5"), 0);
	assert_null(pair.addr.src);
	assert_gid(&pair.dst, "fe80::2:c903:10:c0f5", PORT);
	assert_int_equal(parse(&pair, "gid:fe80::1"), 0);
	assert_gid(&pair.dst, "fe80::1", PORT);
	/* what a scope is good for, a GID has in itself */
	assert_int_equal(parse(&pair, "gid:fe80::1%lo"), -EINVAL);
	assert_int_equal(parse(&pair, "gid:10.0.0.1"), -EINVAL);
}

static void pairs(void **state)
{
	struct pair pair;

	(void)state;
	assert_int_equal(parse(&pair, "ip:10.0.0.1@ip:10.0.0.2"), 0);
	assert_ptr_equal(pair.addr.src, &pair.src);
	assert_v4(&pair.src, "10.0.0.1", 0);
	assert_v4(&pair.dst, "10.0.0.2", PORT);
	assert_int_equal(parse(&pair, "ip:fd00::1,ip:fd00::2"), 0);
	assert_v6(&pair.src, "fd00::1", 0, 0);
	assert_v6(&pair.dst, "fd00::2", PORT, 0);
	assert_int_equal(parse(&pair, "gid:fe80::1@gid:fe80::2"), 0);
	assert_gid(&pair.src, "fe80::1", 0);
	assert_gid(&pair.dst, "fe80::2", PORT);
}

static void pairs_of_two_families(void **state)
{
	struct pair pair;

	(void)state;
	assert_int_equal(parse(&pair, "ip:10.0.0.1@ip:fd00::2"), -EINVAL);
	assert_int_equal(parse(&pair, "gid:fe80::1@ip:10.0.0.2"), -EINVAL);
	assert_int_equal(parse(&pair, "ip:fd00::1,gid:fe80::2"), -EINVAL);
}

static void no_room_for_source(void **state)
{
	static const char text[] = "ip:10.0.0.1@ip:10.0.0.2";
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.addr.src = NULL;
	assert_int_equal(rtrs_addr_to_sockaddr(text, strlen(text), PORT,
					       &pair.addr), -EINVAL);
	assert_int_equal(rtrs_addr_to_sockaddr(text, strlen("ip:10.0.0.1"),
					       PORT, &pair.addr), 0);
	assert_v4(&pair.dst, "10.0.0.1", PORT);
}

static void ports(void **state)
{
	static const char text[] = "ip:10.0.0.1";
	static const u16 edges[] = { 0, 1, 0x1234, 65535 };
	struct pair pair;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(edges) / sizeof(*edges); i++) {
		pair_init(&pair);
		assert_int_equal(rtrs_addr_to_sockaddr(text, strlen(text),
						       edges[i], &pair.addr), 0);
		assert_v4(&pair.dst, "10.0.0.1", edges[i]);
	}
}

static const char * const malformed[] = {
	/* nothing, or nothing behind the prefix */
	"", "i", "ip", "ip:", "gid", "gid:",
	/* no prefix, or none that we know */
	"10.0.0.1", "fe80::1", "IP:10.0.0.1", "Gid:fe80::1", "ib:10.0.0.1",
	"ipv4:10.0.0.1", " ip:10.0.0.1", ":10.0.0.1", "gid:ip:10.0.0.1",
	/* one half, or both, of a pair missing */
	"@", ",", "@@", "@ip:10.0.0.1", ",ip:10.0.0.1", "ip:10.0.0.1@",
	"ip:10.0.0.1,", "ip:@ip:", "10.0.0.1@ip:10.0.0.2",
	"ip:10.0.0.1@10.0.0.2",
	/* three of them */
	"ip:10.0.0.1@ip:10.0.0.2@ip:10.0.0.3", "ip:10.0.0.1,@ip:10.0.0.2",
	"ip:10.0.0.1@ip:10.0.0.2,",
	/* no address */
	"ip:10.0.0", "ip:10.0.0.256", "ip:10.0.0.1.2", "ip:10..0.1", "ip:.",
	"ip:host", "ip:1", "ip:1:2:3:4:5:6:7", "ip::1:2:3:4:5:6:7:8",
	"ip:1:2:3:4:5:6:7:8:9", "ip:12345::1", "ip:fe80::g", "ip:1::2::3",
	"gid:0", "gid:fe80", "gid:fe80::1::2", "gid:host",
	/* an address with something behind it */
	"ip:10.0.0.1x", "ip:10.0.0.1 ", "ip:10.0.0.1\n", "ip:10.0.0.1:80",
	"ip:::ffff:10.0.0.1:80", "ip:10.0.0.1/24", "ip:10.0.0.1\nx",
	"ip:10.0.0.1:", "ip:fe80::1/64",
	"ip:fe80::1 ", "ip:fe80::1\n", "ip:[fe80::1]", "ip:fe80::1%1\n",
	"ip:fe80::1%1 ", "gid:fe80::1x", "gid:fe80::1 ", "gid:fe80::1\n",
	"gid:fe80::1/64", "ip:10.0.0.1\t@ip:10.0.0.2", "ip:10.0.0.1@ ip:10.0.0.2",
};

static void malformed_texts(void **state)
{
	struct pair pair;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(malformed) / sizeof(*malformed); i++) {
		if (parse(&pair, malformed[i]) != -EINVAL)
			fail_msg("\"%s\" is taken for an address", malformed[i]);
		/* the caller may use its storage again */
		assert_ptr_equal(pair.addr.src, &pair.src);
		assert_ptr_equal(pair.addr.dst, &pair.dst);
	}
}

static void malformed_bytes(void **state)
{
	struct pair pair;

	(void)state;
	assert_int_equal(parse_bytes(&pair, "ip:10.0.0.1\0", 12), -EINVAL);
	assert_int_equal(parse_bytes(&pair, "ip:10.0.0.1\0x", 13), -EINVAL);
	assert_int_equal(parse_bytes(&pair, "\0", 1), -EINVAL);
	assert_int_equal(parse_bytes(&pair, "ip:10.0.0.1\xff", 12), -EINVAL);
}

/* The text ends where its length says, not at a NUL. */
static void length_counts(void **state)
{
	struct pair pair;

	(void)state;
	assert_int_equal(parse_bytes(&pair, "ip:10.0.0.123", 11), 0);
	assert_v4(&pair.dst, "10.0.0.1", PORT);
	assert_int_equal(parse_bytes(&pair, "ip:10.0.0.1@ip:10.0.0.2", 12),
			 -EINVAL);
	assert_int_equal(parse_bytes(&pair, "ip:10.0.0.1", 3), -EINVAL);
	assert_int_equal(parse_bytes(&pair, "ip:10.0.0.1", 0), -EINVAL);
}

static void too_long(void **state)
{
	char text[8192];
	struct pair pair;
	size_t len;

	(void)state;
	memset(text, '1', sizeof(text));
	memcpy(text, "ip:", 3);
	for (len = 4; len < sizeof(text); len++)
		assert_int_equal(parse_bytes(&pair, text, len), -EINVAL);
	memset(text, '0', sizeof(text));
	memcpy(text, "ip:fe80::1%", 11);
	text[sizeof(text) - 1] = '1';
	assert_int_equal(parse_bytes(&pair, text, sizeof(text)), -EINVAL);
	memset(text, '@', sizeof(text));
	assert_int_equal(parse_bytes(&pair, text, sizeof(text)), -EINVAL);
}

/* Prints into memory of exactly @size bytes. */
static char *print(const struct rtrs_addr *addr, size_t size, int *len)
{
	char *buf = malloc(size ? size : 1);

	assert_non_null(buf);
	memset(buf, '#', size ? size : 1);
	*len = rtrs_addr_to_str(addr, buf, size);
	return buf;
}

/* Parse @text, print it: the outcome is @want, at any size of the buffer. */
static void assert_printed(const char *text, const char *want)
{
	struct pair pair;
	size_t size;
	char *buf;
	int len;

	assert_int_equal(parse(&pair, text), 0);
	for (size = 1; size < strlen(want) + 3; size++) {
		size_t fits = size - 1 < strlen(want) ? size - 1 : strlen(want);

		buf = print(&pair.addr, size, &len);
		assert_int_equal(len, fits);
		assert_memory_equal(buf, want, fits);
		assert_int_equal(buf[fits], '\0');
		free(buf);
	}
	buf = print(&pair.addr, 0, &len);
	assert_int_equal(len, 0);
	assert_int_equal(*buf, '#');
	free(buf);
}

static void printed(void **state)
{
	(void)state;
	assert_printed("ip:10.0.0.1", "ip:10.0.0.1");
	assert_printed("ip:fe80:0::0:1", "ip:fe80::1");
	assert_printed("ip:fe80::1%lo", "ip:fe80::1");
	assert_printed("ip:::", "ip:::");
	assert_printed("gid:fe80::1",
		       "gid:fe80:0000:0000:0000:0000:0000:0000:0001");
	assert_printed("ip:10.0.0.1,ip:10.0.0.2", "ip:10.0.0.1@ip:10.0.0.2");
	assert_printed("ip:fd00::1@ip:fd00::2", "ip:fd00::1@ip:fd00::2");
	assert_printed("gid:fe80::1,gid:fe80::2",
		       "gid:fe80:0000:0000:0000:0000:0000:0000:0001@gid:fe80:0000:0000:0000:0000:0000:0000:0002");
}

static void printed_is_read_back(void **state)
{
	static const char * const texts[] = {
		"ip:192.168.255.1@ip:10.0.0.2", "ip:fd00::ffff:1@ip:::1",
		"gid:fe80::2:c903:10:c0f5@gid:fe80::1",
	};
	struct pair pair, again;
	char buf[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(parse(&pair, texts[i]), 0);
		rtrs_addr_to_str(&pair.addr, buf, sizeof(buf));
		assert_int_equal(parse(&again, buf), 0);
		assert_memory_equal(&pair.src, &again.src, sizeof(pair.src));
		assert_memory_equal(&pair.dst, &again.dst, sizeof(pair.dst));
	}
}

static void unknown_family(void **state)
{
	struct sockaddr_storage ss = { .ss_family = AF_UNIX };
	char buf[32];

	(void)state;
	assert_int_equal(sockaddr_to_str((struct sockaddr *)&ss, buf,
					 sizeof(buf)), strlen("family:1"));
	assert_string_equal(buf, "family:1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(v4_alone),
		cmocka_unit_test(v6_alone),
		cmocka_unit_test(v6_scope),
		cmocka_unit_test(gid_alone),
		cmocka_unit_test(pairs),
		cmocka_unit_test(pairs_of_two_families),
		cmocka_unit_test(no_room_for_source),
		cmocka_unit_test(ports),
		cmocka_unit_test(malformed_texts),
		cmocka_unit_test(malformed_bytes),
		cmocka_unit_test(length_counts),
		cmocka_unit_test(too_long),
		cmocka_unit_test(printed),
		cmocka_unit_test(printed_is_read_back),
		cmocka_unit_test(unknown_family),
	};

	return cmocka_run_group_tests_name("addr", tests, NULL, NULL);
}
