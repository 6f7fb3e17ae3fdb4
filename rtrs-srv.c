// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS server: contexts, sessions, the public API, the module.
 *
 * A context listens on one port for one ULP.  A session appears when the first
 * connection request names its paths_uuid, and exists as long as it has paths;
 * what a path does is in rtrs-srv-path.c, how its connections come up in
 * rtrs-srv-con.c, how requests are served in rtrs-srv-io.c.
 *
 * The session owns the chunks.  They cost memory, so they are allocated only
 * when a path has shown a valid info_req, outside of the context's lock, and
 * stay until the session is gone: the ULP may work on a chunk long after the
 * path that brought the request.
 *
 * A session gets its name with its first info_req.  Names are unique in the
 * module, since each is a directory in sysfs and what the ULP knows a client
 * by.  A client that closes a session and opens one of the same name at once
 * comes while the old one is still going: it waits for that here, in its
 * path's work, and is refused only if the other session is alive.
 *
 * The ULP hears of a session as a whole: link_ev(CONNECTED) before the first
 * path lets requests through, link_ev(DISCONNECTED) after the last request of
 * the last path.  Paths that come and go in between are not reported.
 *
 * Closing a context: the listeners go first, and with them every handler that
 * could create a path; then all paths are closed, and the last session's end
 * lets rtrs_srv_close() return.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/in6.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib.h>

#include "rtrs-srv.h"

#define CREATE_TRACE_POINTS
#include "rtrs-srv-trace.h"

#define RTRS_SRV_BACKLOG 128

bool rtrs_srv_secure = true;
struct rtrs_conn_rsp rtrs_srv_geo;
struct workqueue_struct *rtrs_srv_wq;
struct workqueue_struct *rtrs_srv_up_wq;

static unsigned long max_chunk_size = RTRS_DEF_CHUNK_SIZE;
static unsigned int sess_queue_depth = RTRS_DEF_QUEUE_DEPTH;

module_param_named(always_invalidate, rtrs_srv_secure, bool, 0444);
MODULE_PARM_DESC(always_invalidate,
		 "invalidate a chunk's key before looking at the request (default: Y)");
module_param(max_chunk_size, ulong, 0444);
MODULE_PARM_DESC(max_chunk_size,
		 "bytes of a request's buffer, a power of two, at least 8192 (default: 131072)");
module_param(sess_queue_depth, uint, 0444);
MODULE_PARM_DESC(sess_queue_depth,
		 "buffers of a session, 1..65535 (default: 512)");

/* Protects rtrs_srv_names, and that a session has a name.  Irqs on. */
static DEFINE_SPINLOCK(rtrs_srv_names_lock);
static LIST_HEAD(rtrs_srv_names);
static DECLARE_WAIT_QUEUE_HEAD(rtrs_srv_up_wait);

/**
 * rtrs_srv_new_id() - number for an object, for the log
 *
 * Context: Any.
 * Return: a number that no other object has.
 */
unsigned int rtrs_srv_new_id(void)
{
	static atomic_t last;

	return atomic_inc_return(&last);
}

u32 rtrs_srv_chunk_size(void)
{
	return rtrs_srv_geo.max_io_size + rtrs_srv_geo.max_hdr_size;
}

/* Chunks */

static void rtrs_srv_free_chunks(struct rtrs_srv_chunk *chunks)
{
	unsigned int order = get_order(rtrs_srv_chunk_size());
	u32 i;

	if (!chunks)
		return;
	for (i = 0; i < rtrs_srv_geo.queue_depth && chunks[i].data; i++)
		free_pages((unsigned long)chunks[i].data, order);
	kvfree(chunks[0].usr);
	kvfree(chunks);
	rtrs_srv_limit_give_mem();
}

/*
 * Zeroed, so that no client reads what was in the memory before; compound, so
 * that the ULP may hand any page of a chunk to the block or network layer.
 */
