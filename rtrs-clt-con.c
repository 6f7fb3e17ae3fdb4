// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS client: building a link, and taking it down.
 *
 * rtrs_clt_link_create() runs in the one thread that owns the path in state
 * CONNECTING.  It goes through the handshake step by step:
 *
 *	resolve address and route of the service connection, connect it:
 *		the answer tells the sizes of all that follows
 *	allocate the requests
 *	resolve and connect the other connections, all at once
 *	exchange info_req and info_rsp: the table of chunks
 *
 * Each step starts something for one or more connections and waits until the
 * CM's handler, or a completion, has counted all of them down; the first error
 * of whatever connection ends the wait, and so do the deadline and CLOSING.
 *
 * After the handshake the same handler, the completions and the heartbeat
 * report errors to rtrs_clt_link_error().  The first error of a link is kept
 * and logged; all that follow from it are silent.
 *
 * The handler runs under the CM's lock of its id.  It never waits and never
 * destroys anything.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "rtrs-clt.h"
#include "rtrs-clt-trace.h"

/**
 * rtrs_clt_link_error() - something failed on a link
 * @link: link, in its handshake or connected
 * @err: negative errno
 * @what: what failed, for the log
 *
 * Context: Any.
 */
void rtrs_clt_link_error(struct rtrs_clt_link *link, int err, const char *what)
{
	struct rtrs_clt_path *path = link->path;

	if (cmpxchg(&link->err, 0, err))
		return;
	trace_rtrs_clt_link_error(path, err, what);
	if (err != -EAGAIN)	/* The path asks again, soon. */
		rtrs_clt_warn(path, "%s: %pe\n", what, ERR_PTR(err));
	wake_up_all(&path->sess->wait);
	rtrs_clt_path_recover(path);
}

static struct rtrs_con *link_hb_con(struct rtrs_hb *hb, u32 cid)
{
	return &container_of(hb, struct rtrs_clt_link, hb)->cons[cid].c;
}

static void link_hb_dead(struct rtrs_hb *hb, int err)
{
	struct rtrs_clt_link *link = container_of(hb, struct rtrs_clt_link, hb);

	rtrs_clt_link_error(link, err, "no sign of life");
}

/* Steps of the handshake */

static void step_done(struct rtrs_clt_link *link)
{
	if (atomic_dec_and_test(&link->steps))
		wake_up_all(&link->path->sess->wait);
}

/* A user who opens a session or adds a path may interrupt it. */
static int step_wait(struct rtrs_clt_link *link)
{
	struct rtrs_clt_path *path = link->path;
	long left = max_t(long, link->deadline - jiffies, 1);
	int err;

	left = wait_event_interruptible_timeout(path->sess->wait,
						!atomic_read_acquire(&link->steps) ||
						READ_ONCE(link->err) ||
						rtrs_clt_path_ending(path),
						left);
	err = READ_ONCE(link->err);
	if (err)
		return err;
	if (left < 0)
		return -EINTR;
	if (rtrs_clt_path_ending(path))
		return -ECONNABORTED;
	return left ? 0 : -ETIMEDOUT;
}

/* CM events */

static bool same_geometry(const struct rtrs_conn_rsp *a,
			  const struct rtrs_conn_rsp *b)
{
	return a->queue_depth == b->queue_depth &&
	       a->max_io_size == b->max_io_size &&
	       a->max_hdr_size == b->max_hdr_size &&
	       a->new_rkey == b->new_rkey;
}

static int con_established(struct rtrs_clt_con *con,
			   const struct rdma_conn_param *param)
{
	struct rtrs_clt_link *link = con->link;
	struct rtrs_conn_rsp rsp;
	const char *rule;
	int err;

	err = rtrs_get_conn_rsp(param->private_data, param->private_data_len,
				true, &rsp, &rule);
	if (!err && con->c.cid && !same_geometry(&rsp, &link->geo)) {
		rule = "connections of one path with different answers";
		err = -EPROTO;
	}
	if (err) {
		rtrs_clt_err(link->path, "bad answer to connection %u: %s\n",
			     con->c.cid, rule);
		return err;
	}
	if (!con->c.cid)
		link->geo = rsp;
	step_done(link);
	return 0;
}

