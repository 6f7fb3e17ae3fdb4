// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS client: paths, their states, recovery and reconnection.
 *
 *	CONNECTING -> CONNECTED -> RECOVERING -> WAITING -> CONNECTING ...
 *
 * and from each of them to CLOSING and CLOSED.  The state says who owns the
 * link: the thread that connects, everybody (RCU), the recovery work, nobody,
 * the thread that closes.  A thread whose step is refused finds that another
 * was first, gives up what it owns and leaves.
 *
 * Every error of a connected link, from whatever context, ends at
 * rtrs_clt_path_recover(): the gate CONNECTED -> RECOVERING.  Whoever passes
 * it queues the recovery work, which takes the link down, moves or finishes
 * the requests, tells the ULP and only then waits for the delay before the
 * next attempt.
 *
 * An attempt that fails is repeated until max_reconnect_attempts is reached;
 * then the path is CLOSED, with a line in the log.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uuid.h>

#include "rtrs-clt.h"
#include "rtrs-clt-trace.h"

/*
 * I/O waits for recovery, which must not wait for memory.  Connecting may, and
 * the CM's address queries, which it cancels, do.
 */
static struct workqueue_struct *rtrs_clt_recovery_wq;
static struct workqueue_struct *rtrs_clt_connect_wq;

/* The steps that a path can take: bit n of entry m is set for m -> n. */
static const u8 path_steps[] = {
	[RTRS_CLT_CONNECTING] = BIT(RTRS_CLT_CONNECTED) |
				BIT(RTRS_CLT_WAITING) |
				BIT(RTRS_CLT_CLOSING) | BIT(RTRS_CLT_CLOSED),
	[RTRS_CLT_CONNECTED] = BIT(RTRS_CLT_RECOVERING) |
			       BIT(RTRS_CLT_CLOSING),
	[RTRS_CLT_RECOVERING] = BIT(RTRS_CLT_WAITING) |
				BIT(RTRS_CLT_CLOSING) | BIT(RTRS_CLT_CLOSED),
	[RTRS_CLT_WAITING] = BIT(RTRS_CLT_CONNECTING) | BIT(RTRS_CLT_CLOSING),
	[RTRS_CLT_CLOSING] = BIT(RTRS_CLT_CLOSED),
	[RTRS_CLT_CLOSED] = BIT(RTRS_CLT_CONNECTING) | BIT(RTRS_CLT_CLOSING),
};

/* The step and the hand-over to the work that owns the new state are one. */
static void path_hand_over_locked(struct rtrs_clt_path *path)
{
	lockdep_assert_held(&path->lock);
	if (path->state == RTRS_CLT_RECOVERING)
		queue_work(rtrs_clt_recovery_wq, &path->recovery_work);
	else if (path->state == RTRS_CLT_WAITING)
		queue_delayed_work(rtrs_clt_connect_wq, &path->connect_work,
				   path->delay);
}

/*
 * The one place that changes the state.  Returns whether it did; @old is set
 * to the state before, taken or not.  Context: any.
 */
static bool path_step(struct rtrs_clt_path *path, enum rtrs_clt_path_state new,
		      enum rtrs_clt_path_state *old)
{
	enum rtrs_clt_path_state was;
	unsigned long flags;
	bool done;

	spin_lock_irqsave(&path->lock, flags);
	was = path->state;
	done = path_steps[was] & BIT(new);
	if (done) {
		WRITE_ONCE(path->state, new);
		path->changed = ktime_get_real_seconds();
		path_hand_over_locked(path);
	}
	spin_unlock_irqrestore(&path->lock, flags);
	if (done)
		trace_rtrs_clt_path_state(path, was, new);
	if (old)
		*old = was;
	return done;
}

/**
 * rtrs_clt_path_ending() - shall a handshake be given up
 * @path: path
 *
 * Context: Any.
 * Return: true once somebody takes the path or its session down.
 */
bool rtrs_clt_path_ending(struct rtrs_clt_path *path)
{
	return READ_ONCE(path->state) == RTRS_CLT_CLOSING ||
	       READ_ONCE(path->dying) || READ_ONCE(path->sess->closing);
}

/**
 * rtrs_clt_path_recover() - the gate: the path's link is broken
 * @path: path, in any state
 *
 * Context: Any.
 */
void rtrs_clt_path_recover(struct rtrs_clt_path *path)
{
	path_step(path, RTRS_CLT_RECOVERING, NULL);
}

