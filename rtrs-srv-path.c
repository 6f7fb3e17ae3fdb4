// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS server: a path from its first connection request to its end.
 *
 * A path comes into being in the CM's handler, cheaply: it has a device, room
 * for pointers to its connections and a deadline, but no chunks.  When all
 * connections are established and info_req has arrived, in whatever order,
 * the up work does the rest in process context: name, chunks, operations,
 * keys, sysfs, the ULP.  Then the path is CONNECTED, and only then the client
 * is told the keys, so no honest request can come sooner.
 *
 * Whoever sees an error, in any context, calls rtrs_srv_path_close() or
 * rtrs_srv_path_fail().  The first one moves the path to CLOSING and queues
 * the close work; all others find the gate closed and leave.  So each path
 * prints one error at most, the first.
 *
 * The close work takes the path off the device without waiting for the ULP:
 * after it no QP, MR, DMA mapping or cm_id is left, so that a device can be
 * removed while the ULP sits on a request, and the path is no longer in its
 * session's list, so that the client may connect it anew.  When the ULP has
 * finished the last of its operations, the end work tells it that the session
 * is gone, if this was the last path, and frees what is left.  An operation
 * that is finished after the path's end is swallowed.
 *
 * A path that does not become CONNECTED within its deadline is closed; there
 * is no other limit to how slowly a client may connect.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <linux/string.h>

#include "rtrs-srv.h"
#include "rtrs-srv-trace.h"

/* States */

static const u8 rtrs_srv_steps[] = {
	[RTRS_SRV_CONNECTING] = BIT(RTRS_SRV_CONNECTED) | BIT(RTRS_SRV_CLOSING),
	[RTRS_SRV_CONNECTED] = BIT(RTRS_SRV_CLOSING),
	[RTRS_SRV_CLOSING] = BIT(RTRS_SRV_CLOSED),
	[RTRS_SRV_CLOSED] = 0,
};

/**
 * rtrs_srv_path_set_state() - take a step
 * @path: path
 * @state: where to
 *
 * Context: Any.
 * Return: true if the step was allowed and has been taken; false if somebody
 *	else was first.
 */
bool rtrs_srv_path_set_state(struct rtrs_srv_path *path,
			     enum rtrs_srv_path_state state)
{
	unsigned long flags;
	bool allowed;

	spin_lock_irqsave(&path->lock, flags);
	allowed = rtrs_srv_steps[path->state] & BIT(state);
	if (allowed)
		/* Pairs with smp_load_acquire() in rtrs_srv_path_state(). */
		smp_store_release(&path->state, state);
	spin_unlock_irqrestore(&path->lock, flags);
	if (allowed)
		trace_rtrs_srv_path_state(path, state);
	return allowed;
}

/**
 * rtrs_srv_path_close() - start to close a path
 * @path: path; may be gone on return, unless the caller keeps it
 *
 * Context: Any.
 * Return: true if this call has started it.
 */
bool rtrs_srv_path_close(struct rtrs_srv_path *path)
{
	if (!rtrs_srv_path_set_state(path, RTRS_SRV_CLOSING))
		return false;
	atomic_dec(&path->sess->nr_live);
	wake_up_all(&path->wait);
	rtrs_srv_wake_up_works();
	queue_work(rtrs_srv_wq, &path->close_work);
	return true;
}

static void rtrs_srv_path_deadline(struct work_struct *work)
{
	struct rtrs_srv_path *path = container_of(to_delayed_work(work),
						  struct rtrs_srv_path,
						  deadline);

	if (rtrs_srv_path_state(path) == RTRS_SRV_CONNECTING)
		rtrs_srv_path_fail(path, "not connected within %u seconds",
				   RTRS_SRV_HANDSHAKE_S);
}

static struct rtrs_con *rtrs_srv_path_hb_con(struct rtrs_hb *hb, u32 cid)
{
	return &container_of(hb, struct rtrs_srv_path, hb)->cons[cid]->c;
}

/* Context: process or softirq. */
static void rtrs_srv_path_hb_dead(struct rtrs_hb *hb, int err)
{
	struct rtrs_srv_path *path = container_of(hb, struct rtrs_srv_path, hb);

	rtrs_srv_path_fail(path, "no sign of life: %pe", ERR_PTR(err));
}

/* Coming up */

