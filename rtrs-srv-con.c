// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS server: connections, and the events that the CM has for them.
 *
 * The handler of a connection request checks the request, finds or creates
 * session and path (rtrs-srv-path.c), creates the queue pair, posts all the
 * receives and accepts.  A request that is refused before it has a path leaves
 * nothing behind: the reject carries the errno, and the CM destroys the cm_id
 * because the handler returns an error.  Once a connection is part of a path,
 * only the path's close work takes it apart, however little of it is there;
 * a failure later on closes the path, and the handler returns 0.
 *
 * Early messages: the client may send as soon as it has our accept, and the
 * CM's word that the connection is established may come later, or never if
 * the network loses it.  What arrives in between is kept in the connection and
 * processed, in order, when the connection is established; the CM gets to know
 * that the peer is talking.  An honest client sends info_req alone so early,
 * which has a buffer of its own; everything else is kept in a small array, and
 * a client that overruns it breaks the protocol.  Since info_req comes only
 * when the client has all our accepts, it speaks for all connections: those
 * for I/O have nothing to say before the path is up.
 *
 * Context: CM handlers run in process context, one at a time for a cm_id, and
 * hold its handler lock; that of the listener, too, for a connection request.
 * They never wait for the path's close work, which waits for them.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "rtrs-srv.h"
#include "rtrs-srv-trace.h"

static void rtrs_srv_fill_rsp(struct rtrs_msg_conn_rsp *msg, int err)
{
	struct rtrs_conn_rsp rsp = rtrs_srv_geo;

	rsp.err = err;
	rtrs_put_conn_rsp(msg, &rsp);
}

/* A reject that does not get out is a timeout for the client. */
static void rtrs_srv_reject(struct rdma_cm_id *cm_id, int err)
{
	struct rtrs_msg_conn_rsp msg;

	rtrs_srv_fill_rsp(&msg, err);
	rdma_reject(cm_id, &msg, sizeof(msg), IB_CM_REJ_CONSUMER_DEFINED);
}

/* Early messages */

static void rtrs_srv_con_established(struct rtrs_srv_con *con)
{
	u32 i;

	spin_lock_bh(&con->early_lock);
	if (con->established) {
		spin_unlock_bh(&con->early_lock);
		return;
	}
	for (i = 0; i < con->nr_early; i++)
		rtrs_srv_recv_imm(con, con->early[i]);
	con->established = true;
	spin_unlock_bh(&con->early_lock);
	rtrs_srv_path_con_up(con->path);
}

/**
 * rtrs_srv_con_peer_talks() - the peer takes the connection for established
 * @con: connection, accepted or about to be
 *
 * Makes up for an RTU that the network has lost.
 *
 * Context: Any.
 */
void rtrs_srv_con_peer_talks(struct rtrs_srv_con *con)
{
	if (!READ_ONCE(con->established))
		rdma_notify(con->c.cm_id, IB_EVENT_COMM_EST);
}

/**
 * rtrs_srv_con_keep_early() - keep a message that came too early
 * @con: connection
 * @imm: its immediate data
 *
 * Context: Softirq.
 * Return: true if it was kept; false if it is to be processed now.
 */
bool rtrs_srv_con_keep_early(struct rtrs_srv_con *con, u32 imm)
{
	bool early;

	if (likely(READ_ONCE(con->established)))
		return false;
	spin_lock_bh(&con->early_lock);
	early = !con->established;
	if (early && con->nr_early < RTRS_SRV_EARLY_MAX)
		con->early[con->nr_early++] = imm;
	else if (early)
		rtrs_srv_path_fail(con->path,
				   "protocol: too many early messages");
	spin_unlock_bh(&con->early_lock);
	if (early)
		rtrs_srv_con_peer_talks(con);
	return early;
}

/* The only receive with a buffer.  Context: softirq. */
static void rtrs_srv_info_req_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_con *con = container_of(rtrs_wc_con(wc),
						struct rtrs_srv_con, c);
	struct rtrs_srv_path *path = con->path;

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_srv_wc_failed(path, wc, "receive of info_req");
		return;
	}
	if (wc->opcode != IB_WC_RECV) {
		rtrs_srv_path_fail(path, "protocol: the first message is not info_req");
		return;
	}
	rtrs_srv_path_got_info(path, wc->byte_len);
}

