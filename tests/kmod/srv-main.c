// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The test server: ports, sessions, debugfs.
 *
 * /sys/kernel/debug/rtrs-test-server/
 *	open		write "port=N": opens the port; read: how the last went
 *	PORT/close	write anything: answers what is withheld, closes
 *	PORT/flush	write anything: answers what is withheld
 *	PORT/knobs	write "refuse=ERRNO corrupt=N drop=N"
 *	PORT/stats	counters of the port and its sessions, key: value
 *
 * A port keeps its directory and its counters when it is closed; opening it
 * again starts the counters from zero.  Sessions that have gone stay as well
 * until then, so that a callback after the last one is noticed and hurts
 * nobody.
 */
#define pr_fmt(fmt) "rtrs-test-server: " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "srv.h"

#define TSRV_PORTS 8

struct workqueue_struct *tsrv_wq;

static struct tsrv_ctx tsrv_ctxs[TSRV_PORTS];
static DEFINE_MUTEX(tsrv_lock); /* protects the use of the slots */
static struct dentry *tsrv_root;
static int tsrv_open_errno;

/* Sessions: link_ev */

static struct tsrv_sess *tsrv_alloc_sess(struct tsrv_ctx *ctx,
					 struct rtrs_srv_sess *rtrs)
{
	struct tsrv_sess *sess = kzalloc(sizeof(*sess), GFP_KERNEL);

	if (!sess)
		return NULL;
	sess->ctx = ctx;
	sess->connected = true;
	sess->depth = rtrs_srv_get_queue_depth(rtrs);
	if (rtrs_srv_get_path_name(rtrs, sess->name, sizeof(sess->name)))
		strscpy(sess->name, "?", sizeof(sess->name));
	spin_lock_irq(&ctx->list_lock);
	list_add_tail(&sess->entry, &ctx->sessions);
	spin_unlock_irq(&ctx->list_lock);
	return sess;
}

static int tsrv_connected(struct tsrv_ctx *ctx, struct rtrs_srv_sess *rtrs)
{
	u32 refuse = READ_ONCE(ctx->knobs.refuse);
	struct tsrv_sess *sess;

	if (refuse) {
		atomic_inc(&ctx->stats.refused);
		return -refuse;
	}
	sess = tsrv_alloc_sess(ctx, rtrs);
	if (!sess)
		return -ENOMEM;
	rtrs_srv_set_sess_priv(rtrs, sess);
	atomic_inc(&ctx->stats.connected);
	return 0;
}

/* A session that was refused may be reported as disconnected: no priv. */
static void tsrv_disconnected(struct tsrv_ctx *ctx, struct tsrv_sess *sess)
{
	int pending;

	if (!sess)
		return;
	pending = atomic_read(&sess->pending);
	if (pending || !sess->connected || sess->ctx != ctx) {
		pr_err("%s: disconnected with %d requests pending%s\n",
		       sess->name, pending, sess->connected ? "" : ", again");
		atomic_inc(&ctx->stats.unfinished);
	}
	WRITE_ONCE(sess->connected, false);
	atomic_inc(&ctx->stats.disconnected);
}

static int tsrv_link_ev(struct tsrv_ctx *ctx, struct rtrs_srv_sess *rtrs,
			enum rtrs_srv_link_ev ev, void *priv)
{
	might_sleep();
	switch (ev) {
	case RTRS_SRV_LINK_EV_CONNECTED:
		return tsrv_connected(ctx, rtrs);
	case RTRS_SRV_LINK_EV_DISCONNECTED:
		tsrv_disconnected(ctx, priv);
		return 0;
	}
	return -EINVAL;
}

/* RTRS does not say which port link_ev is about: one function for each. */
#define TSRV_LINK_EV(n)							\
	static int tsrv_link_ev_##n(struct rtrs_srv_sess *sess,		\
				    enum rtrs_srv_link_ev ev, void *priv) \
	{								\
		return tsrv_link_ev(&tsrv_ctxs[n], sess, ev, priv);	\
	}

TSRV_LINK_EV(0)
TSRV_LINK_EV(1)
TSRV_LINK_EV(2)
TSRV_LINK_EV(3)
TSRV_LINK_EV(4)
TSRV_LINK_EV(5)
TSRV_LINK_EV(6)
TSRV_LINK_EV(7)

#define TSRV_OPS(n) { .rdma_ev = tsrv_rdma_ev, .link_ev = tsrv_link_ev_##n }

static struct rtrs_srv_ops tsrv_ops[TSRV_PORTS] = {
	TSRV_OPS(0), TSRV_OPS(1), TSRV_OPS(2), TSRV_OPS(3),
	TSRV_OPS(4), TSRV_OPS(5), TSRV_OPS(6), TSRV_OPS(7),
};