/*
 * Not every errno of a peer is one to act on, or to show to a user.  One that
 * is busy is asked again: -EAGAIN.
 */
static int con_reject_errno(int err)
{
	if (err == -EBUSY)
		return -EAGAIN;
	if (err == -EAGAIN || err == -EREMCHG || err < -RTRS_IMM_ERRNO_MAX)
		return -ECONNRESET;
	return err;
}

static int con_rejected(struct rtrs_clt_con *con,
			const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;
	struct rtrs_conn_rsp rsp;
	const char *rule;

	if (event->status == IB_CM_REJ_INVALID_SERVICE_ID)
		return -ECONNREFUSED;
	if (event->status == IB_CM_REJ_CONSUMER_DEFINED &&
	    !rtrs_get_conn_rsp(param->private_data, param->private_data_len,
			       false, &rsp, &rule))
		return con_reject_errno(rsp.err);
	/* The peer's CM takes us for another, who died, and ends that now. */
	if (event->status == IB_CM_REJ_STALE_CONN)
		return -EAGAIN;
	rtrs_clt_err(con->link->path, "connection %u rejected: %s\n",
		     con->c.cid, rdma_reject_msg(con->c.cm_id, event->status));
	return -ECONNRESET;
}

/* Closing is all that the protocol lets a server say of an info_req. */
static int con_disconnected(struct rtrs_clt_con *con)
{
	if (!READ_ONCE(con->link->info_req))
		return -ECONNRESET;
	rtrs_clt_err(con->link->path,
		     "refused by the server: expected a session name that no other client has, and a server with room for the session\n");
	return -EBUSY;
}

static int con_cm_event(struct rtrs_clt_con *con,
			const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return rdma_resolve_route(con->c.cm_id, RTRS_CLT_RESOLVE_MS);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		step_done(con->link);
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
		return con_established(con, &event->param.conn);
	case RDMA_CM_EVENT_REJECTED:
		return con_rejected(con, event);
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		return event->status < 0 ? event->status : -EHOSTUNREACH;
	case RDMA_CM_EVENT_DISCONNECTED:
		return con_disconnected(con);
	case RDMA_CM_EVENT_ADDR_CHANGE:
		return -ECONNRESET;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return -ENODEV;
	default:
		pr_debug("cid %u: %s ignored\n", con->c.cid,
			 rdma_event_msg(event->event));
		return 0;
	}
}

static int con_cm_handler(struct rdma_cm_id *cm_id,
			  struct rdma_cm_event *event)
{
	struct rtrs_clt_con *con = cm_id->context;
	int err;

	trace_rtrs_clt_cm_event(con->link->path, con->c.cid, event->event,
				event->status);
	err = con_cm_event(con, event);
	if (err)
		rtrs_clt_link_error(con->link, err,
				    rdma_event_msg(event->event));
	return 0;	/* The id is ours to destroy. */
}

/* Connections */