/* Creation */

static int rtrs_srv_con_alloc_info(struct rtrs_srv_con *con)
{
	struct rtrs_srv_path *path = con->path;

	path->info_req = rtrs_buf_alloc(path->dev,
					sizeof(struct rtrs_msg_info_req),
					DMA_FROM_DEVICE,
					rtrs_srv_info_req_done);
	return path->info_req ? 0 : -ENOMEM;
}

/* One receive more for each chunk than there are, for the heartbeat. */
static u32 rtrs_srv_nr_recv(void)
{
	return rtrs_srv_geo.queue_depth + 1;
}

static int rtrs_srv_con_create_qp(struct rtrs_srv_con *con)
{
	const struct ib_device_attr *dev = &con->c.dev->ib_dev->attrs;
	u32 extra = con->c.cid ? 0 : RTRS_HB_SEND_WR + RTRS_SRV_INFO_WR;
	struct rtrs_qp_attrs attrs = {
		.recv_wr = rtrs_srv_nr_recv() + !con->c.cid,
		.send_sge = 1,
		.poll_ctx = IB_POLL_SOFTIRQ,
	};
	u32 room = min_t(u32, dev->max_qp_wr, INT_MAX) - RTRS_CORE_SEND_WR;

	if (room < RTRS_SRV_OP_WR + extra)
		return -EOPNOTSUPP;
	con->sq_size = min3(rtrs_srv_geo.queue_depth * RTRS_SRV_OP_WR,
			    clamp_t(u32, READ_ONCE(rtrs_srv_max_slots),
				    RTRS_SRV_OP_WR, RTRS_SRV_SQ_MAX),
			    room - extra);
	attrs.send_wr = con->sq_size + extra;
	con->sq_counts = kvcalloc(con->sq_size, sizeof(*con->sq_counts),
				  GFP_KERNEL);
	if (!con->sq_counts)
		return -ENOMEM;
	rtrs_srv_con_init_sq(con);
	return rtrs_con_create_qp(&con->c, &attrs);
}

static int rtrs_srv_con_post_recvs(struct rtrs_srv_con *con)
{
	int err;

	err = rtrs_rx_alloc(&con->c, rtrs_srv_nr_recv(), 0,
			    rtrs_srv_recv_done);
	if (err)
		return err;
	if (!con->c.cid) {
		err = rtrs_srv_con_alloc_info(con);
		if (!err)
			err = rtrs_post_recv(&con->c, con->path->info_req);
		if (err)
			return err;
	}
	return rtrs_rx_post_all(&con->c);
}

/*
 * No peer reads our memory and we read none, so there are no resources for
 * RDMA_READ.  A client whose receives run out waits for as long as it takes.
 */
static int rtrs_srv_con_accept(struct rtrs_srv_con *con)
{
	struct rtrs_msg_conn_rsp msg;
	struct rdma_conn_param param = {
		.private_data = &msg,
		.private_data_len = sizeof(msg),
		.retry_count = RTRS_RETRY_COUNT,
		.rnr_retry_count = RTRS_RETRY_COUNT,
	};

	rtrs_srv_fill_rsp(&msg, 0);
	return rdma_accept(con->c.cm_id, &param);
}

static void rtrs_srv_con_bring_up(struct rtrs_srv_con *con)
{
	int err;

	err = rtrs_srv_con_create_qp(con);
	if (!err)
		err = rtrs_srv_con_post_recvs(con);
	if (err) {
		rtrs_srv_reject(con->c.cm_id, err);
	} else {
		/* Rejects by itself when it fails. */
		err = rtrs_srv_con_accept(con);
	}
	if (err)
		rtrs_srv_path_fail(con->path, "cannot accept connection %u: %pe",
				   con->c.cid, ERR_PTR(err));
}

/* CM events of a connection */

