// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The test server: requests.
 *
 * rdma_ev looks at every byte that came, fills the chunk of a READ, and makes
 * an operation that is answered as the user message asks for.  A request with
 * wrong bytes is answered with RTEST_MISMATCH, so the client learns of it.
 *
 * An operation belongs to one list or one work item at a time, whoever takes
 * it from there answers it.  It is freed after a grace period of RCU, because
 * the irq_work that answered it is looked at once more after its function has
 * returned.  As soon as the answer is given the session may go: all counting
 * is done before.
 */
#define pr_fmt(fmt) "rtrs-test-server: " fmt

#include <linux/irq_work.h>
#include <linux/jhash.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "srv.h"

#define TSRV_REORDER 4
#define TSRV_REORDER_JIFFIES (HZ / 50)

/**
 * struct tsrv_op - a request that is answered later
 * @id: RTRS's operation
 * @sess: session; may be gone once the answer is given
 * @ctx: port
 * @status: answer
 * @irq: answer from a hard interrupt
 * @usr: user message
 * @usrlen: its length
 * @csum: checksum of it when it came
 * @entry: in one of the context's lists
 * @work: answers after a delay
 * @irq_work: answers from a hard interrupt
 * @rcu: to free it
 */
struct tsrv_op {
	struct rtrs_srv_op *id;
	struct tsrv_sess *sess;
	struct tsrv_ctx *ctx;
	int status;
	bool irq;
	const void *usr;
	size_t usrlen;
	u32 csum;
	struct list_head entry;
	struct delayed_work work;
	struct irq_work irq_work;
	struct rcu_head rcu;
};

static void tsrv_count_answer(struct tsrv_sess *sess)
{
	atomic_inc(&sess->ctx->stats.answered);
	atomic_dec(&sess->ctx->stats.pending);
	atomic_dec(&sess->pending);
}

static void tsrv_respond(struct tsrv_sess *sess, struct rtrs_srv_op *id,
			 int status)
{
	struct tsrv_ctx *ctx = sess->ctx;

	tsrv_count_answer(sess);
	if (!rtrs_srv_resp_rdma(id, status))
		atomic_inc(&ctx->stats.queued);
}

/* The user message has to stay as it came until then. */
static void tsrv_finish(struct tsrv_op *op)
{
	if (jhash(op->usr, op->usrlen, 0) != op->csum)
		atomic_inc(&op->ctx->stats.usr_changed);
	tsrv_respond(op->sess, op->id, op->status);
	kfree_rcu(op, rcu);
}

static void tsrv_finish_all(struct list_head *ops)
{
	struct tsrv_op *op, *next;

	list_for_each_entry_safe(op, next, ops, entry)
		tsrv_finish(op);
}

static void tsrv_irq_fn(struct irq_work *irq_work)
{
	tsrv_finish(container_of(irq_work, struct tsrv_op, irq_work));
}

static void tsrv_work_fn(struct work_struct *work)
{
	struct tsrv_op *op = container_of(to_delayed_work(work),
					  struct tsrv_op, work);

	if (op->irq)
		irq_work_queue(&op->irq_work);
	else
		tsrv_finish(op);
}

/* Takes all that waits to be answered in reverse order. */
static void tsrv_finish_reordered(struct tsrv_ctx *ctx)
{
	unsigned long flags;
	LIST_HEAD(ops);

	spin_lock_irqsave(&ctx->list_lock, flags);
	list_splice_init(&ctx->reorder, &ops);
	ctx->nr_reorder = 0;
	spin_unlock_irqrestore(&ctx->list_lock, flags);
	tsrv_finish_all(&ops);
}

/**
 * tsrv_reorder_timeout() - answers what waits for company that never comes
 * @work: of the context
 */
void tsrv_reorder_timeout(struct work_struct *work)
{
	tsrv_finish_reordered(container_of(to_delayed_work(work),
					   struct tsrv_ctx, reorder_work));
}

static void tsrv_reorder(struct tsrv_ctx *ctx, struct tsrv_op *op)
{
	unsigned long flags;
	bool full;

	spin_lock_irqsave(&ctx->list_lock, flags);
	list_add(&op->entry, &ctx->reorder);
	full = ++ctx->nr_reorder >= TSRV_REORDER || ctx->closing;
	spin_unlock_irqrestore(&ctx->list_lock, flags);
	if (full)
		tsrv_finish_reordered(ctx);
	else
		queue_delayed_work(tsrv_wq, &ctx->reorder_work,
				   TSRV_REORDER_JIFFIES);
}