/* Adopt what the server offers; the first path of the session decides. */
static int sess_adopt(struct rtrs_clt_sess *sess, struct rtrs_clt_link *link)
{
	struct rtrs_attrs *attrs = &sess->attrs;
	int err;

	if (!attrs->queue_depth) {
		attrs->queue_depth = link->geo.queue_depth;
		attrs->max_io_size = link->max_io_size;
		attrs->max_segments = link->max_segments;
		err = rtrs_clt_permits_alloc(sess);
		if (err)
			attrs->queue_depth = 0;
		return err;
	}
	if (attrs->queue_depth != link->geo.queue_depth ||
	    attrs->max_io_size > link->max_io_size) {
		rtrs_clt_err(link->path,
			     "expected queue depth %u and I/O size %u, as when the session was opened, server has %u and %u: reopen the session or restore the server's parameters\n",
			     attrs->queue_depth, attrs->max_io_size,
			     link->geo.queue_depth, link->max_io_size);
		return -EREMCHG;
	}
	attrs->max_segments = min(attrs->max_segments, link->max_segments);
	return 0;
}

/* The session has one more connected path; the ULP hears of the first. */
static void path_count_locked(struct rtrs_clt_path *path)
{
	struct rtrs_clt_sess *sess = path->sess;

	lockdep_assert_held(&sess->link_lock);
	path->counted = true;
	if (!sess->nr_connected++ && sess->events)
		sess->ops.link_ev(sess->ops.priv, RTRS_CLT_LINK_EV_RECONNECTED);
}

/**
 * rtrs_clt_path_listed() - a path is in its session's list now
 * @path: path; the caller holds the session's lock
 *
 * From here on it can carry requests, so now the ULP may hear of it.
 *
 * Context: Process; sleeps; calls the ULP.
 */
void rtrs_clt_path_listed(struct rtrs_clt_path *path)
{
	struct rtrs_clt_sess *sess = path->sess;

	lockdep_assert_held(&sess->lock);
	mutex_lock(&sess->link_lock);
	path->listed = true;
	if (READ_ONCE(path->state) == RTRS_CLT_CONNECTED)
		path_count_locked(path);
	mutex_unlock(&sess->link_lock);
}

/* An error before the gate was open has knocked in vain. */
static void path_knock_again(struct rtrs_clt_path *path)
{
	struct rtrs_clt_link *link;

	rcu_read_lock();
	link = rcu_dereference(path->link);
	if (link && READ_ONCE(link->err))
		rtrs_clt_path_recover(path);
	rcu_read_unlock();
}

/*
 * Publish a complete link and tell the ULP.  Right after the step the link is
 * the recovery's, if it breaks; the recovery waits for link_lock before it
 * tells the ULP the contrary.
 */
static int path_publish(struct rtrs_clt_path *path, struct rtrs_clt_link *link)
{
	struct rtrs_clt_sess *sess = path->sess;
	int err;

	mutex_lock(&sess->link_lock);
	err = sess_adopt(sess, link);
	if (err)
		goto unlock;
	rtrs_clt_info(path, "%sconnected on %s port %u: %u connections, queue depth %u, I/O size %u\n",
		      path->established ? "re" : "", path->hca_name,
		      path->hca_port, link->nr_cons, link->geo.queue_depth,
		      link->max_io_size);
	path->established = true;
	path->attempts = 0;
	rtrs_hb_start(&link->hb);
	rcu_assign_pointer(path->link, link);
	if (!path_step(path, RTRS_CLT_CONNECTED, NULL)) {
		RCU_INIT_POINTER(path->link, NULL);
		synchronize_rcu();
		err = -ECONNABORTED;
		goto unlock;
	}
	path_knock_again(path);
	if (path->listed)
		path_count_locked(path);
unlock:
	mutex_unlock(&sess->link_lock);
	return err;
}

/* The owner of a connected path's link, by its state, takes it down. */
static void path_unpublish(struct rtrs_clt_path *path)
{
	struct rtrs_clt_link *link = rcu_dereference_protected(path->link, 1);
	struct rtrs_clt_sess *sess = path->sess;

	path->last_err = READ_ONCE(link->err);
	RCU_INIT_POINTER(path->link, NULL);
	synchronize_rcu();
	rtrs_clt_link_destroy(link);

	mutex_lock(&sess->link_lock);
	if (path->counted && !--sess->nr_connected && sess->events)
		sess->ops.link_ev(sess->ops.priv,
				  RTRS_CLT_LINK_EV_DISCONNECTED);
	path->counted = false;
	mutex_unlock(&sess->link_lock);
}

/* 0, or why there will be no other try. */
static int path_pause(struct rtrs_clt_path *path, u32 ms)
{
	long left = msecs_to_jiffies(ms);

	left = wait_event_interruptible_timeout(path->sess->wait,
						rtrs_clt_path_ending(path),
						left);
	if (left < 0)
		return -EINTR;
	return left ? -ECONNABORTED : 0;
}