static void rtrs_srv_con_lost(struct rtrs_srv_con *con,
			      const struct rdma_cm_event *event)
{
	struct rtrs_srv_path *path = con->path;

	/* A client that goes is nothing to worry about. */
	if (event->event == RDMA_CM_EVENT_DISCONNECTED) {
		rtrs_srv_path_close(path);
		return;
	}
	rtrs_srv_path_fail(path, "connection %u: %s, status %d", con->c.cid,
			   rdma_event_msg(event->event), event->status);
}

static int rtrs_srv_con_event(struct rdma_cm_id *cm_id,
			      struct rdma_cm_event *event)
{
	struct rtrs_srv_con *con = cm_id->context;

	trace_rtrs_srv_cm_event(con, event->event, event->status);
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		if (unlikely(rtrs_srv_established_delay_ms))
			msleep(READ_ONCE(rtrs_srv_established_delay_ms));
		rtrs_srv_con_established(con);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		rtrs_srv_con_lost(con, event);
		break;
	default:
		rtrs_srv_dbg(con->path, "connection %u: ignored: %s",
			     con->c.cid, rdma_event_msg(event->event));
		break;
	}
	return 0;
}

static struct rtrs_srv_con *rtrs_srv_con_alloc(struct rdma_cm_id *cm_id,
					       const struct rtrs_conn_req *req)
{
	struct rtrs_srv_con *con;

	con = kzalloc(sizeof(*con), GFP_KERNEL);
	if (!con)
		return NULL;
	con->c.cm_id = cm_id;
	con->c.cid = req->cid;
	spin_lock_init(&con->sq_lock);
	spin_lock_init(&con->early_lock);
	INIT_LIST_HEAD(&con->backlog);
	con->id = rtrs_srv_new_id();
	pr_debug("created srv_con %u\n", con->id);
	return con;
}

static void rtrs_srv_con_free(struct rtrs_srv_con *con)
{
	pr_debug("destroyed srv_con %u\n", con->id);
	kvfree(con->sq_counts);
	kfree(con);
}

/**
 * rtrs_srv_con_destroy() - free a connection and its cm_id
 * @con: connection without a QP
 *
 * Context: Process; sleeps; waits for the handler of the cm_id.
 */
void rtrs_srv_con_destroy(struct rtrs_srv_con *con)
{
	rdma_destroy_id(con->c.cm_id);
	rtrs_srv_con_free(con);
}

static int rtrs_srv_con_request(struct rtrs_srv_ctx *ctx,
				struct rdma_cm_id *cm_id,
				const struct rdma_conn_param *param,
				const char **rule)
{
	struct rtrs_conn_req req;
	struct rtrs_srv_con *con;
	int err;

	err = rtrs_get_conn_req(param->private_data, param->private_data_len,
				&req, rule);
	if (err)
		return err;
	*rule = "no memory";
	con = rtrs_srv_con_alloc(cm_id, &req);
	if (!con)
		return -ENOMEM;
	err = rtrs_srv_path_join(ctx, con, &req, rule);
	if (err) {
		rtrs_srv_con_free(con);
		return err;
	}
	cm_id->context = con;
	cm_id->event_handler = rtrs_srv_con_event;
	rtrs_srv_con_bring_up(con);
	rtrs_srv_path_joined(con->path);
	return 0;
}

/**
 * rtrs_srv_listen_event() - CM events of a listener
 * @cm_id: of the listener, or of the new connection
 * @event: what happened
 *
 * Context: CM handler; sleeps.
 * Return: 0, or an error to have the cm_id of a refused connection destroyed.
 */
int rtrs_srv_listen_event(struct rdma_cm_id *cm_id,
			  struct rdma_cm_event *event)
{
	const char *rule;
	char from[64];
	int err;

	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		pr_debug("listener: ignored: %s, status %d\n",
			 rdma_event_msg(event->event), event->status);
		return 0;
	}
	err = rtrs_srv_con_request(cm_id->context, cm_id, &event->param.conn,
				   &rule);
	if (err) {
		sockaddr_to_str((struct sockaddr *)&cm_id->route.addr.dst_addr,
				from, sizeof(from));
		pr_info_ratelimited("%s: connection request refused: %s: %pe\n",
				    from, rule, ERR_PTR(err));
		rtrs_srv_reject(cm_id, err);
	}
	return err;
}