static void tsrv_free_sessions(struct tsrv_ctx *ctx)
{
	struct tsrv_sess *sess, *next;
	LIST_HEAD(sessions);

	spin_lock_irq(&ctx->list_lock);
	list_splice_init(&ctx->sessions, &sessions);
	spin_unlock_irq(&ctx->list_lock);
	list_for_each_entry_safe(sess, next, &sessions, entry)
		kfree(sess);
}

/* debugfs: knobs, flush, close, stats of a port */

static void tsrv_close(struct tsrv_ctx *ctx)
{
	if (!ctx->ctx)
		return;
	spin_lock_irq(&ctx->list_lock);
	ctx->closing = true;
	spin_unlock_irq(&ctx->list_lock);
	tsrv_flush(ctx);
	rtrs_srv_close(ctx->ctx);
	ctx->ctx = NULL;
	cancel_delayed_work_sync(&ctx->reorder_work);
}

static int tsrv_close_line(void *priv, char *line)
{
	struct tsrv_ctx *ctx = priv;
	int err;

	mutex_lock(&ctx->lock);
	err = ctx->ctx ? 0 : -ENOTCONN;
	tsrv_close(ctx);
	mutex_unlock(&ctx->lock);
	return err;
}

static int tsrv_flush_line(void *priv, char *line)
{
	tsrv_flush(priv);
	return 0;
}

static const struct rtest_param tsrv_knob_params[] = {
	RTEST_PARAM(tsrv_knobs, refuse, U32),
	RTEST_PARAM(tsrv_knobs, corrupt, U32),
	RTEST_PARAM(tsrv_knobs, drop, U32),
	{ }
};

static int tsrv_knobs_line(void *priv, char *line)
{
	struct tsrv_ctx *ctx = priv;

	return rtest_parse(line, tsrv_knob_params, &ctx->knobs);
}

#define TSRV_WRITE_FILE(name)						\
	static ssize_t tsrv_##name##_write(struct file *file,		\
					   const char __user *buf,	\
					   size_t len, loff_t *pos)	\
	{								\
		return rtest_write(buf, len, tsrv_##name##_line,	\
				   file->private_data);			\
	}								\
									\
	static const struct file_operations tsrv_##name##_fops = {	\
		.owner = THIS_MODULE,					\
		.open = simple_open,					\
		.write = tsrv_##name##_write,				\
	}

TSRV_WRITE_FILE(close);
TSRV_WRITE_FILE(flush);
TSRV_WRITE_FILE(knobs);

static void tsrv_show_sessions(struct seq_file *s, struct tsrv_ctx *ctx)
{
	struct tsrv_sess *sess;

	spin_lock_irq(&ctx->list_lock);
	list_for_each_entry(sess, &ctx->sessions, entry)
		seq_printf(s, "session: %s depth %d requests %d pending %d %s\n",
			   sess->name, sess->depth,
			   atomic_read(&sess->requests),
			   atomic_read(&sess->pending),
			   sess->connected ? "connected" : "gone");
	spin_unlock_irq(&ctx->list_lock);
}

