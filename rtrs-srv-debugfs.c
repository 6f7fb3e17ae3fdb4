// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS server: debugfs.
 *
 *	/sys/kernel/debug/rtrs-server/port-<port>
 *	/sys/kernel/debug/rtrs-server/{max_send_slots,established_delay_ms}
 *
 * One file a listening port shows what the limits count (rtrs-srv-limit.c) and
 * the sessions that came to it: paths with their state, connections, and every
 * request that is not answered yet with its age.  For people who look for the
 * request that hangs; the format is no ABI.
 *
 * The context's lock keeps sessions and paths; connections and operations are
 * there as long as the path is seen connected under RCU.  The picture is not of
 * one moment: requests come and go while it is printed.
 *
 * The two others are switches for tests.  With few slots nearly every answer
 * has to wait in the backlog; a late word from the CM makes info_req an early
 * message.
 */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/seq_file.h>

#include "rtrs-srv.h"

u32 rtrs_srv_max_slots = RTRS_SRV_SQ_MAX;
u32 rtrs_srv_established_delay_ms;

static struct dentry *rtrs_srv_debugfs;

static const char * const path_states[] = {
	[RTRS_SRV_CONNECTING] = "connecting",
	[RTRS_SRV_CONNECTED] = "connected",
	[RTRS_SRV_CLOSING] = "closing",
	[RTRS_SRV_CLOSED] = "closed",
};

static void show_op(struct seq_file *m, const struct rtrs_srv_op *op)
{
	if (!test_bit(0, &op->busy))
		return;
	seq_printf(m, "    request %u: cid %u, %s, age %u ms\n", op->id,
		   READ_ONCE(op->cid),
		   READ_ONCE(op->answered) ? "answered" : "in progress",
		   jiffies_to_msecs(jiffies - READ_ONCE(op->since)));
}

static void show_connected(struct seq_file *m, const struct rtrs_srv_path *path)
{
	const struct rtrs_srv_con *con;
	u32 i;

	for (i = 0; i < path->cid_num; i++) {
		con = path->cons[i];
		seq_printf(m, "    connection %u: QP %u, send slots %u of %u in use\n",
			   i, con->c.qp->qp_num, READ_ONCE(con->sq_used),
			   con->sq_size);
	}
	for (i = 0; i < rtrs_srv_geo.queue_depth; i++)
		show_op(m, &path->ops[i]);
}

static void show_path(struct seq_file *m, struct rtrs_srv_path *path)
{
	enum rtrs_srv_path_state state;

	rcu_read_lock();
	state = rtrs_srv_path_state(path);
	seq_printf(m, "  path %s: %s, attempt %u, %u of %u connections up\n",
		   path->str, path_states[state], path->recon_cnt,
		   READ_ONCE(path->nr_up), path->cid_num);
	if (state == RTRS_SRV_CONNECTED)
		show_connected(m, path);
	rcu_read_unlock();
}

static int ctx_show(struct seq_file *m, void *unused)
{
	struct rtrs_srv_ctx *ctx = m->private;
	struct rtrs_srv_sess *sess;
	struct rtrs_srv_path *path;

	mutex_lock(&ctx->lock);
	rtrs_srv_limit_show(ctx, m);
	list_for_each_entry(sess, &ctx->sessions, entry) {
		seq_printf(m, "session %s: %pUb, %u chunks of %u bytes, %u paths\n",
			   rtrs_srv_sess_name(sess), sess->uuid,
			   rtrs_srv_geo.queue_depth, rtrs_srv_chunk_size(),
			   sess->nr_paths);
		list_for_each_entry(path, &sess->paths, entry)
			show_path(m, path);
	}
	mutex_unlock(&ctx->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ctx);

void rtrs_srv_debugfs_add_ctx(struct rtrs_srv_ctx *ctx)
{
	char name[16];

	snprintf(name, sizeof(name), "port-%u", ctx->port);
	ctx->debugfs = debugfs_create_file(name, 0400, rtrs_srv_debugfs, ctx,
					   &ctx_fops);
}

/* Waits for its readers. */
void rtrs_srv_debugfs_del_ctx(struct rtrs_srv_ctx *ctx)
{
	debugfs_remove(ctx->debugfs);
}

void __init rtrs_srv_debugfs_init(void)
{
	rtrs_srv_debugfs = debugfs_create_dir("rtrs-server", NULL);
	debugfs_create_u32("max_send_slots", 0600, rtrs_srv_debugfs,
			   &rtrs_srv_max_slots);
	debugfs_create_u32("established_delay_ms", 0600, rtrs_srv_debugfs,
			   &rtrs_srv_established_delay_ms);
}

void rtrs_srv_debugfs_exit(void)
{
	debugfs_remove(rtrs_srv_debugfs);
}