static int con_resolve(struct rtrs_clt_con *con)
{
	struct rtrs_clt_path *path = con->link->path;
	bool ib = path->dst.ss_family == AF_IB;
	struct rdma_cm_id *cm_id;

	cm_id = rdma_create_id(&init_net, con_cm_handler, con,
			       ib ? RDMA_PS_IB : RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	con->c.cm_id = cm_id;
	return rdma_resolve_addr(cm_id,
				 path->src.ss_family == AF_UNSPEC ? NULL :
				 (struct sockaddr *)&path->src,
				 (struct sockaddr *)&path->dst,
				 RTRS_CLT_RESOLVE_MS);
}

static enum ib_poll_context con_poll_ctx(const struct rtrs_clt_con *con)
{
	return con->c.cid <= con->link->nr_io ? IB_POLL_SOFTIRQ :
						IB_POLL_DIRECT;
}

/*
 * The service connection is created before the server has told its queue
 * depth; requests that would not fit use the connection of their CPU.
 */
static int con_create_qp(struct rtrs_clt_con *con)
{
	struct rtrs_clt_link *link = con->link;
	u32 depth = link->geo.queue_depth;
	struct rtrs_qp_attrs attrs = {
		.send_sge = link->dev->max_send_sge,
		.poll_ctx = con_poll_ctx(con),
	};

	if (con->c.cid) {
		attrs.send_wr = depth * link->req_wr;
		attrs.recv_wr = depth + 1;
	} else {
		attrs.send_wr = RTRS_CLT_SERVICE_WR + RTRS_HB_SEND_WR + 1;
		attrs.recv_wr = RTRS_CLT_SERVICE_REQS + RTRS_HB_SEND_WR + 1;
	}
	return rtrs_con_create_qp(&con->c, &attrs);
}

/* Answers come with a key, or as immediate data alone. */
static int con_alloc_rx(struct rtrs_clt_con *con)
{
	struct rtrs_clt_link *link = con->link;
	u32 nr = con->c.cid ? link->geo.queue_depth + 1 :
			      link->service_reqs + RTRS_HB_SEND_WR;

	return rtrs_rx_alloc(&con->c, nr, link->geo.new_rkey ?
			     sizeof(struct rtrs_msg_rkey_rsp) : 0,
			     rtrs_clt_recv_done);
}

static int con_prepare(struct rtrs_clt_con *con)
{
	struct rtrs_clt_link *link = con->link;
	int err;

	if (!con->c.cid) {
		struct rtrs_dev *dev = rtrs_dev_get(con->c.cm_id->device);

		if (IS_ERR(dev))
			return PTR_ERR(dev);
		link->dev = dev;
	} else if (con->c.cm_id->device != link->dev->ib_dev) {
		rtrs_clt_err(link->path,
			     "connections of one path on two devices, %s and %s\n",
			     link->dev->ib_dev->name,
			     con->c.cm_id->device->name);
		return -EXDEV;
	}
	con->c.dev = link->dev;
	err = con_create_qp(con);
	if (err || !con->c.cid)
		return err;
	err = con_alloc_rx(con);
	if (err)
		return err;
	return rtrs_rx_post_all(&con->c);
}

static int con_connect(struct rtrs_clt_con *con)
{
	struct rtrs_clt_link *link = con->link;
	struct rtrs_clt_path *path = link->path;
	struct rtrs_conn_req req = {
		.cid = con->c.cid,
		.cid_num = link->nr_cons,
		.recon_cnt = path->recon_cnt,
		.first_conn = path->first || path->established,
	};
	struct rtrs_msg_conn_req msg;
	struct rdma_conn_param param = {
		.private_data = &msg,
		.private_data_len = sizeof(msg),
		/* No RDMA READ or atomic is ever sent; 0 is no valid depth. */
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = RTRS_RETRY_COUNT,
		.rnr_retry_count = RTRS_RETRY_COUNT,
	};

	memcpy(req.sess_uuid, path->uuid, sizeof(req.sess_uuid));
	memcpy(req.paths_uuid, path->sess->uuid, sizeof(req.paths_uuid));
	rtrs_put_conn_req(&msg, &req);
	return rdma_connect(con->c.cm_id, &param);
}

/* Run one step for connections @from..@to-1 and wait for all of them. */
static int step_run(struct rtrs_clt_link *link, u32 from, u32 to,
		    int (*start)(struct rtrs_clt_con *con))
{
	u32 i;
	int err;

	atomic_set(&link->steps, to - from);
	for (i = from; i < to; i++) {
		err = start(&link->cons[i]);
		if (err)
			return err;
	}
	return step_wait(link);
}

static int link_connect_cons(struct rtrs_clt_link *link, u32 from, u32 to)
{
	u32 i;
	int err;

	err = step_run(link, from, to, con_resolve);
	if (err)
		return err;
	for (i = from; i < to; i++) {
		err = con_prepare(&link->cons[i]);
		if (err)
			return err;
	}
	return step_run(link, from, to, con_connect);
}

/* Chunk table */

static void info_req_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_link *link = to_clt_con(rtrs_wc_con(wc))->link;

	if (wc->status != IB_WC_SUCCESS)
		rtrs_clt_link_error(link, -ECONNRESET, "info_req not sent");
	else
		step_done(link);
}