static int rtrs_srv_path_learn_name(struct rtrs_srv_path *path)
{
	struct rtrs_buf *buf = path->info_req;
	char name[RTRS_MAX_NAME];
	const char *rule;
	int err;

	ib_dma_sync_single_for_cpu(path->dev->ib_dev, buf->dma, buf->size,
				   buf->dir);
	err = rtrs_get_info_req(buf->data, path->info_len, name, &rule);
	if (err) {
		rtrs_srv_path_fail(path, "protocol: %s", rule);
		return err;
	}
	err = rtrs_srv_sess_set_name(path, name);
	if (err == -EINVAL)
		rtrs_srv_path_fail(path, "protocol: the session's name changed");
	else if (err)
		rtrs_srv_path_fail(path, "there is another session \"%s\"",
				   name);
	return err;
}

static int rtrs_srv_path_get_mem(struct rtrs_srv_path *path)
{
	int err;

	err = rtrs_srv_sess_get_chunks(path);
	if (err) {
		rtrs_srv_path_fail(path, "no memory for %u chunks of %u bytes",
				   rtrs_srv_geo.queue_depth,
				   rtrs_srv_chunk_size());
		return err;
	}
	err = rtrs_srv_path_alloc_mem(path);
	if (!err)
		err = rtrs_srv_path_register(path);
	if (err)
		rtrs_srv_path_fail(path, "cannot register the chunks: %pe",
				   ERR_PTR(err));
	return err;
}

static int rtrs_srv_path_publish(struct rtrs_srv_path *path)
{
	int err;

	err = rtrs_srv_sysfs_add_path(path);
	if (err) {
		rtrs_srv_path_fail(path, "no directory in sysfs: %pe",
				   ERR_PTR(err));
		return err;
	}
	err = rtrs_srv_sess_link(path);
	if (err)
		rtrs_srv_path_fail(path, "refused by the ULP: %d", err);
	return err;
}

/* Requests may arrive as soon as info_rsp is posted. */
static void rtrs_srv_path_go(struct rtrs_srv_path *path)
{
	struct rtrs_con *con = &path->cons[0]->c;
	int err;

	rtrs_hb_init(&path->hb, path->cid_num, rtrs_srv_path_hb_con,
		     rtrs_srv_path_hb_dead);
	if (!rtrs_srv_path_set_state(path, RTRS_SRV_CONNECTED))
		return;
	cancel_delayed_work(&path->deadline);
	rtrs_srv_sess_path_connected(path);
	err = rtrs_post_send(con, path->info_rsp, path->info_rsp->size, NULL,
			     NULL);
	if (err) {
		rtrs_srv_path_fail(path, "cannot send info_rsp: %pe",
				   ERR_PTR(err));
		return;
	}
	rtrs_hb_start(&path->hb);
	rtrs_srv_info(path, "connected, %u connections, device %s",
		      path->cid_num, path->dev->ib_dev->name);
}

/*
 * On a workqueue of its own: it may wait for the end of other paths, whose
 * works must not have to wait behind it.
 */
static void rtrs_srv_path_up(struct work_struct *work)
{
	struct rtrs_srv_path *path = container_of(work, struct rtrs_srv_path,
						  up_work);

	if (rtrs_srv_path_learn_name(path) || rtrs_srv_path_get_mem(path) ||
	    rtrs_srv_sess_wait_orphans(path) || rtrs_srv_path_publish(path))
		return;
	rtrs_srv_path_go(path);
}

/* All connections are up and info_req is there: go on in process context. */
static void rtrs_srv_path_try_up_locked(struct rtrs_srv_path *path)
{
	lockdep_assert_held(&path->lock);
	if (path->state != RTRS_SRV_CONNECTING || path->up_queued ||
	    path->nr_up < path->cid_num || path->info_len < 0)
		return;
	path->up_queued = true;
	queue_work(rtrs_srv_up_wq, &path->up_work);
}

/**
 * rtrs_srv_path_con_up() - one more connection is established
 * @path: path
 *
 * Context: Any.
 */
void rtrs_srv_path_con_up(struct rtrs_srv_path *path)
{
	unsigned long flags;

	spin_lock_irqsave(&path->lock, flags);
	path->nr_up++;
	rtrs_srv_path_try_up_locked(path);
	spin_unlock_irqrestore(&path->lock, flags);
}

/**
 * rtrs_srv_path_got_info() - info_req has arrived
 * @path: path
 * @len: its length in bytes
 *
 * It may come before all connections are established, or before the one that
 * it came over is: the client has seen our accepts, the CM here has not seen
 * its answers yet, and may never.  It stays in its buffer until then.
 *
 * Context: Any.
 */
