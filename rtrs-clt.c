// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS client: module, sessions, the API around them.
 *
 * A session is a name, a set of permits and a list of paths.  rtrs_clt_open()
 * reserves the name first, then connects the paths one after the other (the
 * first tells how many permits there are), and shows the session in sysfs when
 * all of that has worked; on the way back everything is undone in reverse, and
 * the caller sees the first error.
 *
 * How a path is connected, watched and recovered is the business of
 * rtrs-clt-path.c and rtrs-clt-con.c; how requests travel, of rtrs-clt-io.c.
 *
 * Context: everything here runs in the ULP's process context, but for
 * rtrs_clt_query() and rtrs_clt_rdma_cq_direct(), which any context may call.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uuid.h>

#include "rtrs-clt.h"

#define CREATE_TRACE_POINTS
#include "rtrs-clt-trace.h"

static DEFINE_MUTEX(sessions_lock);	/* Protects sessions. */
static LIST_HEAD(sessions);

/* Reserves the name: from here on it is taken. */
static int sess_add(struct rtrs_clt_sess *sess)
{
	struct rtrs_clt_sess *other;
	int err = 0;

	mutex_lock(&sessions_lock);
	list_for_each_entry(other, &sessions, entry)
		if (!strcmp(other->name, sess->name))
			err = -EEXIST;
	if (!err)
		list_add_tail(&sess->entry, &sessions);
	mutex_unlock(&sessions_lock);
	if (err)
		pr_err("%s: a session of this name is open\n", sess->name);
	return err;
}

static void sess_del(struct rtrs_clt_sess *sess)
{
	mutex_lock(&sessions_lock);
	list_del(&sess->entry);
	mutex_unlock(&sessions_lock);
}

static struct rtrs_clt_sess *sess_alloc(const struct rtrs_clt_ops *ops,
					const char *name)
{
	struct rtrs_clt_sess *sess;

	sess = kzalloc(sizeof(*sess), GFP_KERNEL);
	if (!sess)
		return NULL;
	sess->rr_next = alloc_percpu(u32);
	if (!sess->rr_next) {
		kfree(sess);
		return NULL;
	}
	strscpy(sess->name, name, sizeof(sess->name));
	generate_random_uuid(sess->uuid);
	sess->ops = *ops;
	sess->policy = RTRS_CLT_MIN_INFLIGHT;
	mutex_init(&sess->lock);
	mutex_init(&sess->link_lock);
	INIT_LIST_HEAD(&sess->paths);
	init_waitqueue_head(&sess->wait);
	init_waitqueue_head(&sess->permit_wait);
	rtrs_clt_sysfs_init_sess(sess);
	return sess;
}

static bool same_route(const struct rtrs_clt_path *a,
		       const struct rtrs_clt_path *b)
{
	return !strcmp(a->name, b->name);
}

/* Under this name the path will stand in sysfs: not twice. */
static int sess_add_path_locked(struct rtrs_clt_sess *sess,
				struct rtrs_clt_path *path)
{
	struct rtrs_clt_path *other;
	u32 nr = 0;

	lockdep_assert_held(&sess->lock);
	if (sess->closing)
		return -ESHUTDOWN;
	list_for_each_entry(other, &sess->paths, entry) {
		if (same_route(other, path)) {
			rtrs_clt_err(path, "the session has this path already\n");
			return -EEXIST;
		}
		nr++;
	}
	if (nr >= RTRS_MAX_PATHS) {
		rtrs_clt_err(path, "the session has %u paths already\n", nr);
		return -ENOSPC;
	}
	if (sess->paths_kobj) {
		int err = rtrs_clt_sysfs_add_path(path);

		if (err)
			return err;
	}
	list_add_tail_rcu(&path->entry, &sess->paths);
	rtrs_clt_path_listed(path);
	return 0;
}

static int sess_add_path(struct rtrs_clt_sess *sess,
			 struct rtrs_clt_path *path)
{
	int err;

	mutex_lock(&sess->lock);
	err = sess_add_path_locked(sess, path);
	mutex_unlock(&sess->lock);
	return err;
}