static void tsrv_withhold(struct tsrv_ctx *ctx, struct tsrv_op *op)
{
	unsigned long flags;
	bool closing;

	spin_lock_irqsave(&ctx->list_lock, flags);
	closing = ctx->closing;
	if (!closing)
		list_add_tail(&op->entry, &ctx->withheld);
	spin_unlock_irqrestore(&ctx->list_lock, flags);
	if (closing)
		tsrv_finish(op);
}

/**
 * tsrv_flush() - answer all that is withheld
 * @ctx: port
 */
void tsrv_flush(struct tsrv_ctx *ctx)
{
	unsigned long flags;
	LIST_HEAD(ops);

	spin_lock_irqsave(&ctx->list_lock, flags);
	list_splice_init(&ctx->withheld, &ops);
	spin_unlock_irqrestore(&ctx->list_lock, flags);
	tsrv_finish_all(&ops);
	tsrv_finish_reordered(ctx);
}

static struct tsrv_op *tsrv_alloc_op(struct tsrv_sess *sess,
				     struct rtrs_srv_op *id, int status,
				     const void *usr, size_t usrlen)
{
	struct tsrv_op *op = kzalloc(sizeof(*op), GFP_KERNEL);

	if (!op)
		return NULL;
	op->id = id;
	op->sess = sess;
	op->ctx = sess->ctx;
	op->status = status;
	op->usr = usr;
	op->usrlen = usrlen;
	op->csum = jhash(usr, usrlen, 0);
	INIT_DELAYED_WORK(&op->work, tsrv_work_fn);
	init_irq_work(&op->irq_work, tsrv_irq_fn);
	return op;
}

static bool tsrv_every(u32 n, struct tsrv_sess *sess)
{
	return n && atomic_read(&sess->requests) % n == 0;
}

static u8 tsrv_mode(struct tsrv_sess *sess, const struct rtest_msg *msg)
{
	if (tsrv_every(sess->ctx->knobs.drop, sess))
		return RTEST_NEVER;
	return msg->mode;
}

/* Returns what rdma_ev has to. */
static int tsrv_answer(struct tsrv_sess *sess, struct rtrs_srv_op *id,
		       const struct rtest_msg *msg, int status, const void *usr,
		       size_t usrlen)
{
	u8 mode = tsrv_mode(sess, msg);
	u32 delay_us = le32_to_cpu(msg->delay_us);
	struct tsrv_op *op;

	if (mode == RTEST_RETURN && status) {
		tsrv_count_answer(sess);
		return status;
	}
	op = mode > RTEST_RETURN ?
	     tsrv_alloc_op(sess, id, status, usr, usrlen) : NULL;
	if (!op) {
		tsrv_respond(sess, id, status);
		return 0;
	}
	op->irq = mode == RTEST_IRQ;
	if (mode == RTEST_NEVER)
		tsrv_withhold(sess->ctx, op);
	else if (mode == RTEST_REORDER)
		tsrv_reorder(sess->ctx, op);
	else if (op->irq && !delay_us)
		irq_work_queue(&op->irq_work);
	else
		queue_delayed_work(tsrv_wq, &op->work,
				   usecs_to_jiffies(delay_us));
	return 0;
}

static bool tsrv_check_tiny(struct tsrv_sess *sess, size_t datalen,
			    const u8 *usr, size_t usrlen)
{
	size_t i;

	for (i = 0; i < usrlen && usr[i] == rtest_tiny(i); i++)
		;
	atomic_inc(&sess->ctx->stats.tiny);
	if (i == usrlen && !datalen)
		return true;
	pr_err_ratelimited("%s: message of %zu bytes: wrong at %zu\n",
			   sess->name, usrlen, i);
	return false;
}

/* The first message of a session tells its number, all others must have it. */
static bool tsrv_check_id(struct tsrv_sess *sess, u64 id)
{
	u64 old = cmpxchg64(&sess->id, 0, id);

	return !old || old == id;
}

