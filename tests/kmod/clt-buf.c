// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The test client: memory of a request, where data lies in it, and what must
 * not be there.
 *
 * A buffer is an array of blocks, each of one or several pages.  For every
 * request segments are laid anew, at most one in a block, and the rest of
 * these blocks is filled with a guard byte that must be there still when the
 * request has ended.  Space for the data of a READ starts with another byte,
 * and keeps it if the READ fails.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "clt.h"

#define TCLT_GUARD 0xd7
#define TCLT_BLANK 0x3c

static u32 tclt_block_size(const struct tclt_buf *buf)
{
	return PAGE_SIZE << buf->order;
}

/**
 * tclt_buf_init() - allocate the memory
 * @buf: buffer, zeroed
 * @nr_blocks: number of blocks
 * @order: size of each, 2^order pages
 *
 * Return: 0 or -ENOMEM; free it in both cases.
 */
int tclt_buf_init(struct tclt_buf *buf, u32 nr_blocks, u32 order)
{
	u32 i;

	buf->order = order;
	buf->blocks = kvcalloc(nr_blocks, sizeof(*buf->blocks), GFP_KERNEL);
	buf->segs = kvcalloc(nr_blocks, sizeof(*buf->segs), GFP_KERNEL);
	buf->sgl = kvcalloc(nr_blocks, sizeof(*buf->sgl), GFP_KERNEL);
	if (!buf->blocks || !buf->segs || !buf->sgl)
		return -ENOMEM;
	for (i = 0; i < nr_blocks; i++) {
		buf->blocks[i] = alloc_pages(GFP_KERNEL | __GFP_NOWARN, order);
		if (!buf->blocks[i])
			return -ENOMEM;
		buf->nr_blocks++;
	}
	return 0;
}

/**
 * tclt_buf_free() - free the memory
 * @buf: buffer
 */
void tclt_buf_free(struct tclt_buf *buf)
{
	while (buf->nr_blocks)
		__free_pages(buf->blocks[--buf->nr_blocks], buf->order);
	kvfree(buf->blocks);
	kvfree(buf->segs);
	kvfree(buf->sgl);
}

static void tclt_buf_add_seg(struct tclt_buf *buf, u32 offset, u32 len)
{
	struct tclt_seg *seg = &buf->segs[buf->nr_segs];

	seg->page = buf->blocks[buf->nr_segs];
	seg->offset = offset;
	seg->len = len;
	buf->nr_segs++;
}

static void tclt_buf_write_sgl(struct tclt_buf *buf)
{
	u32 i;

	if (!buf->nr_segs)
		return;
	sg_init_table(buf->sgl, buf->nr_segs);
	for (i = 0; i < buf->nr_segs; i++)
		sg_set_page(&buf->sgl[i], buf->segs[i].page, buf->segs[i].len,
			    buf->segs[i].offset);
}

/**
 * tclt_buf_lay_pages() - segments without gaps
 * @buf: buffer with enough blocks
 * @offset: of the first segment in its block
 * @size: bytes of data
 */
void tclt_buf_lay_pages(struct tclt_buf *buf, u32 offset, u32 size)
{
	buf->nr_segs = 0;
	while (size) {
		u32 len = min(size, tclt_block_size(buf) - offset);

		tclt_buf_add_seg(buf, offset, len);
		size -= len;
		offset = 0;
	}
	tclt_buf_write_sgl(buf);
}

static u32 tclt_pick_unit(u32 lo, u32 hi, struct rtest_rnd *rnd)
{
	return lo + rtest_rnd(rnd) % (hi - lo + 1);
}

/**
 * tclt_buf_lay_gaps() - segments anywhere in their blocks
 * @buf: buffer with enough blocks
 * @nr_segs: number of segments; fewer or more if @size demands it
 * @size: bytes of data, a multiple of @align
 * @align: what offsets and lengths are a multiple of, a divisor of the block
 * @rnd: generator
 */
void tclt_buf_lay_gaps(struct tclt_buf *buf, u32 nr_segs, u32 size, u32 align,
		       struct rtest_rnd *rnd)
{
	u32 max = tclt_block_size(buf) / align;
	u32 left = size / align;