static int rtrs_srv_alloc_pages(struct rtrs_srv_chunk *chunks, int node)
{
	gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_COMP | __GFP_NOWARN |
		    __GFP_RETRY_MAYFAIL;
	unsigned int order = get_order(rtrs_srv_chunk_size());
	struct page *page;
	u32 i;

	for (i = 0; i < rtrs_srv_geo.queue_depth; i++) {
		page = alloc_pages_node(node, gfp, order);
		if (!page)
			return -ENOMEM;
		chunks[i].data = page_address(page);
		cond_resched();
	}
	return 0;
}

static struct rtrs_srv_chunk *rtrs_srv_alloc_chunks(int node)
{
	struct rtrs_srv_chunk *chunks;
	void *usr;
	u32 i;

	if (!rtrs_srv_limit_take_mem()) {
		pr_warn_ratelimited("max_memory_mb is reached\n");
		return NULL;
	}
	chunks = kvcalloc(rtrs_srv_geo.queue_depth, sizeof(*chunks),
			  GFP_KERNEL);
	if (!chunks) {
		rtrs_srv_limit_give_mem();
		return NULL;
	}
	usr = kvmalloc_node((size_t)rtrs_srv_geo.queue_depth *
			    RTRS_SRV_HDR_SIZE, GFP_KERNEL, node);
	chunks[0].usr = usr;
	if (!usr || rtrs_srv_alloc_pages(chunks, node)) {
		rtrs_srv_free_chunks(chunks);
		return NULL;
	}
	for (i = 0; i < rtrs_srv_geo.queue_depth; i++) {
		chunks[i].usr = usr + (size_t)i * RTRS_SRV_HDR_SIZE;
		spin_lock_init(&chunks[i].lock);
		INIT_LIST_HEAD(&chunks[i].waiters);
	}
	return chunks;
}

/**
 * rtrs_srv_sess_get_chunks() - make sure that the session has its chunks
 * @path: path of the session, with its device
 *
 * Context: Process; sleeps.
 * Return: 0 or -ENOMEM.
 */
int rtrs_srv_sess_get_chunks(struct rtrs_srv_path *path)
{
	struct rtrs_srv_sess *sess = path->sess;
	int err = 0;

	mutex_lock(&sess->lock);
	if (!sess->chunks)
		sess->chunks = rtrs_srv_alloc_chunks(ibdev_to_node(path->dev->ib_dev));
	if (!sess->chunks)
		err = -ENOMEM;
	mutex_unlock(&sess->lock);
	return err;
}

/* Sessions */

static void rtrs_srv_ctx_release(struct kref *ref)
{
	struct rtrs_srv_ctx *ctx = container_of(ref, struct rtrs_srv_ctx, ref);

	complete(&ctx->gone);
}

/**
 * rtrs_srv_sess_find() - find a session of a context
 * @ctx: context; the caller holds its lock
 * @uuid: paths_uuid
 *
 * Context: Process.
 * Return: the session or NULL.
 */
struct rtrs_srv_sess *rtrs_srv_sess_find(struct rtrs_srv_ctx *ctx,
					 const u8 *uuid)
{
	struct rtrs_srv_sess *sess;

	lockdep_assert_held(&ctx->lock);
	list_for_each_entry(sess, &ctx->sessions, entry)
		if (!memcmp(sess->uuid, uuid, RTRS_UUID_SIZE))
			return sess;
	return NULL;
}

/**
 * rtrs_srv_sess_create() - create a session
 * @ctx: context; the caller holds its lock, and adds a path before it drops it
 * @uuid: paths_uuid
 *
 * Context: Process; sleeps.
 * Return: the session, or NULL without memory.
 */
struct rtrs_srv_sess *rtrs_srv_sess_create(struct rtrs_srv_ctx *ctx,
					   const u8 *uuid)
{
	struct rtrs_srv_sess *sess;

	lockdep_assert_held(&ctx->lock);
	sess = kzalloc(sizeof(*sess), GFP_KERNEL);
	if (!sess)
		return NULL;
	sess->ctx = ctx;
	kref_get(&ctx->ref);
	memcpy(sess->uuid, uuid, sizeof(sess->uuid));
	INIT_LIST_HEAD(&sess->paths);
	INIT_LIST_HEAD(&sess->name_entry);
	mutex_init(&sess->lock);
	sess->id = rtrs_srv_new_id();
	list_add_tail(&sess->entry, &ctx->sessions);
	ctx->nr_sessions++;
	pr_debug("created srv_sess %u\n", sess->id);
	return sess;
}

