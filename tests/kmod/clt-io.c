// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The test client: one request from its making to its end.
 *
 * A request is made of choices that depend on the run's seed and the request's
 * number alone, so a run can be repeated.  What RTRS hands to conf_fn is not a
 * pointer but a token of slot, index and sequence number: a confirmation that
 * comes twice, too late or for a refused request does not fit the state of the
 * request that it names, and is counted as such, whatever has become of its
 * memory since.
 *
 * conf_fn runs in any context; it takes note of the result, puts the permit
 * and hands the request to its thread, which compares the data.
 */
#define pr_fmt(fmt) "rtrs-test-client: " fmt

#include <linux/bottom_half.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "clt.h"

/* Room between the pieces of a user message. */
#define TCLT_PIECE_GAP 3

static_assert(sizeof(void *) == sizeof(u64));

static void *tclt_token(const struct tclt_io *io)
{
	u64 slot = io->thread->run->slot->index;

	return (void *)(slot << 48 | (u64)io->index << 32 | io->seq);
}

/* How many blocks the largest request of a run needs. */
static u32 tclt_max_blocks(const struct tclt_params *p)
{
	u32 block = PAGE_SIZE << p->order;
	u32 nr = DIV_ROUND_UP(p->size.hi, block);

	if (p->layout == TCLT_PAGES)
		nr = DIV_ROUND_UP(p->offset.hi % block + p->size.hi, block);
	return max3(nr, p->segs.hi, 1U);
}

/**
 * tclt_io_init() - allocate what a request needs
 * @io: request, zeroed
 * @thread: thread that it belongs to
 * @index: in the run's array
 *
 * Return: 0 or -ENOMEM; free it in both cases.
 */
int tclt_io_init(struct tclt_io *io, struct tclt_thread *thread, u32 index)
{
	const struct tclt_params *p = &thread->run->params;
	u32 nr_vec = max(p->kvecs.hi, 1U);

	io->thread = thread;
	io->index = index;
	io->usr = kvmalloc(p->usr.hi + sizeof(io->msg), GFP_KERNEL);
	io->pieces = kvmalloc(p->usr.hi + TCLT_PIECE_GAP * nr_vec, GFP_KERNEL);
	io->vec = kvcalloc(nr_vec, sizeof(*io->vec), GFP_KERNEL);
	if (!io->usr || !io->pieces || !io->vec)
		return -ENOMEM;
	return tclt_buf_init(&io->buf, tclt_max_blocks(p), p->order);
}

/**
 * tclt_io_free() - free what tclt_io_init() has allocated
 * @io: request that is not in flight
 */
void tclt_io_free(struct tclt_io *io)
{
	kvfree(io->usr);
	kvfree(io->pieces);
	kvfree(io->vec);
	tclt_buf_free(&io->buf);
}

/* Making */

static u32 tclt_pick_dir(u32 dir, struct rtest_rnd *rnd)
{
	if (dir == TCLT_DIR_MIXED)
		return rtest_rnd(rnd) % RTEST_NONE;
	if (dir == TCLT_DIR_ANY)
		return rtest_rnd(rnd) % (RTEST_NONE + 1);
	return dir;
}

/* A size that takes just so many segments without gaps. */
static u32 tclt_size_of_segs(struct tclt_io *io, u32 nr, u32 offset,
			     struct rtest_rnd *rnd)
{
	struct tclt_run *run = io->thread->run;
	u32 block = PAGE_SIZE << run->params.order;
	u32 size = (nr - 1) * block - offset + 1 + rtest_rnd(rnd) % block;

	if (nr == 1)
		size = 1 + rtest_rnd(rnd) % (block - offset);
	return min(size, run->slot->attrs.max_io_size);
}

static void tclt_lay(struct tclt_io *io, struct rtest_rnd *rnd, u32 n)
{
	const struct tclt_params *p = &io->thread->run->params;
	u32 block = PAGE_SIZE << p->order;
	u32 offset = rtest_pick(&p->offset, rnd, n) % block;
	u32 nr_segs = rtest_pick(&p->segs, rnd, n);
	u32 size = rtest_pick(&p->size, rnd, n);

	offset = rounddown(offset, p->align);
	if (!size)
		size = tclt_size_of_segs(io, max(nr_segs, 1U), offset, rnd);
	size = max(rounddown(size, p->align), p->align);
	io->size = size;
	if (p->layout == TCLT_PAGES)
		tclt_buf_lay_pages(&io->buf, offset, size);
	else
		tclt_buf_lay_gaps(&io->buf, nr_segs, size, p->align, rnd);
}