static void info_rsp_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_link *link = to_clt_con(rtrs_wc_con(wc))->link;

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_clt_link_error(link, -ECONNRESET, "no info_rsp");
		return;
	}
	ib_dma_sync_single_for_cpu(link->dev->ib_dev, link->info_rsp->dma,
				   wc->byte_len, DMA_FROM_DEVICE);
	link->info_len = wc->byte_len;
	step_done(link);
}

static void info_free(struct rtrs_clt_link *link)
{
	rtrs_buf_free(link->dev, link->info_req);
	rtrs_buf_free(link->dev, link->info_rsp);
	link->info_req = NULL;
	link->info_rsp = NULL;
}

static int info_read(struct rtrs_clt_link *link)
{
	const struct rtrs_msg_info_rsp *rsp = link->info_rsp->data;
	u32 chunk_size = link->geo.max_io_size + link->geo.max_hdr_size;
	u32 depth = link->geo.queue_depth;
	const struct rtrs_sg_desc *desc;
	u32 i, share;
	const char *rule;
	int err;

	err = rtrs_check_info_rsp(rsp, link->info_len, &link->geo, &rule);
	if (err) {
		rtrs_clt_err(link->path, "bad info_rsp: %s\n", rule);
		return err;
	}
	share = depth / le16_to_cpu(rsp->sg_cnt);
	for (i = 0; i < depth; i++) {
		desc = &rsp->desc[i / share];
		link->chunks[i].addr = le64_to_cpu(desc->addr) +
				       (u64)(i % share) * chunk_size;
		link->chunks[i].rkey = le32_to_cpu(desc->key);
	}
	return 0;
}

static int link_exchange_info(struct rtrs_clt_link *link)
{
	struct rtrs_con *con = &link->cons[0].c;
	u32 size = sizeof(struct rtrs_msg_info_rsp) +
		   link->geo.queue_depth * sizeof(struct rtrs_sg_desc);
	int err;

	link->info_req = rtrs_buf_alloc(link->dev,
					sizeof(struct rtrs_msg_info_req),
					DMA_TO_DEVICE, info_req_done);
	link->info_rsp = rtrs_buf_alloc(link->dev, size, DMA_FROM_DEVICE,
					info_rsp_done);
	if (!link->info_req || !link->info_rsp)
		return -ENOMEM;
	rtrs_put_info_req(link->info_req->data, link->path->sess->name);

	/* The answer comes first, so its receive is the first. */
	err = rtrs_post_recv(con, link->info_rsp);
	if (err)
		return err;
	err = con_alloc_rx(&link->cons[0]);
	if (err)
		return err;
	err = rtrs_rx_post_all(con);
	if (err)
		return err;
	atomic_set(&link->steps, 2);
	err = rtrs_post_send(con, link->info_req, link->info_req->size, NULL,
			     NULL);
	if (err)
		return err;
	err = step_wait(link);
	if (err)
		return err;
	err = info_read(link);
	info_free(link);
	return err;
}

/* Links */

static struct rtrs_clt_link *link_alloc(struct rtrs_clt_path *path)
{
	u32 nr_io = num_possible_cpus();
	u32 nr_cons = 1 + nr_io + path->sess->nr_poll_queues;
	struct rtrs_clt_link *link;
	u32 i;