void rtrs_srv_path_got_info(struct rtrs_srv_path *path, u32 len)
{
	unsigned long flags;
	u32 cid;

	spin_lock_irqsave(&path->lock, flags);
	path->info_len = len;
	for (cid = 0; cid < path->cid_num; cid++)
		if (path->cons[cid])
			rtrs_srv_con_peer_talks(path->cons[cid]);
	rtrs_srv_path_try_up_locked(path);
	spin_unlock_irqrestore(&path->lock, flags);
}

/* Closing */

static bool rtrs_srv_path_has_pending(struct rtrs_srv_path *path)
{
	unsigned long flags;
	bool pending;

	spin_lock_irqsave(&path->lock, flags);
	pending = path->nr_pending;
	spin_unlock_irqrestore(&path->lock, flags);
	return pending;
}

/* From here on nothing is posted and no completion runs. */
static void rtrs_srv_path_stop_cons(struct rtrs_srv_path *path)
{
	u32 i;

	for (i = 0; i < path->cid_num; i++)
		if (path->cons[i])
			rdma_disconnect(path->cons[i]->c.cm_id);
	for (i = 0; i < path->cid_num; i++) {
		if (!path->cons[i])
			continue;
		rtrs_con_drain_qp(&path->cons[i]->c);
		rtrs_srv_con_purge(path->cons[i]);
	}
}

static void rtrs_srv_path_destroy_cons(struct rtrs_srv_path *path)
{
	u32 i;

	for (i = 0; i < path->cid_num; i++) {
		if (!path->cons[i])
			continue;
		rtrs_srv_con_destroy(path->cons[i]);
		path->cons[i] = NULL;
	}
}

static void rtrs_srv_path_free_hw(struct rtrs_srv_path *path)
{
	u32 i;

	for (i = 0; i < path->cid_num; i++) {
		if (!path->cons[i])
			continue;
		rtrs_con_destroy_qp(&path->cons[i]->c);
		rtrs_rx_free(&path->cons[i]->c);
	}
	rtrs_srv_path_unmap_mem(path);
	rtrs_dev_put(path->dev);
	path->dev = NULL;
}

static void rtrs_srv_path_do_close(struct work_struct *work)
{
	struct rtrs_srv_path *path = container_of(work, struct rtrs_srv_path,
						  close_work);

	rtrs_srv_dbg(path, "closing");
	cancel_delayed_work_sync(&path->deadline);
	wait_event(path->wait, !rtrs_srv_path_has_pending(path));
	cancel_work_sync(&path->up_work);
	rtrs_srv_sysfs_del_path(path);
	/* Those who found the path in another state have left after this. */
	synchronize_rcu();
	if (path->hb.con)
		rtrs_hb_stop(&path->hb);
	rtrs_srv_path_stop_cons(path);
	rtrs_srv_path_free_hw(path);
	rtrs_srv_path_destroy_cons(path);
	rtrs_srv_path_set_state(path, RTRS_SRV_CLOSED);
	rtrs_srv_sess_hide_path(path);
	percpu_ref_kill(&path->ops_ref);
}

static void rtrs_srv_path_free(struct rtrs_srv_path *path)
{
	if (path->dev)
		rtrs_dev_put(path->dev);
	rtrs_srv_path_free_mem(path);
	percpu_ref_exit(&path->ops_ref);
	free_percpu(path->stats);
	kvfree(path->cons);
	kfree(path);
}

/* The last operation has ended.  Context: any. */
static void rtrs_srv_path_ops_gone(struct percpu_ref *ref)
{
	struct rtrs_srv_path *path = container_of(ref, struct rtrs_srv_path,
						  ops_ref);

	queue_work(rtrs_srv_wq, &path->end_work);
}

static void rtrs_srv_path_end(struct work_struct *work)
{
	struct rtrs_srv_path *path = container_of(work, struct rtrs_srv_path,
						  end_work);

	if (path->linked)
		rtrs_srv_info(path, "disconnected");
	rtrs_srv_sess_unlink(path);
	rtrs_srv_sess_del_path(path);
	pr_debug("destroyed srv_path %u\n", path->id);
	rtrs_srv_path_free(path);
}

/* Joining: from here on under the context's lock, in the CM's handler */

static struct rtrs_srv_path *
rtrs_srv_path_find(struct rtrs_srv_sess *sess, const u8 *uuid)
{
	struct rtrs_srv_path *path;

	list_for_each_entry(path, &sess->paths, entry)
		if (!memcmp(path->uuid, uuid, RTRS_UUID_SIZE))
			return path;
	return NULL;
}