/* The user message in one piece. */
static void tclt_write_usr(struct tclt_io *io, const struct rtest_msg *msg)
{
	size_t head = sizeof(*msg), i;
	u64 key = rtest_key(le64_to_cpu(msg->session), io->seq,
			    le32_to_cpu(msg->seed), RTEST_USR);

	if (io->usr_len < head) {
		for (i = 0; i < io->usr_len; i++)
			io->usr[i] = rtest_tiny(i);
		return;
	}
	memcpy(io->usr, msg, head);
	rtest_fill(io->usr + head, io->usr_len - head, key, head);
}

/* Cuts the user message anywhere, and puts the pieces apart from each other. */
static void tclt_cut_usr(struct tclt_io *io, u32 nr, struct rtest_rnd *rnd)
{
	u32 left = io->usr_len, from = 0;
	u8 *to = io->pieces;
	u32 i;

	io->nr_vec = nr;
	for (i = 0; i < nr; i++) {
		u32 len = rtest_rnd(rnd) % (2 * left / (nr - i) + 1);

		len = i == nr - 1 ? left : min(len, left);
		memcpy(to, io->usr + from, len);
		io->vec[i].iov_base = to;
		io->vec[i].iov_len = len;
		to += len + TCLT_PIECE_GAP;
		from += len;
		left -= len;
	}
}

static u8 tclt_pick_mode(const struct tclt_params *p, struct rtest_rnd *rnd)
{
	return p->mode == RTEST_MODES ? rtest_rnd(rnd) % RTEST_NEVER : p->mode;
}

static void tclt_write_msg(struct tclt_io *io, struct rtest_msg *msg, u32 err,
			   struct rtest_rnd *rnd, u32 n)
{
	struct tclt_run *run = io->thread->run;
	const struct tclt_params *p = &run->params;
	u64 memory = (uintptr_t)page_address(io->buf.blocks[0]);

	msg->magic = cpu_to_le32(RTEST_MAGIC);
	msg->session = cpu_to_le64(run->slot->session);
	msg->seq = cpu_to_le32(io->seq);
	msg->seed = cpu_to_le32(rtest_rnd(rnd) ^ memory >> PAGE_SHIFT);
	msg->data_len = cpu_to_le32(io->size);
	msg->usr_len = cpu_to_le32(io->usr_len);
	msg->delay_us = cpu_to_le32(rtest_pick(&p->delay, rnd, n));
	msg->err = cpu_to_le16(err);
	msg->dir = io->dir;
	msg->mode = tclt_pick_mode(p, rnd);
	msg->csum = cpu_to_le32(rtest_csum(msg));
}

static int tclt_expected(u32 err)
{
	return err > RTEST_ERRNO_MAX ? -EIO : -(int)err;
}

static void tclt_spoil_usr(struct tclt_io *io)
{
	struct kvec *last = &io->vec[io->nr_vec - 1];

	if (last->iov_len)
		*((u8 *)last->iov_base + last->iov_len - 1) ^= 1;
}

/**
 * tclt_io_build() - make a request
 * @io: request that is not in flight
 * @n: number of the request in the run
 */
void tclt_io_build(struct tclt_io *io, u32 n)
{
	struct tclt_run *run = io->thread->run;
	const struct tclt_params *p = &run->params;
	struct rtest_rnd rnd = { .state = (u64)p->seed << 32 | n };
	u32 err = rtest_pick(&p->err, &rnd, n);

	io->seq = atomic_inc_return(&run->slot->seq);
	io->con = p->con == TCLT_CON_ANY ? rtest_rnd(&rnd) % 2 : p->con;
	io->usr_len = rtest_pick(&p->usr, &rnd, n);
	io->dir = tclt_pick_dir(p->dir, &rnd);
	if (io->usr_len < sizeof(io->msg)) {
		io->dir = RTEST_NONE;
		err = 0;
	}
	io->size = 0;
	io->buf.nr_segs = 0;
	io->rdma_dir = io->dir == RTEST_READ ? READ : WRITE;
	if (io->dir != RTEST_NONE)
		tclt_lay(io, &rnd, n);
	else if (rtest_rnd(&rnd) % 2)
		io->rdma_dir = READ;
	tclt_write_msg(io, &io->msg, err, &rnd, n);
	tclt_write_usr(io, &io->msg);
	tclt_cut_usr(io, rtest_pick(&p->kvecs, &rnd, n), &rnd);
	io->key = rtest_key(run->slot->session, io->seq,
			    le32_to_cpu(io->msg.seed), io->dir);
	tclt_buf_prepare(&io->buf, io->dir == RTEST_WRITE, io->key);
	io->expect = tclt_expected(err);
	if (p->fake == TCLT_FAKE_DATA && io->dir == RTEST_WRITE)
		tclt_buf_spoil(&io->buf, n, false);
	if (p->fake == TCLT_FAKE_USR && io->nr_vec)
		tclt_spoil_usr(io);
}

