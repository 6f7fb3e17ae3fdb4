// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the test client and the test server share.
 *
 * The pattern: each stream of bytes, that is the data or the user message of
 * one request, has a key of 64 bits that is mixed from session, sequence
 * number, seed and kind.  The stream is a sequence of 64-bit words, of which
 * no two are equal: a word that is stale, misplaced, or from another request
 * or session is found.  Streams may be cut at any byte.
 *
 * The parameters: words of key=value with the usual white space between them,
 * stored by a table.  Whoever writes a wrong one gets -EINVAL and one line in
 * the log.
 */
#define pr_fmt(fmt) "rtrs-test: " fmt

#include <linux/err.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "rtrs-test.h"

#define RTEST_STEP 0x9e3779b97f4a7c15ULL /* odd: no word comes twice */
#define RTEST_LINE_MAX (64 * 1024)

static u64 rtest_mix(u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/**
 * rtest_rnd() - the next number
 * @rnd: generator
 *
 * Return: 32 bits that look random.
 */
u32 rtest_rnd(struct rtest_rnd *rnd)
{
	rnd->state += RTEST_STEP;
	return rtest_mix(rnd->state);
}
EXPORT_SYMBOL_GPL(rtest_rnd);

/**
 * rtest_csum() - checksum of the head of a user message
 * @msg: the head; its field for the checksum does not count
 *
 * Return: the checksum.
 */
u32 rtest_csum(const struct rtest_msg *msg)
{
	struct rtest_msg copy = *msg;

	copy.csum = 0;
	return jhash(&copy, sizeof(copy), RTEST_MAGIC);
}
EXPORT_SYMBOL_GPL(rtest_csum);

/**
 * rtest_key() - key of a stream of bytes
 * @session: random number of the session
 * @seq: number of the request
 * @seed: any number
 * @what: enum rtest_dir or RTEST_USR
 *
 * Return: the key.
 */
u64 rtest_key(u64 session, u32 seq, u32 seed, u32 what)
{
	return rtest_mix(rtest_mix(session + what) ^ ((u64)seq << 32 | seed));
}
EXPORT_SYMBOL_GPL(rtest_key);

static u64 rtest_word(u64 key, size_t pos)
{
	return key + pos / sizeof(u64) * RTEST_STEP;
}

static u8 rtest_byte(u64 key, size_t pos)
{
	return rtest_word(key, pos) >> pos % sizeof(u64) * 8;
}

/**
 * rtest_fill() - write a part of a stream
 * @to: where
 * @len: bytes
 * @key: key of the stream
 * @pos: offset of the part in the stream
 */
void rtest_fill(void *to, size_t len, u64 key, size_t pos)
{
	u8 *p = to;
	u64 word;

	for (; len && pos % sizeof(word); len--)
		*p++ = rtest_byte(key, pos++);
	for (word = rtest_word(key, pos); len >= sizeof(word);
	     word += RTEST_STEP) {
		__le64 le = cpu_to_le64(word);

		memcpy(p, &le, sizeof(le));
		p += sizeof(le);
		pos += sizeof(le);
		len -= sizeof(le);
	}
	while (len--)
		*p++ = rtest_byte(key, pos++);
}
EXPORT_SYMBOL_GPL(rtest_fill);

static size_t rtest_check_bytes(const u8 *p, size_t len, u64 key, size_t pos)
{
	size_t i;

	for (i = 0; i < len && p[i] == rtest_byte(key, pos + i); i++)
		;
	return i;
}

/**
 * rtest_check() - compare with a part of a stream
 * @from: bytes to look at
 * @len: their number
 * @key: key of the stream
 * @pos: offset of the part in the stream
 *
 * Return: number of right bytes before the first wrong one; @len if there is
 *	no wrong one.
 */
size_t rtest_check(const void *from, size_t len, u64 key, size_t pos)
{
	size_t head = min_t(size_t, len, -pos % sizeof(u64));
	size_t good = rtest_check_bytes(from, head, key, pos);
	u64 word = rtest_word(key, pos + good);

	if (good < head)
		return good;
	for (; len - good >= sizeof(word); good += sizeof(word)) {
		__le64 le;

		memcpy(&le, from + good, sizeof(le));
		if (le64_to_cpu(le) != word)
			break;
		word += RTEST_STEP;
	}
	return good + rtest_check_bytes(from + good, len - good, key,
					pos + good);
}
EXPORT_SYMBOL_GPL(rtest_check);

/**
 * rtest_pick() - choose a number
 * @range: what there is to choose from
 * @rnd: generator
 * @n: number of the choice, for ranges that are swept through
 *
 * Return: the number.
 */
u32 rtest_pick(const struct rtest_range *range, struct rtest_rnd *rnd, u32 n)
{
	u32 span = range->hi - range->lo + 1;

	if (span <= 1)
		return range->lo;
	return range->lo + (range->sweep ? n : rtest_rnd(rnd)) % span;
}
EXPORT_SYMBOL_GPL(rtest_pick);

/* "5", "1..9" (any of these) or "1-9" (each in turn) */
static int rtest_parse_range(char *value, struct rtest_range *range)
{
	char *dots = strstr(value, "..");
	char *dash = strchr(value, '-');
	char *end = dots ? dots + 2 : dash ? dash + 1 : NULL;
	int err;

	range->sweep = dash && !dots;
	if (dots)
		*dots = '\0';
	else if (dash)
		*dash = '\0';
	err = kstrtou32(value, 0, &range->lo);
	if (err)
		return err;
	range->hi = range->lo;
	err = end ? kstrtou32(end, 0, &range->hi) : 0;
	return err ?: range->hi < range->lo ? -EINVAL : 0;
}

static int rtest_parse_word(const char *value, const char *const *words,
			    u32 *index)
{
	for (*index = 0; words[*index]; (*index)++) {
		if (!strcmp(words[*index], value))
			return 0;
	}
	return -EINVAL;
}

static int rtest_parse_list(char *value, struct rtest_list *list)
{
	if (list->nr == RTEST_LIST_MAX)
		return -E2BIG;
	list->item[list->nr++] = value;
	return 0;
}

static int rtest_parse_value(char *value, const struct rtest_param *param,
			     void *field)
{
	switch (param->type) {
	case RTEST_U32:
		return kstrtou32(value, 0, field);
	case RTEST_S32:
		return kstrtos32(value, 0, field);
	case RTEST_CHOICE:
		return rtest_parse_word(value, param->words, field);
	case RTEST_RANGE:
		return rtest_parse_range(value, field);
	case RTEST_STRING:
		*(char **)field = value;
		return 0;
	case RTEST_STRINGS:
		return rtest_parse_list(value, field);
	}
	return -EINVAL;
}

static const struct rtest_param *
rtest_find_param(const struct rtest_param *table, const char *key)
{
	for (; table->key; table++) {
		if (!strcmp(table->key, key))
			return table;
	}
	return NULL;
}

/**
 * rtest_parse() - store the parameters of a line
 * @line: the line; strings that are stored point into it
 * @table: what there may be
 * @to: structure to fill in; fields that the line does not name stay
 *
 * Return: 0 or -errno, after a message that names the word that is wrong.
 */
int rtest_parse(char *line, const struct rtest_param *table, void *to)
{
	const struct rtest_param *param;
	char *word, *key;
	int err;

	while ((word = strsep(&line, " \t\n"))) {
		if (!*word)
			continue;
		key = strsep(&word, "=");
		param = rtest_find_param(table, key);
		if (!param || !word) {
			pr_err("'%s' is not a parameter, or has no value\n",
			       key);
			return -EINVAL;
		}
		err = rtest_parse_value(word, param, to + param->offset);
		if (err) {
			pr_err("'%s' does not take this value\n", key);
			return err;
		}
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rtest_parse);

/**
 * rtest_write() - a write to a debugfs file
 * @buf: the bytes
 * @len: their number
 * @fn: called with them as a string; its error is the writer's
 * @priv: for @fn
 *
 * Return: @len or -errno.
 */
ssize_t rtest_write(const char __user *buf, size_t len,
		    int (*fn)(void *priv, char *line), void *priv)
{
	char *line;
	int err;

	if (len > RTEST_LINE_MAX)
		return -E2BIG;
	line = memdup_user_nul(buf, len);
	if (IS_ERR(line))
		return PTR_ERR(line);
	err = fn(priv, line);
	kfree(line);
	return err ?: len;
}
EXPORT_SYMBOL_GPL(rtest_write);

MODULE_DESCRIPTION("Shared parts of the RTRS test modules");
MODULE_LICENSE("GPL");