static void rtrs_srv_sess_destroy(struct rtrs_srv_sess *sess)
{
	struct rtrs_srv_ctx *ctx = sess->ctx;

	spin_lock(&rtrs_srv_names_lock);
	list_del(&sess->name_entry);
	spin_unlock(&rtrs_srv_names_lock);
	rtrs_srv_wake_up_works();
	rtrs_srv_free_chunks(sess->chunks);
	mutex_destroy(&sess->lock);
	pr_debug("destroyed srv_sess %u\n", sess->id);
	kfree(sess);
	kref_put(&ctx->ref, rtrs_srv_ctx_release);
}

/**
 * rtrs_srv_sess_path_connected() - a path's connections are not half open now
 * @path: path that has just become CONNECTED
 *
 * Context: Process; sleeps.
 */
void rtrs_srv_sess_path_connected(struct rtrs_srv_path *path)
{
	struct rtrs_srv_ctx *ctx = path->sess->ctx;

	mutex_lock(&ctx->lock);
	rtrs_srv_limit_del_cons(ctx, path);
	mutex_unlock(&ctx->lock);
}

/**
 * rtrs_srv_sess_hide_path() - let nobody find a path any more
 * @path: path that is closed
 *
 * The session keeps existing for it, but the next incarnation of the path is
 * not to wait for the ULP.
 *
 * Context: Process; sleeps.
 */
void rtrs_srv_sess_hide_path(struct rtrs_srv_path *path)
{
	struct rtrs_srv_ctx *ctx = path->sess->ctx;

	mutex_lock(&ctx->lock);
	list_del(&path->entry);
	rtrs_srv_limit_del_cons(ctx, path);
	mutex_unlock(&ctx->lock);
}

/**
 * rtrs_srv_sess_del_path() - take a path away from its session
 * @path: hidden path whose operations have ended
 *
 * Ends the session with its last path.
 *
 * Context: Process; sleeps.
 */
void rtrs_srv_sess_del_path(struct rtrs_srv_path *path)
{
	struct rtrs_srv_sess *sess = path->sess;
	struct rtrs_srv_ctx *ctx = sess->ctx;
	bool last;

	mutex_lock(&ctx->lock);
	rtrs_srv_limit_del_path(ctx, path);
	last = !--sess->nr_paths;
	if (last) {
		list_del(&sess->entry);
		ctx->nr_sessions--;
	}
	mutex_unlock(&ctx->lock);
	if (last)
		rtrs_srv_sess_destroy(sess);
}

/**
 * rtrs_srv_sess_name() - name of a session, for the log
 * @sess: session
 *
 * Context: Any.
 * Return: its name, or a placeholder before it has one.
 */
const char *rtrs_srv_sess_name(struct rtrs_srv_sess *sess)
{
	/* Pairs with smp_store_release() in rtrs_srv_sess_try_name(). */
	return smp_load_acquire(&sess->named) ? sess->name : "(new session)";
}

/**
 * rtrs_srv_wake_up_works() - something that paths on their way up wait for
 *
 * A name is free, a request of a path that is gone is finished, or a path is
 * closing.
 *
 * Context: Any.
 */
void rtrs_srv_wake_up_works(void)
{
	wake_up_all(&rtrs_srv_up_wait);
}

/*
 * 0: it is the name of @sess.  -EAGAIN: of a session that is going, too.
 * -EEXIST: of one that lives.  -EINVAL: @sess has another name.
 */
static int rtrs_srv_sess_try_name(struct rtrs_srv_sess *sess, const char *name)
{
	struct rtrs_srv_sess *other;
	int err = 0;

	spin_lock(&rtrs_srv_names_lock);
	if (sess->named) {
		err = strcmp(sess->name, name) ? -EINVAL : 0;
		goto unlock;
	}
	list_for_each_entry(other, &rtrs_srv_names, name_entry) {
		if (!strcmp(other->name, name)) {
			err = atomic_read(&other->nr_live) ? -EEXIST : -EAGAIN;
			goto unlock;
		}
	}
	strscpy(sess->name, name, sizeof(sess->name));
	list_add_tail(&sess->name_entry, &rtrs_srv_names);
	/* Pairs with smp_load_acquire() in rtrs_srv_sess_name(). */
	smp_store_release(&sess->named, true);
unlock:
	spin_unlock(&rtrs_srv_names_lock);
	return err;
}

