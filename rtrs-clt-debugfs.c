// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS client: debugfs.
 *
 *	/sys/kernel/debug/rtrs-client/<session>
 *
 * One file a session shows what it consists of at the moment: paths with their
 * state, connections, and every request in flight with its age.  For people
 * who look for the request that hangs; the format is no ABI.
 *
 * Everything is read under RCU while it is in use, so the picture is not of
 * one moment: a request may end, or begin, while it is printed.  The file goes
 * before the session's paths do, and its removal waits for its readers.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "rtrs-clt.h"

static struct dentry *rtrs_clt_debugfs;

static const char * const path_states[] = {
	[RTRS_CLT_CONNECTING] = "connecting",
	[RTRS_CLT_CONNECTED] = "connected",
	[RTRS_CLT_RECOVERING] = "recovering",
	[RTRS_CLT_WAITING] = "waiting",
	[RTRS_CLT_CLOSING] = "closing",
	[RTRS_CLT_CLOSED] = "closed",
};

static void show_req(struct seq_file *m, const struct rtrs_clt_req *req)
{
	int state = atomic_read_acquire(&req->state);

	if (state == RTRS_REQ_IDLE)
		return;
	seq_printf(m, "    request %u: %s %s, cid %u, data %u, user message %u, age %lld us\n",
		   req->permit->mem_id,
		   state == RTRS_REQ_SENT ? "sent" : "answered",
		   req->dir == READ ? "read" : "write", req->con->c.cid,
		   req->data_len, req->usr_len,
		   ktime_us_delta(ktime_get(), req->start));
}

static void show_link(struct seq_file *m, const struct rtrs_clt_link *link)
{
	u32 i;

	for (i = 0; i < link->nr_cons; i++)
		seq_printf(m, "    connection %u: QP %u\n", i,
			   link->cons[i].c.qp->qp_num);
	for (i = 0; i < link->geo.queue_depth; i++)
		show_req(m, &link->reqs[i]);
}

static void show_path(struct seq_file *m, struct rtrs_clt_path *path)
{
	const struct rtrs_clt_link *link;

	seq_printf(m, "  path %s: %s, attempt %u, failed in a row %d, in flight %d\n",
		   path->name, path_states[READ_ONCE(path->state)],
		   READ_ONCE(path->recon_cnt), READ_ONCE(path->attempts),
		   atomic_read(&path->inflight));
	link = rcu_dereference(path->link);
	if (link)
		show_link(m, link);
}

static int sess_show(struct seq_file *m, void *unused)
{
	struct rtrs_clt_sess *sess = m->private;
	struct rtrs_clt_path *path;

	seq_printf(m, "session %s: %pUb, %u permits, %u out\n", sess->name,
		   sess->uuid, sess->attrs.queue_depth,
		   sbitmap_weight(&sess->permit_map));
	rcu_read_lock();
	list_for_each_entry_rcu(path, &sess->paths, entry)
		show_path(m, path);
	rcu_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sess);

void rtrs_clt_debugfs_add_sess(struct rtrs_clt_sess *sess)
{
	sess->debugfs = debugfs_create_file(sess->name, 0400, rtrs_clt_debugfs,
					    sess, &sess_fops);
}

void rtrs_clt_debugfs_del_sess(struct rtrs_clt_sess *sess)
{
	debugfs_remove(sess->debugfs);
}

void rtrs_clt_debugfs_module_init(void)
{
	rtrs_clt_debugfs = debugfs_create_dir("rtrs-client", NULL);
}

void rtrs_clt_debugfs_module_exit(void)
{
	debugfs_remove(rtrs_clt_debugfs);
}