/* Sending and confirmation */

static void tclt_put(struct tclt_io *io)
{
	struct tclt_slot *slot = io->thread->run->slot;
	struct rtrs_permit *permit = io->permit;

	io->permit = NULL;
	tclt_permit_given(&slot->permits, permit, io);
	rtrs_clt_put_permit(io->thread->run->clt, permit);
}

static void tclt_raise(atomic_t *highest, int value)
{
	int old = atomic_read(highest);

	while (old < value && !atomic_try_cmpxchg(highest, &old, value))
		;
}

static void tclt_confirm(struct tclt_run *run, struct tclt_io *io, int rc)
{
	struct tclt_thread *thread = io->thread;
	int us = ktime_us_delta(ktime_get(), io->since);

	io->rc = rc;
	tclt_raise(&run->stats.longest_us, us);
	tclt_raise(&run->stats.pause_us, us);
	atomic_inc(&run->stats.confirmed);
	atomic_inc(&run->stats.errnos[clamp(-rc, 0, TCLT_ERRNOS - 1)]);
	if (!run->params.late_put)
		tclt_put(io);
	llist_add(&io->done, &thread->done);
	wake_up(&thread->wq);
}

/* The request that a token names, if it is in flight: nobody else ends it. */
static struct tclt_io *tclt_find(struct tclt_run *run, u64 token)
{
	u32 index = token >> 32 & U16_MAX;
	struct tclt_io *io;

	if (!run || index >= run->params.depth)
		return NULL;
	io = &run->ios[index];
	if (READ_ONCE(io->seq) != (u32)token)
		return NULL;
	if (atomic_cmpxchg(&io->state, TCLT_SENT, TCLT_CONFIRMED) != TCLT_SENT)
		return NULL;
	return io;
}

static void tclt_conf_fn(void *priv, int rc)
{
	u64 token = (uintptr_t)priv;
	struct tclt_slot *slot = tclt_slot(token >> 48);
	struct tclt_run *run;
	struct tclt_io *io;

	rcu_read_lock();
	run = rcu_dereference(slot->run);
	io = tclt_find(run, token);
	if (io) {
		tclt_confirm(run, io, rc);
	} else {
		atomic_inc(&slot->doubles);
		pr_err_ratelimited("%s: request %u confirmed, but not in flight\n",
				   slot->name, (u32)token);
	}
	rcu_read_unlock();
}

static void tclt_faking_conf_fn(void *priv, int rc)
{
	u64 token = (uintptr_t)priv;
	struct tclt_run *run;
	bool often = (u32)token % 16 == 0;
	u32 fake = TCLT_FAKE_NONE;

	rcu_read_lock();
	run = rcu_dereference(tclt_slot(token >> 48)->run);
	if (run && often)
		fake = run->params.fake;
	if (fake == TCLT_FAKE_LOST)
		tclt_put(&run->ios[token >> 32 & U16_MAX]);
	rcu_read_unlock();
	if (fake == TCLT_FAKE_LOST)
		return;
	tclt_conf_fn(priv, rc);
	if (fake == TCLT_FAKE_DOUBLE)
		tclt_conf_fn(priv, rc);
}

static void tclt_count_refusal(struct tclt_io *io, int err)
{
	struct tclt_run *run = io->thread->run;

	if (run->params.refusal && err == -(int)run->params.refusal) {
		atomic_inc(&run->stats.refused);
	} else if (run->params.abort && err == -ECONNABORTED) {
		atomic_inc(&run->stats.aborted);
	} else {
		atomic_inc(&run->stats.unexpected);
		tclt_run_wrong(run, "request %u of %u+%u bytes refused: %d",
			       io->seq, io->size, io->usr_len, err);
	}
}

static int tclt_call_request(struct tclt_io *io, struct rtrs_clt_req_ops *ops)
{
	return rtrs_clt_request(io->rdma_dir, ops, io->thread->run->clt,
				io->permit, io->vec, io->nr_vec, io->size,
				io->buf.nr_segs ? io->buf.sgl : NULL,
				io->buf.nr_segs);
}