/*
 * While the server still takes the attempt before down, it is busy; that ends
 * soon, and nobody who connects a path by hand shall hear of it.
 */
static struct rtrs_clt_link *path_create_link(struct rtrs_clt_path *path)
{
	unsigned long deadline = jiffies +
				 msecs_to_jiffies(RTRS_CLT_CONNECT_MS);
	struct rtrs_clt_link *link;
	u32 ms = RTRS_CLT_BUSY_MS;
	int err;

	for (;; ms = min_t(u32, 2 * ms, MSEC_PER_SEC)) {
		path->recon_cnt++;
		link = rtrs_clt_link_create(path);
		if (link != ERR_PTR(-EAGAIN))
			return link;
		if (time_after(jiffies, deadline))
			return ERR_PTR(-EBUSY);
		err = path_pause(path, ms);
		if (err)
			return ERR_PTR(err);
	}
}

/* One attempt, in state CONNECTING.  0: the path is CONNECTED. */
static int path_attempt(struct rtrs_clt_path *path)
{
	struct rtrs_clt_link *link;
	int err;

	link = path_create_link(path);
	err = PTR_ERR_OR_ZERO(link);
	if (!err) {
		err = path_publish(path, link);
		if (err)
			rtrs_clt_link_destroy(link);
	}
	if (err) {
		path->attempts++;
		path->last_err = err;
	}
	return err;
}

/* No link, state RECOVERING or CONNECTING: wait for the next attempt, or end */
static void path_wait(struct rtrs_clt_path *path, int err)
{
	struct rtrs_clt_sess *sess = path->sess;
	int max = READ_ONCE(sess->max_reconnect_attempts);
	u32 ms = sess->reconnect_delay * MSEC_PER_SEC;

	if (rtrs_clt_path_ending(path))
		return;
	if (err == -EREMCHG || (max >= 0 && path->attempts >= max)) {
		if (path_step(path, RTRS_CLT_CLOSED, NULL))
			rtrs_clt_warn(path,
				      "not reconnected automatically: %pe after %d attempts of %d\n",
				      ERR_PTR(err), path->attempts, max);
		return;
	}
	/* Not all clients at once. */
	ms += get_random_u32() % (MSEC_PER_SEC / 2);
	path->delay = msecs_to_jiffies(ms);
	path_step(path, RTRS_CLT_WAITING, NULL);
}

static void path_recovery_work(struct work_struct *work)
{
	struct rtrs_clt_path *path = container_of(work, struct rtrs_clt_path,
						  recovery_work);

	path_unpublish(path);
	path_wait(path, path->last_err);
}

/* State CONNECTING: one more attempt of a path that was connected before. */
static int path_try_again(struct rtrs_clt_path *path)
{
	int err = path_attempt(path);

	atomic_inc(&path->nr_reconnects[!!err]);
	if (err)
		path_wait(path, err);
	return err;
}

static void path_connect_work(struct work_struct *work)
{
	struct rtrs_clt_path *path = container_of(to_delayed_work(work),
						  struct rtrs_clt_path,
						  connect_work);

	if (path_step(path, RTRS_CLT_CONNECTING, NULL))
		path_try_again(path);
}

/**
 * rtrs_clt_path_connect() - connect a new path
 * @path: path that nobody else uses yet
 *
 * Context: Process; sleeps, can be interrupted.
 * Return: 0, or the errno of the step that failed; the caller destroys the
 *	path then.
 */
int rtrs_clt_path_connect(struct rtrs_clt_path *path)
{
	int err;

	err = path_attempt(path);
	if (!err)
		return 0;
	rtrs_clt_err(path, "cannot connect: %pe\n", ERR_PTR(err));
	path_step(path, RTRS_CLT_CLOSED, NULL);
	return err;
}

/* Leave the path CLOSED; whoever owns its link at the moment takes it down. */
static void path_close(struct rtrs_clt_path *path)
{
	enum rtrs_clt_path_state old;

	path_step(path, RTRS_CLT_CLOSING, &old);
	wake_up_all(&path->sess->wait);	/* A handshake gives up. */
	flush_work(&path->recovery_work);
	cancel_delayed_work_sync(&path->connect_work);
	if (old == RTRS_CLT_CONNECTED) {
		path_unpublish(path);
		rtrs_clt_info(path, "disconnected\n");
	}
	path_step(path, RTRS_CLT_CLOSED, NULL);
}

/**
 * rtrs_clt_path_disconnect() - disconnect a path until it is told to reconnect
 * @path: path, in any state
 *
 * Context: Process; sleeps.
 */