	buf->nr_segs = 0;
	nr_segs = clamp(nr_segs, DIV_ROUND_UP(left, max), left);
	while (nr_segs) {
		u32 rest = nr_segs - 1;
		u32 lo = left > rest * max ? left - rest * max : 1;
		u32 hi = min(left - rest, max);
		u32 len = tclt_pick_unit(max(lo, 1U), hi, rnd);

		tclt_buf_add_seg(buf, tclt_pick_unit(0, max - len, rnd) * align,
				 len * align);
		left -= len;
		nr_segs = rest;
	}
	tclt_buf_write_sgl(buf);
}

static void *tclt_seg_addr(const struct tclt_seg *seg)
{
	return page_address(seg->page) + seg->offset;
}

static size_t tclt_seg_tail(const struct tclt_buf *buf,
			    const struct tclt_seg *seg)
{
	return tclt_block_size(buf) - seg->offset - seg->len;
}

/**
 * tclt_buf_prepare() - fill all blocks that hold a segment
 * @buf: buffer with segments
 * @data: fill the segments with data, otherwise they stay blank
 * @key: pattern of the data
 */
void tclt_buf_prepare(struct tclt_buf *buf, bool data, u64 key)
{
	size_t pos = 0;
	u32 i;

	for (i = 0; i < buf->nr_segs; i++) {
		struct tclt_seg *seg = &buf->segs[i];
		void *addr = tclt_seg_addr(seg);

		memset(page_address(seg->page), TCLT_GUARD, seg->offset);
		memset(addr + seg->len, TCLT_GUARD, tclt_seg_tail(buf, seg));
		if (data)
			rtest_fill(addr, seg->len, key, pos);
		else
			memset(addr, TCLT_BLANK, seg->len);
		pos += seg->len;
	}
}

/**
 * tclt_buf_check_data() - do the segments hold the data?
 * @buf: buffer with segments
 * @key: pattern of the data
 * @good: number of right bytes before the first wrong one
 *
 * Return: true if every byte is right.
 */
bool tclt_buf_check_data(const struct tclt_buf *buf, u64 key, size_t *good)
{
	u32 i;

	*good = 0;
	for (i = 0; i < buf->nr_segs; i++) {
		const struct tclt_seg *seg = &buf->segs[i];
		size_t n = rtest_check(tclt_seg_addr(seg), seg->len, key,
				       *good);

		*good += n;
		if (n < seg->len)
			return false;
	}
	return true;
}

/**
 * tclt_buf_check_blank() - are the segments as they were for a READ?
 * @buf: buffer with segments
 *
 * Return: true if every byte is.
 */
bool tclt_buf_check_blank(const struct tclt_buf *buf)
{
	u32 i;

	for (i = 0; i < buf->nr_segs; i++) {
		const struct tclt_seg *seg = &buf->segs[i];

		if (memchr_inv(tclt_seg_addr(seg), TCLT_BLANK, seg->len))
			return false;
	}
	return true;
}

/**
 * tclt_buf_check_guard() - is everything around the segments as it was?
 * @buf: buffer with segments
 *
 * Return: true if every byte is.
 */
bool tclt_buf_check_guard(const struct tclt_buf *buf)
{
	u32 i;

	for (i = 0; i < buf->nr_segs; i++) {
		const struct tclt_seg *seg = &buf->segs[i];

		if (memchr_inv(page_address(seg->page), TCLT_GUARD,
			       seg->offset) ||
		    memchr_inv(tclt_seg_addr(seg) + seg->len, TCLT_GUARD,
			       tclt_seg_tail(buf, seg)))
			return false;
	}
	return true;
}

/**
 * tclt_buf_spoil() - change one byte
 * @buf: buffer with segments
 * @where: any number
 * @guard: change the guard if there is any, otherwise the data
 */
void tclt_buf_spoil(struct tclt_buf *buf, u32 where, bool guard)
{
	struct tclt_seg *seg;
	u8 *byte;

	if (!buf->nr_segs)
		return;
	seg = &buf->segs[where % buf->nr_segs];
	byte = tclt_seg_addr(seg);
	if (!guard)
		byte += where % seg->len;
	else if (seg->offset)
		byte -= 1;
	else if (tclt_seg_tail(buf, seg))
		byte += seg->len;
	*byte ^= 0x08;
}