/**
 * rtrs_srv_sess_set_name() - give a session its name, or compare it
 * @path: path of the session whose client has sent the name
 * @name: the name
 *
 * Waits for a session of the same name that is going.
 *
 * Context: Process; sleeps.
 * Return: 0; -EINVAL if the session has another name; -EEXIST if another
 *	session has this one; -EAGAIN if it still did after the time that we
 *	wait, or if @path is closing.
 */
int rtrs_srv_sess_set_name(struct rtrs_srv_path *path, const char *name)
{
	int err;

	wait_event_timeout(rtrs_srv_up_wait,
			   (err = rtrs_srv_sess_try_name(path->sess, name)) !=
			   -EAGAIN ||
			   rtrs_srv_path_state(path) != RTRS_SRV_CONNECTING,
			   RTRS_SRV_NAME_WAIT_S * HZ);
	return err;
}

/**
 * rtrs_srv_sess_wait_orphans() - wait for requests of paths that are gone
 * @path: path of the session, on its way up
 *
 * The client may have given such a request up already, and would write over
 * its chunk, or see it overtake a newer one, if it could send requests again
 * while the ULP is still busy with it.
 *
 * Context: Process; sleeps until the ULP has finished them.
 * Return: 0, or -ECONNABORTED if @path is closing.
 */
int rtrs_srv_sess_wait_orphans(struct rtrs_srv_path *path)
{
	wait_event(rtrs_srv_up_wait,
		   !rtrs_srv_sess_has_orphans(path->sess) ||
		   rtrs_srv_path_state(path) != RTRS_SRV_CONNECTING);
	return rtrs_srv_path_state(path) == RTRS_SRV_CONNECTING ?
	       0 : -ECONNABORTED;
}

/**
 * rtrs_srv_sess_link() - tell the ULP of the session's first path
 * @path: path that is about to be connected
 *
 * Context: Process; sleeps; calls the ULP.
 * Return: 0, or the error that the ULP refused the session with.
 */
int rtrs_srv_sess_link(struct rtrs_srv_path *path)
{
	struct rtrs_srv_sess *sess = path->sess;
	int err = 0;

	mutex_lock(&sess->lock);
	if (!sess->nr_linked)
		err = sess->ctx->ops.link_ev(sess, RTRS_SRV_LINK_EV_CONNECTED,
					     READ_ONCE(sess->priv));
	if (!err) {
		sess->nr_linked++;
		path->linked = true;
	}
	mutex_unlock(&sess->lock);
	return err;
}

/**
 * rtrs_srv_sess_unlink() - tell the ULP that the session's last path is gone
 * @path: path whose last operation has ended
 *
 * Context: Process; sleeps; calls the ULP.
 */
void rtrs_srv_sess_unlink(struct rtrs_srv_path *path)
{
	struct rtrs_srv_sess *sess = path->sess;

	if (!path->linked)
		return;
	mutex_lock(&sess->lock);
	if (!--sess->nr_linked) {
		sess->ctx->ops.link_ev(sess, RTRS_SRV_LINK_EV_DISCONNECTED,
				       READ_ONCE(sess->priv));
		WRITE_ONCE(sess->priv, NULL);
	}
	path->linked = false;
	mutex_unlock(&sess->lock);
}

void rtrs_srv_set_sess_priv(struct rtrs_srv_sess *sess, void *priv)
{
	WRITE_ONCE(sess->priv, priv);
}
EXPORT_SYMBOL_GPL(rtrs_srv_set_sess_priv);