static bool tsrv_check_usr(struct tsrv_sess *sess, const struct rtest_msg *msg,
			   size_t datalen, const void *usr, size_t usrlen)
{
	u64 session = le64_to_cpu(msg->session);
	u64 key = rtest_key(session, le32_to_cpu(msg->seq),
			    le32_to_cpu(msg->seed), RTEST_USR);
	size_t head = sizeof(*msg), good = 0;

	if (le32_to_cpu(msg->magic) == RTEST_MAGIC &&
	    le32_to_cpu(msg->csum) == rtest_csum(msg) &&
	    le32_to_cpu(msg->usr_len) == usrlen &&
	    le32_to_cpu(msg->data_len) == datalen &&
	    msg->dir <= RTEST_NONE && msg->mode < RTEST_MODES &&
	    tsrv_check_id(sess, session))
		good = head + rtest_check(usr + head, usrlen - head, key, head);
	if (good == usrlen)
		return true;
	pr_err_ratelimited("%s: message of request %u: %zu of %zu bytes right, data length %zu for %u\n",
			   sess->name, le32_to_cpu(msg->seq), good, usrlen,
			   datalen, le32_to_cpu(msg->data_len));
	return false;
}

static bool tsrv_check_data(struct tsrv_sess *sess, const struct rtest_msg *msg,
			    const void *data, size_t len, u64 key)
{
	size_t good = rtest_check(data, len, key, 0);

	if (good == len)
		return true;
	pr_err_ratelimited("%s: data of request %u: %zu of %zu bytes right\n",
			   sess->name, le32_to_cpu(msg->seq), good, len);
	return false;
}

/* Checks what came, or fills in what is to go: false if anything is wrong. */
static bool tsrv_handle_data(struct tsrv_sess *sess,
			     const struct rtest_msg *msg, u8 *data, size_t len)
{
	u64 key = rtest_key(le64_to_cpu(msg->session), le32_to_cpu(msg->seq),
			    le32_to_cpu(msg->seed), msg->dir);

	atomic64_add(len, &sess->ctx->stats.data_bytes);
	if (msg->dir == RTEST_WRITE)
		return tsrv_check_data(sess, msg, data, len, key);
	if (msg->dir == RTEST_READ)
		rtest_fill(data, len, key, 0);
	if (len && tsrv_every(sess->ctx->knobs.corrupt, sess))
		data[le32_to_cpu(msg->seed) % len] ^= 0x10;
	return true;
}

static int tsrv_handle(struct tsrv_sess *sess, struct rtrs_srv_op *id,
		       void *data, size_t datalen, const void *usr,
		       size_t usrlen)
{
	struct tsrv_stats *stats = &sess->ctx->stats;
	struct rtest_msg msg = {};
	int status;

	atomic64_add(usrlen, &stats->usr_bytes);
	if (usrlen < sizeof(msg)) {
		if (tsrv_check_tiny(sess, datalen, usr, usrlen))
			return tsrv_answer(sess, id, &msg, 0, usr, usrlen);
		atomic_inc(&stats->usr_mismatches);
		return tsrv_answer(sess, id, &msg, -RTEST_MISMATCH, usr,
				   usrlen);
	}
	memcpy(&msg, usr, sizeof(msg));
	status = -le16_to_cpu(msg.err);
	if (!tsrv_check_usr(sess, &msg, datalen, usr, usrlen)) {
		atomic_inc(&stats->usr_mismatches);
		status = -RTEST_MISMATCH;
	} else if (!tsrv_handle_data(sess, &msg, data, datalen)) {
		atomic_inc(&stats->data_mismatches);
		status = -RTEST_MISMATCH;
	}
	return tsrv_answer(sess, id, &msg, status, usr, usrlen);
}

/**
 * tsrv_rdma_ev() - a request has come
 * @priv: session
 * @id: operation
 * @data: chunk
 * @datalen: bytes of data
 * @usr: user message
 * @usrlen: its length
 *
 * Return: 0 if it is or will be answered, -errno to be answered by RTRS.
 */
int tsrv_rdma_ev(void *priv, struct rtrs_srv_op *id, void *data,
		 size_t datalen, const void *usr, size_t usrlen)
{
	struct tsrv_sess *sess = priv;
	struct tsrv_ctx *ctx;

	might_sleep();
	if (!sess) {
		pr_err("request without a session\n");
		return -ENOTCONN;
	}
	ctx = sess->ctx;
	atomic_inc(&ctx->stats.requests);
	atomic_inc(&ctx->stats.pending);
	atomic_inc(&sess->requests);
	atomic_inc(&sess->pending);
	if (!READ_ONCE(sess->connected)) {
		atomic_inc(&ctx->stats.late);
		pr_err_ratelimited("%s: request outside of the session's life\n",
				   sess->name);
	}
	return tsrv_handle(sess, id, data, datalen, usr, usrlen);
}