static int tsrv_stats_show(struct seq_file *s, void *unused)
{
	struct tsrv_ctx *ctx = s->private;
	struct tsrv_stats *st = &ctx->stats;

	seq_printf(s, "open: %d\n", !!READ_ONCE(ctx->ctx));
	seq_printf(s, "connected: %d\n", atomic_read(&st->connected));
	seq_printf(s, "disconnected: %d\n", atomic_read(&st->disconnected));
	seq_printf(s, "refused: %d\n", atomic_read(&st->refused));
	seq_printf(s, "requests: %d\n", atomic_read(&st->requests));
	seq_printf(s, "answered: %d\n", atomic_read(&st->answered));
	seq_printf(s, "queued: %d\n", atomic_read(&st->queued));
	seq_printf(s, "tiny: %d\n", atomic_read(&st->tiny));
	seq_printf(s, "data_bytes: %lld\n", atomic64_read(&st->data_bytes));
	seq_printf(s, "usr_bytes: %lld\n", atomic64_read(&st->usr_bytes));
	seq_printf(s, "data_mismatches: %d\n",
		   atomic_read(&st->data_mismatches));
	seq_printf(s, "usr_mismatches: %d\n", atomic_read(&st->usr_mismatches));
	seq_printf(s, "usr_changed: %d\n", atomic_read(&st->usr_changed));
	seq_printf(s, "late: %d\n", atomic_read(&st->late));
	seq_printf(s, "pending: %d\n", atomic_read(&st->pending));
	seq_printf(s, "unfinished: %d\n", atomic_read(&st->unfinished));
	tsrv_show_sessions(s, ctx);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(tsrv_stats);

static void tsrv_create_dir(struct tsrv_ctx *ctx)
{
	char name[8];

	snprintf(name, sizeof(name), "%u", ctx->port);
	ctx->dir = debugfs_create_dir(name, tsrv_root);
	debugfs_create_file("close", 0200, ctx->dir, ctx, &tsrv_close_fops);
	debugfs_create_file("flush", 0200, ctx->dir, ctx, &tsrv_flush_fops);
	debugfs_create_file("knobs", 0200, ctx->dir, ctx, &tsrv_knobs_fops);
	debugfs_create_file("stats", 0400, ctx->dir, ctx, &tsrv_stats_fops);
}

/* debugfs: open */

/* The slot of a port; a slot once used stays with its port. */
static struct tsrv_ctx *tsrv_find_ctx(u16 port)
{
	unsigned int i;

	lockdep_assert_held(&tsrv_lock);
	for (i = 0; i < TSRV_PORTS; i++) {
		struct tsrv_ctx *ctx = &tsrv_ctxs[i];

		if (!ctx->port) {
			ctx->port = port;
			tsrv_create_dir(ctx);
		}
		if (ctx->port == port)
			return ctx;
	}
	return NULL;
}

static int tsrv_open(struct tsrv_ctx *ctx)
{
	struct rtrs_srv_ctx *rtrs;

	if (ctx->ctx)
		return -EBUSY;
	tsrv_free_sessions(ctx);
	memset(&ctx->stats, 0, sizeof(ctx->stats));
	memset(&ctx->knobs, 0, sizeof(ctx->knobs));
	ctx->closing = false;
	rtrs = rtrs_srv_open(&tsrv_ops[ctx->index], ctx->port);
	if (IS_ERR(rtrs))
		return PTR_ERR(rtrs);
	ctx->ctx = rtrs;
	return 0;
}

struct tsrv_open_params {
	u32 port;
};

static const struct rtest_param tsrv_open_params[] = {
	RTEST_PARAM(tsrv_open_params, port, U32),
	{ }
};

static int tsrv_open_line(void *priv, char *line)
{
	struct tsrv_open_params params = {};
	struct tsrv_ctx *ctx;
	int err = rtest_parse(line, tsrv_open_params, &params);

	if (err)
		return err;
	if (!params.port || params.port > U16_MAX)
		return -EINVAL;
	mutex_lock(&tsrv_lock);
	ctx = tsrv_find_ctx(params.port);
	if (ctx) {
		mutex_lock(&ctx->lock);
		err = tsrv_open(ctx);
		mutex_unlock(&ctx->lock);
	} else {
		err = -ENOSPC;
	}
	tsrv_open_errno = err;
	mutex_unlock(&tsrv_lock);
	return err;
}

static ssize_t tsrv_open_write(struct file *file, const char __user *buf,
			       size_t len, loff_t *pos)
{
	return rtest_write(buf, len, tsrv_open_line, NULL);
}

static int tsrv_open_show(struct seq_file *s, void *unused)
{
	seq_printf(s, "errno: %d\n", tsrv_open_errno);
	return 0;
}

static int tsrv_open_open(struct inode *inode, struct file *file)
{
	return single_open(file, tsrv_open_show, NULL);
}

static const struct file_operations tsrv_open_fops = {
	.owner = THIS_MODULE,
	.open = tsrv_open_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = tsrv_open_write,
	.release = single_release,
};

/* Module */

static void tsrv_init_ctxs(void)
{
	unsigned int i;

	for (i = 0; i < TSRV_PORTS; i++) {
		struct tsrv_ctx *ctx = &tsrv_ctxs[i];

		ctx->index = i;
		mutex_init(&ctx->lock);
		spin_lock_init(&ctx->list_lock);
		INIT_LIST_HEAD(&ctx->withheld);
		INIT_LIST_HEAD(&ctx->reorder);
		INIT_LIST_HEAD(&ctx->sessions);
		INIT_DELAYED_WORK(&ctx->reorder_work, tsrv_reorder_timeout);
	}
}

static int __init tsrv_init(void)
{
	tsrv_init_ctxs();
	tsrv_wq = alloc_workqueue("rtrs-test-server", WQ_UNBOUND, 0);
	if (!tsrv_wq)
		return -ENOMEM;
	tsrv_root = debugfs_create_dir("rtrs-test-server", NULL);
	debugfs_create_file("open", 0600, tsrv_root, NULL, &tsrv_open_fops);
	return 0;
}

/* An answer from an interrupt may still be on its way out of this module. */
static void __exit tsrv_exit(void)
{
	unsigned int i;

	debugfs_remove_recursive(tsrv_root);
	for (i = 0; i < TSRV_PORTS; i++) {
		tsrv_close(&tsrv_ctxs[i]);
		tsrv_free_sessions(&tsrv_ctxs[i]);
	}
	destroy_workqueue(tsrv_wq);
	synchronize_rcu();
}

module_init(tsrv_init);
module_exit(tsrv_exit);

MODULE_DESCRIPTION("RTRS test server");
MODULE_LICENSE("GPL");