int rtrs_srv_get_path_name(struct rtrs_srv_sess *sess, char *pathname,
			   size_t len)
{
	/* Pairs with smp_store_release() in rtrs_srv_sess_try_name(). */
	if (!smp_load_acquire(&sess->named) || !atomic_read(&sess->nr_live))
		return -ENOTCONN;
	return strscpy(pathname, sess->name, len) < 0 ? -EMSGSIZE : 0;
}
EXPORT_SYMBOL_GPL(rtrs_srv_get_path_name);

int rtrs_srv_get_queue_depth(struct rtrs_srv_sess *sess)
{
	return rtrs_srv_geo.queue_depth;
}
EXPORT_SYMBOL_GPL(rtrs_srv_get_queue_depth);

/* Contexts */

static struct rdma_cm_id *rtrs_srv_listen(struct rtrs_srv_ctx *ctx,
					  enum rdma_ucm_port_space ps,
					  struct sockaddr *addr)
{
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(&init_net, rtrs_srv_listen_event, ctx, ps,
			    IB_QPT_RC);
	if (IS_ERR(id))
		return id;
	/* IPv4 as well, whatever net.ipv6.bindv6only says. */
	if (addr->sa_family == AF_INET6) {
		err = rdma_set_afonly(id, 0);
		if (err)
			goto destroy_id;
	}
	err = rdma_bind_addr(id, addr);
	if (err)
		goto destroy_id;
	err = rdma_listen(id, RTRS_SRV_BACKLOG);
	if (err)
		goto destroy_id;
	return id;

destroy_id:
	rdma_destroy_id(id);
	return ERR_PTR(err);
}

static struct rdma_cm_id *rtrs_srv_listen_ip(struct rtrs_srv_ctx *ctx)
{
	struct sockaddr_in6 any = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(ctx->port),
	};

	return rtrs_srv_listen(ctx, RDMA_PS_TCP, (struct sockaddr *)&any);
}

static struct rdma_cm_id *rtrs_srv_listen_ib(struct rtrs_srv_ctx *ctx)
{
	struct sockaddr_ib any = {
		.sib_family = AF_IB,
		.sib_pkey = cpu_to_be16(0xffff),
		.sib_sid = cpu_to_be64(RDMA_IB_IP_PS_IB | ctx->port),
		.sib_sid_mask = cpu_to_be64(~0ULL),
	};

	return rtrs_srv_listen(ctx, RDMA_PS_IB, (struct sockaddr *)&any);
}

static void rtrs_srv_ctx_stop_listening(struct rtrs_srv_ctx *ctx)
{
	if (ctx->ib_id)
		rdma_destroy_id(ctx->ib_id);
	rdma_destroy_id(ctx->ip_id);
}

static int rtrs_srv_ctx_start_listening(struct rtrs_srv_ctx *ctx)
{
	struct rdma_cm_id *id;

	id = rtrs_srv_listen_ip(ctx);
	if (IS_ERR(id)) {
		pr_err("cannot listen on port %u: %pe\n", ctx->port, id);
		return PTR_ERR(id);
	}
	ctx->ip_id = id;
	id = rtrs_srv_listen_ib(ctx);
	if (IS_ERR(id))
		pr_debug("port %u: no gid: addresses: %pe\n", ctx->port, id);
	else
		ctx->ib_id = id;
	return 0;
}

struct rtrs_srv_ctx *rtrs_srv_open(struct rtrs_srv_ops *ops, u16 port)
{
	struct rtrs_srv_ctx *ctx;
	int err;

	if (!ops || !ops->rdma_ev || !ops->link_ev || !port) {
		pr_err("expected both callbacks and a port of 1..65535, got port %u\n",
		       port);
		return ERR_PTR(-EINVAL);
	}
	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ctx->ops = *ops;
	ctx->port = port;
	mutex_init(&ctx->lock);
	INIT_LIST_HEAD(&ctx->sessions);
	INIT_LIST_HEAD(&ctx->clients);
	init_completion(&ctx->gone);
	kref_init(&ctx->ref);
	ctx->id = rtrs_srv_new_id();
	err = rtrs_srv_ctx_start_listening(ctx);
	if (err) {
		kfree(ctx);
		return ERR_PTR(err);
	}
	rtrs_srv_debugfs_add_ctx(ctx);
	pr_debug("created srv_ctx %u\n", ctx->id);
	return ctx;
}
EXPORT_SYMBOL_GPL(rtrs_srv_open);