/* A connected path, in the session's list. */
static struct rtrs_clt_path *sess_new_path(struct rtrs_clt_sess *sess,
					   const struct rtrs_addr *addr,
					   bool first)
{
	struct rtrs_clt_path *path;
	int err;

	path = rtrs_clt_path_create(sess, addr, first);
	if (!path)
		return ERR_PTR(-ENOMEM);
	err = rtrs_clt_path_connect(path);
	if (err)
		goto destroy;
	err = sess_add_path(sess, path);
	if (err)
		goto destroy;
	return path;

destroy:
	rtrs_clt_path_destroy(path);
	return ERR_PTR(err);
}

/**
 * rtrs_clt_add_path() - add a path to an open session
 * @sess: session
 * @addr: its addresses, the destination with its port
 *
 * Context: Process; sleeps until it is connected, can be interrupted.
 * Return: 0, -EEXIST if the session has the path, or the error of the attempt.
 */
int rtrs_clt_add_path(struct rtrs_clt_sess *sess, const struct rtrs_addr *addr)
{
	/* With the last path the server's session has gone as well. */
	bool first = list_empty(&sess->paths);

	return PTR_ERR_OR_ZERO(sess_new_path(sess, addr, first));
}

/**
 * rtrs_clt_claim_path() - take a path out of an open session
 * @path: path that cannot be freed at the moment
 *
 * Context: Process; sleeps.
 * Return: true if the caller is to destroy it; false if somebody else is.
 */
bool rtrs_clt_claim_path(struct rtrs_clt_path *path)
{
	struct rtrs_clt_sess *sess = path->sess;
	bool claimed;

	mutex_lock(&sess->lock);
	claimed = rtrs_clt_path_claim_locked(path);
	mutex_unlock(&sess->lock);
	return claimed;
}

static int sess_connect(struct rtrs_clt_sess *sess,
			const struct rtrs_addr *addrs, size_t nr)
{
	struct rtrs_clt_path *path;
	size_t i;

	for (i = 0; i < nr; i++) {
		path = sess_new_path(sess, &addrs[i], !i);
		if (IS_ERR(path))
			return PTR_ERR(path);
	}
	return 0;
}

static struct rtrs_clt_path *sess_claim_path(struct rtrs_clt_sess *sess)
{
	struct rtrs_clt_path *path;

	mutex_lock(&sess->lock);
	path = list_first_entry_or_null(&sess->paths, struct rtrs_clt_path,
					entry);
	if (path)
		rtrs_clt_path_claim_locked(path);
	mutex_unlock(&sess->lock);
	return path;
}

/*
 * Takes every path down; requests in flight end.  Paths that somebody else
 * has claimed, or has not added yet, are waited for.
 */
static void sess_disconnect(struct rtrs_clt_sess *sess)
{
	struct rtrs_clt_path *path;

	mutex_lock(&sess->link_lock);
	sess->events = false;
	mutex_unlock(&sess->link_lock);
	mutex_lock(&sess->lock);
	WRITE_ONCE(sess->closing, true);
	mutex_unlock(&sess->lock);
	wake_up_all(&sess->wait);
	while ((path = sess_claim_path(sess)))
		rtrs_clt_path_destroy(path);
	wait_event(sess->wait, !atomic_read(&sess->nr_paths));
}

/* From any point of rtrs_clt_open() on which the name was reserved. */
static void sess_end(struct rtrs_clt_sess *sess)
{
	rtrs_clt_debugfs_del_sess(sess);
	sess_disconnect(sess);
	rtrs_clt_sysfs_del_sess(sess);
	rtrs_clt_permits_free(sess);
	sess_del(sess);
}

static int check_open(const struct rtrs_clt_ops *ops, const char *name,
		      size_t path_cnt, s16 max_reconnects, u32 nr_poll_queues)
{
	const char *rule = NULL;

	if (!name || !ops || !ops->link_ev)
		rule = "name and link_ev are needed";
	else if (rtrs_check_name(name, strlen(name), &rule))
		;
	else if (!path_cnt || path_cnt > RTRS_MAX_PATHS)
		rule = "number of paths must be 1..128";
	else if (max_reconnects < -1 ||
		 max_reconnects > RTRS_CLT_MAX_RECONNECTS)
		rule = "max_reconnect_attempts must be -1..9999";
	else if (nr_poll_queues > U16_MAX - 1 - num_possible_cpus())
		rule = "too many poll queues";
	if (!rule)
		return 0;
	pr_err("cannot open session: %s\n", rule);
	return -EINVAL;
}