/* May a path between @addrs be added to the session, which may be none? */
static int rtrs_srv_path_allowed(struct rtrs_srv_sess *sess,
				 const char *addrs,
				 const struct rtrs_conn_req *req,
				 const char **rule)
{
	struct rtrs_srv_path *path;

	if (!sess) {
		*rule = "there is no such session";
		return req->first_conn ? 0 : -ENXIO;
	}
	if (sess->nr_paths >= RTRS_MAX_PATHS) {
		*rule = "the session has 128 paths";
		return -EPERM;
	}
	list_for_each_entry(path, &sess->paths, entry) {
		if (strcmp(path->str, addrs))
			continue;
		if (rtrs_srv_path_state(path) >= RTRS_SRV_CLOSING) {
			*rule = "a path between these addresses is closing";
			return -EBUSY;
		}
		*rule = "there is a path between these addresses";
		return -EEXIST;
	}
	return 0;
}

/* The client is the source, on both sides. */
static void rtrs_srv_path_set_addr(struct rtrs_srv_path *path,
				   const struct rdma_addr *addr)
{
	struct rtrs_addr pair = { .src = &path->src, .dst = &path->dst };

	path->src = addr->dst_addr;
	path->dst = addr->src_addr;
	rtrs_addr_to_str(&pair, path->str, sizeof(path->str));
}

static struct rtrs_srv_path *
rtrs_srv_path_alloc(struct rdma_cm_id *cm_id, const struct rtrs_conn_req *req)
{
	struct rtrs_srv_path *path;
	int err = -ENOMEM;

	path = kzalloc(sizeof(*path), GFP_KERNEL);
	if (!path)
		return ERR_PTR(-ENOMEM);
	path->stats = alloc_percpu(struct rtrs_srv_stats);
	path->cons = kvcalloc(req->cid_num, sizeof(*path->cons), GFP_KERNEL);
	if (!path->stats || !path->cons)
		goto free_cons;
	err = percpu_ref_init(&path->ops_ref, rtrs_srv_path_ops_gone, 0,
			      GFP_KERNEL);
	if (err)
		goto free_cons;
	path->dev = rtrs_dev_get(cm_id->device);
	if (IS_ERR(path->dev)) {
		err = PTR_ERR(path->dev);
		goto exit_ref;
	}
	memcpy(path->uuid, req->sess_uuid, sizeof(path->uuid));
	path->recon_cnt = req->recon_cnt;
	path->cid_num = req->cid_num;
	path->port_num = cm_id->port_num;
	path->info_len = -1;
	rtrs_srv_path_set_addr(path, &cm_id->route.addr);
	spin_lock_init(&path->lock);
	init_waitqueue_head(&path->wait);
	INIT_WORK(&path->up_work, rtrs_srv_path_up);
	INIT_WORK(&path->close_work, rtrs_srv_path_do_close);
	INIT_WORK(&path->end_work, rtrs_srv_path_end);
	INIT_DELAYED_WORK(&path->deadline, rtrs_srv_path_deadline);
	return path;

exit_ref:
	percpu_ref_exit(&path->ops_ref);
free_cons:
	kvfree(path->cons);
	free_percpu(path->stats);
	kfree(path);
	return ERR_PTR(err);
}

static struct rtrs_srv_path *
rtrs_srv_path_create(struct rtrs_srv_ctx *ctx, struct rtrs_srv_sess *sess,
		     struct rdma_cm_id *cm_id, const struct rtrs_conn_req *req,
		     const char **rule)
{
	struct rtrs_srv_path *path;
	int err;

	if (req->cid_num > RTRS_SRV_MAX_CONS) {
		*rule = "more connections than a path may have";
		return ERR_PTR(-EPERM);
	}
	*rule = "no memory, or not on this device";
	path = rtrs_srv_path_alloc(cm_id, req);
	if (IS_ERR(path))
		return path;
	err = rtrs_srv_path_allowed(sess, path->str, req, rule);
	if (err)
		goto free_path;
	err = rtrs_srv_limit_add_path(ctx, path, !sess, rule);
	if (err)
		goto free_path;
	if (!sess)
		sess = rtrs_srv_sess_create(ctx, req->paths_uuid);
	if (!sess) {
		*rule = "no memory";
		err = -ENOMEM;
		goto del_path;
	}
	path->sess = sess;
	list_add_tail(&path->entry, &sess->paths);
	sess->nr_paths++;
	atomic_inc(&sess->nr_live);
	path->id = rtrs_srv_new_id();
	pr_debug("created srv_path %u\n", path->id);
	queue_delayed_work(rtrs_srv_wq, &path->deadline,
			   RTRS_SRV_HANDSHAKE_S * HZ);
	return path;

del_path:
	rtrs_srv_limit_del_path(ctx, path);
free_path:
	rtrs_srv_path_free(path);
	return ERR_PTR(err);
}