static void rtrs_srv_ctx_close_paths(struct rtrs_srv_ctx *ctx)
{
	struct rtrs_srv_sess *sess;
	struct rtrs_srv_path *path;

	mutex_lock(&ctx->lock);
	list_for_each_entry(sess, &ctx->sessions, entry)
		list_for_each_entry(path, &sess->paths, entry)
			rtrs_srv_path_close(path);
	mutex_unlock(&ctx->lock);
}

void rtrs_srv_close(struct rtrs_srv_ctx *ctx)
{
	/* Waits for the handlers of connection requests; no path is new now. */
	rtrs_srv_ctx_stop_listening(ctx);
	rtrs_srv_ctx_close_paths(ctx);
	kref_put(&ctx->ref, rtrs_srv_ctx_release);
	wait_for_completion(&ctx->gone);
	rtrs_srv_debugfs_del_ctx(ctx);
	pr_debug("destroyed srv_ctx %u\n", ctx->id);
	mutex_destroy(&ctx->lock);
	kfree(ctx);
}
EXPORT_SYMBOL_GPL(rtrs_srv_close);

/* Module */

static int __init rtrs_srv_check_params(void)
{
	const char *rule;
	int err;

	err = rtrs_check_geometry(sess_queue_depth, max_chunk_size, &rule);
	if (!err && max_chunk_size > KMALLOC_MAX_SIZE) {
		rule = "chunk size must not be beyond what the kernel allocates in one piece";
		err = -EINVAL;
	}
	if (!err && max_chunk_size < PAGE_SIZE) {
		rule = "chunk size must not be below the size of a page";
		err = -EINVAL;
	}
	if (err)
		pr_err("sess_queue_depth=%u max_chunk_size=%lu: %s\n",
		       sess_queue_depth, max_chunk_size, rule);
	return err;
}

static void __init rtrs_srv_set_geometry(void)
{
	rtrs_srv_geo.queue_depth = sess_queue_depth;
	rtrs_srv_geo.max_hdr_size = RTRS_SRV_HDR_SIZE;
	rtrs_srv_geo.max_io_size = max_chunk_size - RTRS_SRV_HDR_SIZE;
	rtrs_srv_geo.new_rkey = rtrs_srv_secure;
}

static int __init rtrs_srv_init(void)
{
	int err;

	err = rtrs_srv_check_params();
	if (err)
		return err;
	rtrs_srv_set_geometry();
	rtrs_srv_wq = alloc_workqueue("rtrs_srv", WQ_UNBOUND | WQ_MEM_RECLAIM,
				      0);
	if (!rtrs_srv_wq)
		return -ENOMEM;
	rtrs_srv_up_wq = alloc_workqueue("rtrs_srv_up",
					 WQ_UNBOUND | WQ_MEM_RECLAIM,
					 WQ_MAX_ACTIVE);
	if (!rtrs_srv_up_wq) {
		err = -ENOMEM;
		goto destroy_wq;
	}
	err = rtrs_srv_io_init();
	if (err)
		goto destroy_up_wq;
	err = rtrs_srv_sysfs_init();
	if (err)
		goto exit_io;
	rtrs_srv_debugfs_init();
	return 0;

exit_io:
	rtrs_srv_io_exit();
destroy_up_wq:
	destroy_workqueue(rtrs_srv_up_wq);
destroy_wq:
	destroy_workqueue(rtrs_srv_wq);
	return err;
}

/* All contexts are closed; what is left are works on their last lines. */
static void __exit rtrs_srv_exit(void)
{
	rtrs_srv_debugfs_exit();
	destroy_workqueue(rtrs_srv_up_wq);
	destroy_workqueue(rtrs_srv_wq);
	rtrs_srv_io_exit();
	rtrs_srv_sysfs_exit();
}

module_init(rtrs_srv_init);
module_exit(rtrs_srv_exit);

MODULE_DESCRIPTION("RTRS: RDMA transport, server");
MODULE_LICENSE("GPL");
MODULE_VERSION(RTRS_VERSION);