struct rtrs_clt_sess *rtrs_clt_open(struct rtrs_clt_ops *ops,
				    const char *pathname,
				    const struct rtrs_addr *paths,
				    size_t path_cnt, u16 port,
				    size_t pdu_sz, u8 reconnect_delay_sec,
				    s16 max_reconnect_attempts,
				    u32 nr_poll_queues)
{
	struct rtrs_clt_sess *sess;
	int err;

	err = check_open(ops, pathname, path_cnt, max_reconnect_attempts,
			 nr_poll_queues);
	if (err)
		return ERR_PTR(err);
	sess = sess_alloc(ops, pathname);
	if (!sess)
		return ERR_PTR(-ENOMEM);
	sess->port = port;
	sess->pdu_sz = pdu_sz;
	sess->nr_poll_queues = nr_poll_queues;
	sess->reconnect_delay = reconnect_delay_sec;
	sess->max_reconnect_attempts = max_reconnect_attempts;

	err = sess_add(sess);
	if (err)
		goto put_sess;
	err = sess_connect(sess, paths, path_cnt);
	if (err)
		goto disconnect;
	err = rtrs_clt_sysfs_add_sess(sess);
	if (err)
		goto disconnect;

	rtrs_clt_debugfs_add_sess(sess);
	mutex_lock(&sess->link_lock);
	sess->events = true;
	mutex_unlock(&sess->link_lock);
	pr_debug("created clt_sess %s\n", sess->name);
	return sess;

disconnect:
	sess_end(sess);
put_sess:
	put_device(&sess->dev);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(rtrs_clt_open);

void rtrs_clt_close(struct rtrs_clt_sess *clt)
{
	pr_debug("destroyed clt_sess %s\n", clt->name);
	sess_end(clt);
	put_device(&clt->dev);
}
EXPORT_SYMBOL_GPL(rtrs_clt_close);

int rtrs_clt_query(struct rtrs_clt_sess *clt, struct rtrs_attrs *attr)
{
	bool connected;

	rcu_read_lock();
	connected = rtrs_clt_pick_link(clt);
	rcu_read_unlock();
	if (!connected)
		return -ECOMM;
	*attr = clt->attrs;
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_clt_query);

int rtrs_clt_rdma_cq_direct(struct rtrs_clt_sess *clt, unsigned int index)
{
	struct rtrs_clt_path *path;
	struct rtrs_clt_link *link;
	int done = -1;

	rcu_read_lock();
	list_for_each_entry_rcu(path, &clt->paths, entry) {
		link = rcu_dereference(path->link);
		if (!link || READ_ONCE(link->err))
			continue;
		done = max(done, 0);
		if (index >= link->nr_io && index < link->nr_cons - 1)
			done += ib_process_cq_direct(link->cons[index + 1].c.cq,
						     -1);
	}
	rcu_read_unlock();
	return done;
}
EXPORT_SYMBOL_GPL(rtrs_clt_rdma_cq_direct);

static int __init rtrs_client_init(void)
{
	int err;

	err = rtrs_clt_sysfs_module_init();
	if (err)
		return err;
	err = rtrs_clt_path_module_init();
	if (err) {
		rtrs_clt_sysfs_module_exit();
		return err;
	}
	rtrs_clt_debugfs_module_init();
	return 0;
}

static void __exit rtrs_client_exit(void)
{
	rtrs_clt_debugfs_module_exit();
	rtrs_clt_path_module_exit();
	rtrs_clt_sysfs_module_exit();
}

module_init(rtrs_client_init);
module_exit(rtrs_client_exit);

MODULE_DESCRIPTION("RTRS: RDMA transport, client");
MODULE_LICENSE("GPL");
MODULE_VERSION(RTRS_VERSION);
