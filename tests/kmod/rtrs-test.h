/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the test client and the test server agree on: the user message that
 * tells the server what to do, and the pattern of the data.  Also the parser
 * of the key=value lines that drive both through debugfs.
 */
#ifndef RTRS_TEST_H
#define RTRS_TEST_H

#include <linux/bits.h>
#include <linux/stddef.h>
#include <linux/types.h>

struct file;

#define RTEST_MAGIC 0x54525452

/* The wire carries 9 bits of errno; what does not fit arrives as EIO. */
#define RTEST_ERRNO_MAX 511

/* What the server answers when it has found wrong bytes. */
#define RTEST_MISMATCH EILSEQ

/**
 * enum rtest_dir - what the request does with data
 * @RTEST_READ: server to client
 * @RTEST_WRITE: client to server
 * @RTEST_NONE: none
 */
enum rtest_dir {
	RTEST_READ,
	RTEST_WRITE,
	RTEST_NONE,
};

/**
 * enum rtest_mode - how the server answers
 * @RTEST_INLINE: rtrs_srv_resp_rdma() from within rdma_ev
 * @RTEST_RETURN: an error by the return value of rdma_ev
 * @RTEST_WORK: later, from a workqueue
 * @RTEST_REORDER: later, several together, last come first served
 * @RTEST_IRQ: from a hard interrupt
 * @RTEST_NEVER: when the server is told to flush, or closes
 * @RTEST_MODES: number of modes
 */
enum rtest_mode {
	RTEST_INLINE,
	RTEST_RETURN,
	RTEST_WORK,
	RTEST_REORDER,
	RTEST_IRQ,
	RTEST_NEVER,
	RTEST_MODES,
};

/**
 * struct rtest_msg - head of a user message
 * @magic: RTEST_MAGIC
 * @csum: rtest_csum() of this structure
 * @session: random number of the session
 * @seq: number of the request in its session
 * @seed: anything; goes into the pattern
 * @data_len: bytes to read or write
 * @usr_len: bytes of the whole user message, this head included; the rest is
 *	filled with the pattern
 * @delay_us: how long the server keeps the answer back
 * @err: errno to answer, as a positive number
 * @dir: enum rtest_dir
 * @mode: enum rtest_mode
 *
 * A user message shorter than this has no head; it holds rtest_tiny() bytes.
 */
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

/* Byte number @pos of a user message that is too short for a head. */
static inline u8 rtest_tiny(size_t pos)
{
	return 0xa5 + 7 * pos;
}

u32 rtest_csum(const struct rtest_msg *msg);

/* The pattern: a key for each stream of bytes, in it a word for each offset. */

#define RTEST_USR 0x100 /* beside enum rtest_dir: key of a user message */

u64 rtest_key(u64 session, u32 seq, u32 seed, u32 what);
void rtest_fill(void *to, size_t len, u64 key, size_t pos);
size_t rtest_check(const void *from, size_t len, u64 key, size_t pos);

/* A small generator, for choices that come out the same in every run. */

struct rtest_rnd {
	u64 state;
};

u32 rtest_rnd(struct rtest_rnd *rnd);

/* Parameters: lines of key=value. */

/**
 * struct rtest_range - a number, or a choice of numbers
 * @lo: smallest
 * @hi: largest; as @lo when there is no choice
 * @sweep: take one after the other ("lo-hi") instead of any ("lo..hi")
 */
struct rtest_range {
	u32 lo;
	u32 hi;
	bool sweep;
};

u32 rtest_pick(const struct rtest_range *range, struct rtest_rnd *rnd, u32 n);

#define RTEST_LIST_MAX 256

struct rtest_list {
	char *item[RTEST_LIST_MAX];
	unsigned int nr;
};

/**
 * enum rtest_type - what a parameter is stored as
 * @RTEST_U32: u32
 * @RTEST_S32: s32
 * @RTEST_CHOICE: u32, index of a word in a list
 * @RTEST_RANGE: struct rtest_range
 * @RTEST_STRING: char *, points into the line
 * @RTEST_STRINGS: struct rtest_list; the key may come several times
 */
enum rtest_type {
	RTEST_U32,
	RTEST_S32,
	RTEST_CHOICE,
	RTEST_RANGE,
	RTEST_STRING,
	RTEST_STRINGS,
};

/**
 * struct rtest_param - a key that a line may hold
 * @key: its name, NULL ends the table
 * @type: what its value is
 * @offset: of the field in the structure to fill in
 * @words: for RTEST_CHOICE, ended by NULL
 */
struct rtest_param {
	const char *key;
	enum rtest_type type;
	size_t offset;
	const char *const *words;
};

#define RTEST_PARAM(struct_, field_, type_)				\
	{ .key = #field_, .type = RTEST_##type_,			\
	  .offset = offsetof(struct struct_, field_) }

#define RTEST_PARAM_WORDS(struct_, field_, words_)			\
	{ .key = #field_, .type = RTEST_CHOICE, .words = words_,	\
	  .offset = offsetof(struct struct_, field_) }

int rtest_parse(char *line, const struct rtest_param *table, void *to);
ssize_t rtest_write(const char __user *buf, size_t len,
		    int (*fn)(void *priv, char *line), void *priv);

#endif /* RTRS_TEST_H */