static int rtrs_srv_path_add_con_locked(struct rtrs_srv_path *path,
					struct rtrs_srv_con *con,
					const struct rtrs_conn_req *req,
					const char **rule)
{
	lockdep_assert_held(&path->lock);
	if ((s16)(req->recon_cnt - path->recon_cnt) < 0) {
		*rule = "the request is of an older attempt";
		return -ECONNRESET;
	}
	if (path->recon_cnt != req->recon_cnt ||
	    path->state >= RTRS_SRV_CLOSING) {
		*rule = "the path's previous incarnation is closing";
		return -EBUSY;
	}
	if (path->state != RTRS_SRV_CONNECTING) {
		*rule = "the path is connected already";
		return -ECONNRESET;
	}
	if (path->cid_num != req->cid_num) {
		*rule = "cid_num differs between connections of a path";
		return -ECONNRESET;
	}
	if (path->cons[req->cid]) {
		*rule = "cid is in use";
		return -ECONNRESET;
	}
	if (path->dev->ib_dev != con->c.cm_id->device) {
		*rule = "connections of a path on two devices";
		return -ECONNRESET;
	}
	con->path = path;
	con->c.dev = path->dev;
	path->cons[req->cid] = con;
	path->nr_pending++;
	return 0;
}

/* A client that comes with another attempt has given the one before up. */
static int rtrs_srv_path_add_con(struct rtrs_srv_ctx *ctx,
				 struct rtrs_srv_path *path,
				 struct rtrs_srv_con *con,
				 const struct rtrs_conn_req *req,
				 const char **rule)
{
	unsigned long flags;
	int err;

	err = rtrs_srv_limit_check_con(ctx, path, rule);
	if (err)
		return err;
	spin_lock_irqsave(&path->lock, flags);
	err = rtrs_srv_path_add_con_locked(path, con, req, rule);
	spin_unlock_irqrestore(&path->lock, flags);
	if (!err)
		rtrs_srv_limit_add_con(ctx, path);
	else if (err == -EBUSY)
		rtrs_srv_path_fail(path, "given up by the client, which connects again");
	return err;
}

/**
 * rtrs_srv_path_join() - make a connection a part of its path
 * @ctx: context that it came to
 * @con: new connection, with its cm_id
 * @req: what the client asks for
 * @rule: set to the reason of an error
 *
 * Finds or creates the session and the path.  On success the path's end owns
 * @con, and waits until the caller has called rtrs_srv_path_joined().
 *
 * Context: Handler of a connection request; sleeps.
 * Return: 0 or the errno for the reject.
 */
int rtrs_srv_path_join(struct rtrs_srv_ctx *ctx, struct rtrs_srv_con *con,
		       const struct rtrs_conn_req *req, const char **rule)
{
	struct rtrs_srv_path *path = NULL;
	struct rtrs_srv_sess *sess;
	bool is_new;
	int err;

	mutex_lock(&ctx->lock);
	sess = rtrs_srv_sess_find(ctx, req->paths_uuid);
	if (sess)
		path = rtrs_srv_path_find(sess, req->sess_uuid);
	is_new = !path;
	if (is_new)
		path = rtrs_srv_path_create(ctx, sess, con->c.cm_id, req, rule);
	if (IS_ERR(path)) {
		err = PTR_ERR(path);
	} else {
		err = rtrs_srv_path_add_con(ctx, path, con, req, rule);
		if (err && is_new)
			rtrs_srv_path_close(path);
	}
	mutex_unlock(&ctx->lock);
	return err;
}

/**
 * rtrs_srv_path_joined() - the handler of the connection request is done
 * @path: path; may be gone on return
 *
 * Context: Process.
 */
void rtrs_srv_path_joined(struct rtrs_srv_path *path)
{
	unsigned long flags;

	spin_lock_irqsave(&path->lock, flags);
	path->nr_pending--;
	wake_up_all(&path->wait);
	spin_unlock_irqrestore(&path->lock, flags);
}
