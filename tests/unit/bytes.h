/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages put together byte by byte, at the offsets that the protocol gives,
 * without the structures of rtrs-pri.h: so a wrong structure shows.
 */
#ifndef BYTES_H
#define BYTES_H

/* cmocka.h wants these in front of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <linux/string.h>

#include "rtrs-msg.h"

static inline void put16(u8 *msg, size_t at, u16 value)
{
	msg[at] = value;
	msg[at + 1] = value >> 8;
}

static inline void put32(u8 *msg, size_t at, u32 value)
{
	put16(msg, at, value);
	put16(msg, at + 2, value >> 16);
}

static inline void put64(u8 *msg, size_t at, u64 value)
{
	put32(msg, at, value);
	put32(msg, at + 4, value >> 32);
}

/* A copy of the first @len bytes of @msg, in memory of just this length. */
static inline void *exactly(const void *msg, size_t len)
{
	void *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, msg, len);
	return copy;
}

/* Both, or neither: an error, and the name of the rule that was broken. */
static inline bool refused(int err, const char *rule)
{
	if (err) {
		assert_true(err < 0);
		assert_non_null(rule);
		assert_true(strlen(rule) > 0);
	}
	return err;
}

#endif /* BYTES_H */