	link = kvzalloc(struct_size(link, cons, nr_cons), GFP_KERNEL);
	if (!link)
		return NULL;
	link->path = path;
	link->nr_io = nr_io;
	link->nr_cons = nr_cons;
	link->deadline = jiffies + msecs_to_jiffies(RTRS_CLT_CONNECT_MS);
	rtrs_hb_init(&link->hb, nr_cons, link_hb_con, link_hb_dead);
	for (i = 0; i < nr_cons; i++) {
		link->cons[i].link = link;
		link->cons[i].c.cid = i;
	}
	pr_debug("created clt_link %pUb-%u\n", path->uuid, path->recon_cnt);
	return link;
}

/* What the path came out as, for sysfs and the log.  The name stays. */
static void link_describe_path(struct rtrs_clt_link *link)
{
	struct rdma_cm_id *cm_id = link->cons[0].c.cm_id;
	struct rdma_addr *addr = &cm_id->route.addr;
	struct rtrs_clt_path *path = link->path;
	struct rtrs_addr pair = {
		.src = &addr->src_addr,
		.dst = &addr->dst_addr,
	};

	strscpy(path->hca_name, link->dev->ib_dev->name,
		sizeof(path->hca_name));
	path->hca_port = cm_id->port_num;
	if (!path->established)
		rtrs_addr_to_str(&pair, path->name, sizeof(path->name));
}

static int link_connect(struct rtrs_clt_link *link)
{
	int err;

	err = link_connect_cons(link, 0, 1);
	if (err)
		return err;
	link_describe_path(link);
	err = rtrs_clt_reqs_alloc(link);
	if (err)
		return err;
	err = link_connect_cons(link, 1, link->nr_cons);
	if (err)
		return err;
	return link_exchange_info(link);
}

/**
 * rtrs_clt_link_create() - connect a path
 * @path: path in state CONNECTING, owned by the caller
 *
 * Context: Process; sleeps, at most RTRS_CLT_CONNECT_MS for the peer.
 * Return: a link that is ready to be published, or ERR_PTR with the error of
 *	the step that failed.
 */
struct rtrs_clt_link *rtrs_clt_link_create(struct rtrs_clt_path *path)
{
	struct rtrs_clt_link *link;
	int err;

	link = link_alloc(path);
	if (!link)
		return ERR_PTR(-ENOMEM);
	err = link_connect(link);
	if (err) {
		rtrs_clt_link_destroy(link);
		return ERR_PTR(err);
	}
	return link;
}

static void link_stop(struct rtrs_clt_link *link)
{
	u32 i;

	/* What follows from here on is our own doing. */
	cmpxchg(&link->err, 0, -ECONNABORTED);
	rtrs_hb_stop(&link->hb);
	for (i = 0; i < link->nr_cons; i++)
		if (link->cons[i].c.qp)
			rdma_disconnect(link->cons[i].c.cm_id);
	for (i = 0; i < link->nr_cons; i++)
		rtrs_con_drain_qp(&link->cons[i].c);
}

static void link_free(struct rtrs_clt_link *link)
{
	u32 i;

	for (i = 0; i < link->nr_cons; i++) {
		rtrs_con_destroy_qp(&link->cons[i].c);
		rtrs_rx_free(&link->cons[i].c);
	}
	if (link->dev) {
		info_free(link);
		rtrs_clt_reqs_free(link);
		rtrs_dev_put(link->dev);
	}
	for (i = 0; i < link->nr_cons; i++)
		if (link->cons[i].c.cm_id)
			rdma_destroy_id(link->cons[i].c.cm_id);
	pr_debug("destroyed clt_link %pUb-%u\n", link->path->uuid,
		 link->path->recon_cnt);
	kvfree(link);
}

/**
 * rtrs_clt_link_destroy() - take a link down
 * @link: link that nobody can submit to any more; gone on return
 *
 * Requests in flight are moved to another path or finished.
 *
 * Context: Process; sleeps.
 */
void rtrs_clt_link_destroy(struct rtrs_clt_link *link)
{
	link_stop(link);
	rtrs_clt_reqs_sweep(link);
	link_free(link);
}