void rtrs_clt_path_disconnect(struct rtrs_clt_path *path)
{
	mutex_lock(&path->admin);
	path_close(path);
	mutex_unlock(&path->admin);
}

/**
 * rtrs_clt_path_reconnect() - disconnect a path, if need be, and connect it
 * @path: path, in any state
 *
 * After a failure the path goes on by itself as after any other failed attempt.
 *
 * Context: Process; sleeps, can be interrupted.
 * Return: 0 or the error of the attempt.
 */
int rtrs_clt_path_reconnect(struct rtrs_clt_path *path)
{
	int err = -ENODEV;

	mutex_lock(&path->admin);
	path_close(path);
	path->attempts = 0;
	if (!rtrs_clt_path_ending(path) &&
	    path_step(path, RTRS_CLT_CONNECTING, NULL))
		err = path_try_again(path);
	mutex_unlock(&path->admin);
	return err;
}

static struct rtrs_clt_path *path_alloc(struct rtrs_clt_sess *sess,
					const struct rtrs_addr *addr)
{
	struct rtrs_clt_path *path;

	path = kzalloc(sizeof(*path), GFP_KERNEL);
	if (!path)
		return NULL;
	path->stats = alloc_percpu(struct rtrs_clt_pcpu_stats);
	if (!path->stats) {
		kfree(path);
		return NULL;
	}
	path->sess = sess;
	if (addr->src)
		path->src = *addr->src;
	path->dst = *addr->dst;
	rtrs_addr_to_str(addr, path->name, sizeof(path->name));
	generate_random_uuid(path->uuid);
	INIT_LIST_HEAD(&path->entry);
	mutex_init(&path->admin);
	spin_lock_init(&path->lock);
	path->state = RTRS_CLT_CONNECTING;
	path->changed = ktime_get_real_seconds();
	INIT_WORK(&path->recovery_work, path_recovery_work);
	INIT_DELAYED_WORK(&path->connect_work, path_connect_work);
	rtrs_clt_sysfs_init_path(path);
	return path;
}

/**
 * rtrs_clt_path_create() - make a path of a session, not yet in its list
 * @sess: session
 * @addr: source, if any, and destination with its port
 * @first: the session has no other and the server may create it for this one
 *
 * Context: Process; sleeps.
 * Return: the path, or NULL without memory.
 */
struct rtrs_clt_path *rtrs_clt_path_create(struct rtrs_clt_sess *sess,
					   const struct rtrs_addr *addr,
					   bool first)
{
	struct rtrs_clt_path *path;

	path = path_alloc(sess, addr);
	if (!path)
		return NULL;
	path->first = first;
	get_device(&sess->dev);
	atomic_inc(&sess->nr_paths);
	pr_debug("created clt_path %pUb\n", path->uuid);
	return path;
}

/**
 * rtrs_clt_path_claim_locked() - take a path out of its session's list
 * @path: path; the caller holds the session's lock
 *
 * Context: Process.
 * Return: true for the one caller that is to destroy the path.
 */
bool rtrs_clt_path_claim_locked(struct rtrs_clt_path *path)
{
	lockdep_assert_held(&path->sess->lock);
	if (path->dying)
		return false;
	WRITE_ONCE(path->dying, true);
	list_del_rcu(&path->entry);
	return true;
}

/**
 * rtrs_clt_path_destroy() - end a path
 * @path: path in any state, not in the list of its session; gone on return
 *
 * Requests in flight on it move to another path or end.
 *
 * Context: Process; sleeps.
 */
void rtrs_clt_path_destroy(struct rtrs_clt_path *path)
{
	struct rtrs_clt_sess *sess = path->sess;

	wake_up_all(&sess->wait);
	rtrs_clt_sysfs_del_path(path);
	path_close(path);
	synchronize_rcu();
	pr_debug("destroyed clt_path %pUb\n", path->uuid);
	kobject_put(&path->kobj);
	if (atomic_dec_and_test(&sess->nr_paths))
		wake_up_all(&sess->wait);
	put_device(&sess->dev);
}

int rtrs_clt_path_module_init(void)
{
	rtrs_clt_recovery_wq = alloc_workqueue("rtrs_clt_recovery",
					       WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rtrs_clt_recovery_wq)
		return -ENOMEM;
	rtrs_clt_connect_wq = alloc_workqueue("rtrs_clt_connect", WQ_UNBOUND,
					      0);
	if (!rtrs_clt_connect_wq) {
		destroy_workqueue(rtrs_clt_recovery_wq);
		return -ENOMEM;
	}
	return 0;
}

void rtrs_clt_path_module_exit(void)
{
	destroy_workqueue(rtrs_clt_connect_wq);
	destroy_workqueue(rtrs_clt_recovery_wq);
}