static int tclt_request(struct tclt_io *io)
{
	struct tclt_run *run = io->thread->run;
	struct rtrs_clt_req_ops ops = {
		.priv = tclt_token(io),
		.conf_fn = run->params.fake ? tclt_faking_conf_fn
					    : tclt_conf_fn,
	};
	int err;

	io->since = ktime_get();
	atomic_set(&io->state, TCLT_SENT);
	if (!run->params.bh)
		return tclt_call_request(io, &ops);
	local_bh_disable();
	err = tclt_call_request(io, &ops);
	local_bh_enable();
	return err;
}

/**
 * tclt_io_send() - hand a request over to RTRS
 * @io: request that was built
 * @sent: it will be confirmed; from then on it is the confirmation's
 *
 * Return: false if there was no permit: try again later.
 */
bool tclt_io_send(struct tclt_io *io, bool *sent)
{
	struct tclt_run *run = io->thread->run;
	int err;

	io->permit = rtrs_clt_get_permit(run->clt, io->con,
					 run->params.nowait ?
					 RTRS_PERMIT_NOWAIT : RTRS_PERMIT_WAIT);
	if (!io->permit) {
		atomic_inc(&run->stats.no_permit);
		return false;
	}
	tclt_permit_taken(&run->slot->permits, io->permit, io);
	atomic_inc(&run->stats.started);
	err = tclt_request(io);
	*sent = !err;
	if (!err) {
		atomic_inc(&run->stats.accepted);
		return true;
	}
	if (atomic_cmpxchg(&io->state, TCLT_SENT, TCLT_IDLE) != TCLT_SENT) {
		atomic_inc(&run->slot->doubles);
		tclt_run_wrong(run, "request %u refused and confirmed",
			       io->seq);
	}
	if (io->permit)
		tclt_put(io);
	tclt_count_refusal(io, err);
	return true;
}

/* The end */

static void tclt_judge_errno(struct tclt_run *run, struct tclt_io *io)
{
	if (!run->params.refusal && io->rc == io->expect) {
		atomic_inc(&run->stats.as_wanted);
	} else if (run->params.abort && io->rc == -ECONNABORTED) {
		atomic_inc(&run->stats.aborted);
	} else {
		atomic_inc(&run->stats.unexpected);
		tclt_run_wrong(run, "request %u ended with %d instead of %d",
			       io->seq, io->rc, io->expect);
	}
}

static void tclt_data_wrong(struct tclt_run *run, struct tclt_io *io,
			    const char *what, size_t good)
{
	atomic_inc(&run->stats.data_mismatches);
	tclt_run_wrong(run, "%s of request %u: %zu of %u bytes right in %u segments",
		       what, io->seq, good, io->size, io->buf.nr_segs);
}

/* A READ that broke may have left anything; one that failed must not. */
static void tclt_check_read(struct tclt_run *run, struct tclt_io *io)
{
	size_t good = 0;

	if (!io->rc) {
		if (!tclt_buf_check_data(&io->buf, io->key, &good))
			tclt_data_wrong(run, io, "data", good);
		atomic64_add(io->size, &run->stats.read_bytes);
	} else if (io->rc == io->expect && !tclt_buf_check_blank(&io->buf)) {
		tclt_data_wrong(run, io, "data left by the failure", 0);
	}
}

static void tclt_check_write(struct tclt_run *run, struct tclt_io *io)
{
	size_t good;

	if (!tclt_buf_check_data(&io->buf, io->key, &good))
		tclt_data_wrong(run, io, "source", good);
	if (!io->rc)
		atomic64_add(io->size, &run->stats.written_bytes);
}

/**
 * tclt_io_end() - look at a confirmed request
 * @io: request; free for the next one afterwards
 */
void tclt_io_end(struct tclt_io *io)
{
	struct tclt_run *run = io->thread->run;

	if (run->params.late_put)
		tclt_put(io);
	if (run->params.fake == TCLT_FAKE_READ && io->dir == RTEST_READ)
		tclt_buf_spoil(&io->buf, io->seq, false);
	if (run->params.fake == TCLT_FAKE_GUARD)
		tclt_buf_spoil(&io->buf, io->seq, true);
	tclt_judge_errno(run, io);
	if (io->dir == RTEST_READ)
		tclt_check_read(run, io);
	else if (io->dir == RTEST_WRITE)
		tclt_check_write(run, io);
	if (!tclt_buf_check_guard(&io->buf)) {
		atomic_inc(&run->stats.guard_mismatches);
		tclt_run_wrong(run, "bytes around the data of request %u changed",
			       io->seq);
	}
	atomic_set(&io->state, TCLT_IDLE);
}
