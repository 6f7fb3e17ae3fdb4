// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS core: what client and server share.
 *
 * Devices: one struct rtrs_dev, with a protection domain, for each ib_device
 * in use.  Paths hold references; a device that lacks what the protocol needs
 * is refused here, with a line that names what is missing.
 *
 * Queue pairs: created with exact sizes, plus the slots that draining takes,
 * and refused with a message where the device has fewer.  Completion queues
 * come from the device's pool, but for connections that are polled.
 *
 * Receives: either a number of small ones that are posted again and again
 * (struct rtrs_rx) or a single message (struct rtrs_buf).
 *
 * Heartbeat: an empty write with immediate data at every interval; whatever
 * the peer sends shows that it lives.  At most one question and one answer are
 * in the send queue, so a peer that floods us gets fewer answers and fills
 * nothing.
 *
 * Nothing here knows sessions or paths.  Errors go back to the caller, or to
 * the callback of the heartbeat; the side that owns the connection decides.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "rtrs-core.h"

#define CREATE_TRACE_POINTS
#include "rtrs-trace.h"

static DEFINE_MUTEX(rtrs_devs_lock);	/* Protects rtrs_devs and their refs. */
static LIST_HEAD(rtrs_devs);
static struct workqueue_struct *rtrs_hb_wq;

/* Parameters of all heartbeats; a change counts from the next beat on. */

/* A number between two limits: [0] and [1] are the limits, [2] the value. */
static int rtrs_set_limited(const char *val, const struct kernel_param *kp)
{
	unsigned int *arg = kp->arg, value;

	if (kstrtouint(val, 0, &value) || value < arg[0] || value > arg[1]) {
		pr_err("%s: expected a number from %u to %u\n", kp->name,
		       arg[0], arg[1]);
		return -EINVAL;
	}
	WRITE_ONCE(arg[2], value);
	return 0;
}

static int rtrs_get_limited(char *buf, const struct kernel_param *kp)
{
	const unsigned int *arg = kp->arg;

	return sysfs_emit(buf, "%u\n", READ_ONCE(arg[2]));
}

static const struct kernel_param_ops rtrs_limited_ops = {
	.set = rtrs_set_limited,
	.get = rtrs_get_limited,
};

static unsigned int rtrs_hb_interval[] = { 50, 600000, RTRS_HB_INTERVAL_MS };
static unsigned int rtrs_hb_missed[] = { 1, 1000, RTRS_HB_MISSED_MAX };

module_param_cb(hb_interval_ms, &rtrs_limited_ops, rtrs_hb_interval, 0644);
MODULE_PARM_DESC(hb_interval_ms,
		 "milliseconds between two heartbeats, 50..600000 (default: 5000)");
module_param_cb(hb_missed_max, &rtrs_limited_ops, rtrs_hb_missed, 0644);
MODULE_PARM_DESC(hb_missed_max,
		 "heartbeats without a sign of life before a path is given up, 1..1000 (default: 5)");

/* Devices */

/* What the protocol needs of a device, and does not have without it. */
static int rtrs_dev_check(struct ib_device *ib_dev)
{
	if (!rdma_protocol_ib(ib_dev, rdma_start_port(ib_dev)) &&
	    !rdma_protocol_roce(ib_dev, rdma_start_port(ib_dev))) {
		pr_err("%s: expected InfiniBand or RoCE: this transport has no RDMA_WRITE_WITH_IMM\n",
		       ib_dev->name);
		return -EOPNOTSUPP;
	}
	if (!(ib_dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)) {
		pr_err("%s: expected a device with fast registration (IB_DEVICE_MEM_MGT_EXTENSIONS)\n",
		       ib_dev->name);
		return -EOPNOTSUPP;
	}
	return 0;
}

static struct rtrs_dev *rtrs_dev_create(struct ib_device *ib_dev)
{
	const struct ib_device_attr *attrs = &ib_dev->attrs;
	struct rtrs_dev *dev;
	int err;

	err = rtrs_dev_check(ib_dev);
	if (err)
		return ERR_PTR(err);
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	dev->pd = ib_alloc_pd(ib_dev, 0);
	if (IS_ERR(dev->pd)) {
		err = PTR_ERR(dev->pd);
		pr_err("%s: no protection domain: %pe\n", ib_dev->name,
		       dev->pd);
		kfree(dev);
		return ERR_PTR(err);
	}
	dev->ib_dev = ib_dev;
	dev->max_send_sge = attrs->max_send_sge;
	dev->max_mr_pages = attrs->max_fast_reg_page_list_len;
	dev->mr_type = attrs->kernel_cap_flags & IBK_SG_GAPS_REG ?
		       IB_MR_TYPE_SG_GAPS : IB_MR_TYPE_MEM_REG;
	kref_init(&dev->ref);
	list_add(&dev->entry, &rtrs_devs);
	pr_debug("created dev %s\n", ib_dev->name);
	return dev;
}

/**
 * rtrs_dev_get() - take a reference to the RTRS device of an RDMA device
 * @ib_dev: the RDMA device; the caller has a cm_id on it
 *
 * Context: Process; sleeps.
 * Return: the device, or ERR_PTR: -EOPNOTSUPP if it lacks something, which has
 *	then been logged, or -ENOMEM.
 */
struct rtrs_dev *rtrs_dev_get(struct ib_device *ib_dev)
{
	struct rtrs_dev *dev;

	mutex_lock(&rtrs_devs_lock);
	list_for_each_entry(dev, &rtrs_devs, entry) {
		if (dev->ib_dev == ib_dev) {
			kref_get(&dev->ref);
			goto unlock;
		}
	}
	dev = rtrs_dev_create(ib_dev);
unlock:
	mutex_unlock(&rtrs_devs_lock);
	return dev;
}
EXPORT_SYMBOL_GPL(rtrs_dev_get);

static void rtrs_dev_release(struct kref *ref)
{
	struct rtrs_dev *dev = container_of(ref, struct rtrs_dev, ref);

	list_del(&dev->entry);
	ib_dealloc_pd(dev->pd);
	pr_debug("destroyed dev %s\n", dev->ib_dev->name);
	kfree(dev);
}

/**
 * rtrs_dev_put() - give a reference to a device back
 * @dev: the device
 *
 * Context: Process; sleeps.  Before the caller's last cm_id on it is destroyed.
 */
void rtrs_dev_put(struct rtrs_dev *dev)
{
	mutex_lock(&rtrs_devs_lock);
	kref_put(&dev->ref, rtrs_dev_release);
	mutex_unlock(&rtrs_devs_lock);
}
EXPORT_SYMBOL_GPL(rtrs_dev_put);

/* Queue pairs */

/*
 * The first message on a QP shows that the peer has seen our accept, even if
 * its RTU is late or lost.  Context: any.
 */
static void rtrs_qp_event(struct ib_event *event, void *context)
{
	struct rtrs_con *con = context;

	if (event->event == IB_EVENT_COMM_EST)
		rdma_notify(con->cm_id, event->event);
	else
		pr_debug("%s: cid %u: QP event: %s\n", con->dev->ib_dev->name,
			 con->cid, ib_event_msg(event->event));
}

static int rtrs_con_get_cq(struct rtrs_con *con,
			   const struct rtrs_qp_attrs *attrs, u32 nr_cqe)
{
	struct ib_device *ib_dev = con->dev->ib_dev;

	if (attrs->poll_ctx == IB_POLL_DIRECT)
		con->cq = ib_alloc_cq(ib_dev, con, nr_cqe, 0, IB_POLL_DIRECT);
	else
		con->cq = ib_cq_pool_get(ib_dev, nr_cqe, con->cid,
					 attrs->poll_ctx);
	if (IS_ERR(con->cq)) {
		int err = PTR_ERR(con->cq);

		pr_err("%s: no completion queue of %u entries: %pe\n",
		       ib_dev->name, nr_cqe, con->cq);
		con->cq = NULL;
		return err;
	}
	con->poll_ctx = attrs->poll_ctx;
	con->nr_cqe = nr_cqe;
	return 0;
}

static void rtrs_con_put_cq(struct rtrs_con *con)
{
	if (con->poll_ctx == IB_POLL_DIRECT)
		ib_free_cq(con->cq);
	else
		ib_cq_pool_put(con->cq, con->nr_cqe);
	con->cq = NULL;
}

/**
 * rtrs_con_create_qp() - create the queue pair of a connection
 * @con: connection with a device and a cm_id that is bound to it
 * @attrs: its sizes; the slots for the drain are added here
 *
 * Context: Process; sleeps.
 * Return: 0; -EOPNOTSUPP if the device's queues are too small, which has then
 *	been logged; or the error of the verbs.
 */
int rtrs_con_create_qp(struct rtrs_con *con, const struct rtrs_qp_attrs *attrs)
{
	const struct ib_device_attr *dev_attrs = &con->dev->ib_dev->attrs;
	struct ib_qp_init_attr init = {
		.event_handler = rtrs_qp_event,
		.qp_context = con,
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap.max_send_wr = attrs->send_wr + RTRS_CORE_SEND_WR,
		.cap.max_recv_wr = attrs->recv_wr + 1,
		.cap.max_send_sge = attrs->send_sge,
		.cap.max_recv_sge = 1,
	};
	u32 nr_cqe, most = max(init.cap.max_send_wr, init.cap.max_recv_wr);
	int err;

	if (most > min_t(u32, dev_attrs->max_qp_wr, INT_MAX)) {
		pr_err("%s: a queue of %u work requests is needed, the device has %u at most: lower the server's sess_queue_depth\n",
		       con->dev->ib_dev->name, most, (u32)dev_attrs->max_qp_wr);
		return -EOPNOTSUPP;
	}
	nr_cqe = init.cap.max_send_wr + init.cap.max_recv_wr;
	/* The pool would look for a completion queue with so much room for ever */
	if (nr_cqe > min_t(u32, dev_attrs->max_cqe, INT_MAX)) {
		pr_err("%s: a completion queue of %u entries is needed, the device has %u at most: lower the server's sess_queue_depth\n",
		       con->dev->ib_dev->name, nr_cqe, (u32)dev_attrs->max_cqe);
		return -EOPNOTSUPP;
	}
	err = rtrs_con_get_cq(con, attrs, nr_cqe);
	if (err)
		return err;
	init.send_cq = con->cq;
	init.recv_cq = con->cq;
	err = rdma_create_qp(con->cm_id, con->dev->pd, &init);
	if (err) {
		pr_err("%s: no queue pair with %u sends and %u receives: %pe\n",
		       con->dev->ib_dev->name, attrs->send_wr, attrs->recv_wr,
		       ERR_PTR(err));
		rtrs_con_put_cq(con);
		return err;
	}
	con->qp = con->cm_id->qp;
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_con_create_qp);

/**
 * rtrs_con_drain_qp() - wait until no completion runs or will run any more
 * @con: connection; without a QP nothing happens
 *
 * Nobody may post to the QP at the same time or afterwards.
 *
 * Context: Process; sleeps.
 */
void rtrs_con_drain_qp(struct rtrs_con *con)
{
	if (con->qp)
		ib_drain_qp(con->qp);
}
EXPORT_SYMBOL_GPL(rtrs_con_drain_qp);

/**
 * rtrs_con_destroy_qp() - undo rtrs_con_create_qp()
 * @con: connection whose QP is drained or was never used
 *
 * Context: Process; sleeps.
 */
void rtrs_con_destroy_qp(struct rtrs_con *con)
{
	if (!con->qp)
		return;
	rdma_destroy_qp(con->cm_id);
	con->qp = NULL;
	rtrs_con_put_cq(con);
}
EXPORT_SYMBOL_GPL(rtrs_con_destroy_qp);

/* Receives */

static int rtrs_rx_alloc_buf(struct rtrs_con *con)
{
	struct rtrs_rx *rx = &con->rx;
	size_t bytes = (size_t)rx->nr * rx->size;

	rx->buf = kzalloc(bytes, GFP_KERNEL);
	if (!rx->buf)
		return -ENOMEM;
	rx->dma = ib_dma_map_single(con->dev->ib_dev, rx->buf, bytes,
				    DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(con->dev->ib_dev, rx->dma)) {
		kfree(rx->buf);
		rx->buf = NULL;
		return -ENOMEM;
	}
	return 0;
}

/**
 * rtrs_rx_alloc() - allocate the receives of a connection
 * @con: connection with a device
 * @nr: number of receives
 * @size: bytes of each; 0 if only immediate data is expected
 * @done: completion of a receive
 *
 * Context: Process; sleeps.
 * Return: 0 or -ENOMEM.
 */
int rtrs_rx_alloc(struct rtrs_con *con, u32 nr, u32 size,
		  void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct rtrs_rx *rx = &con->rx;
	u32 i, nr_cqes = size ? nr : 1;
	int err;

	rx->nr = nr;
	rx->size = size;
	rx->cqes = kvcalloc(nr_cqes, sizeof(*rx->cqes), GFP_KERNEL);
	if (!rx->cqes)
		return -ENOMEM;
	for (i = 0; i < nr_cqes; i++)
		rx->cqes[i].done = done;
	if (size) {
		err = rtrs_rx_alloc_buf(con);
		if (err) {
			kvfree(rx->cqes);
			rx->cqes = NULL;
			return err;
		}
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_rx_alloc);

/**
 * rtrs_rx_free() - undo rtrs_rx_alloc()
 * @con: connection without a QP that could still receive
 *
 * Context: Process.
 */
void rtrs_rx_free(struct rtrs_con *con)
{
	struct rtrs_rx *rx = &con->rx;

	if (rx->buf) {
		ib_dma_unmap_single(con->dev->ib_dev, rx->dma,
				    (size_t)rx->nr * rx->size,
				    DMA_FROM_DEVICE);
		kfree(rx->buf);
		rx->buf = NULL;
	}
	kvfree(rx->cqes);
	rx->cqes = NULL;
}
EXPORT_SYMBOL_GPL(rtrs_rx_free);

static int rtrs_rx_post(struct rtrs_con *con, u32 idx)
{
	struct rtrs_rx *rx = &con->rx;
	struct ib_sge sge = {
		.addr = rx->dma + (u64)idx * rx->size,
		.length = rx->size,
		.lkey = con->dev->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &rx->cqes[idx],
		.sg_list = &sge,
		.num_sge = rx->size ? 1 : 0,
	};

	if (rx->size)
		ib_dma_sync_single_for_device(con->dev->ib_dev, sge.addr,
					      sge.length, DMA_FROM_DEVICE);
	return ib_post_recv(con->qp, &wr, NULL);
}

/**
 * rtrs_rx_post_all() - post all receives of a connection for the first time
 * @con: connection
 *
 * Context: Any.
 * Return: 0 or the error of the verbs.
 */
int rtrs_rx_post_all(struct rtrs_con *con)
{
	u32 i;
	int err;

	for (i = 0; i < con->rx.nr; i++) {
		err = rtrs_rx_post(con, con->rx.size ? i : 0);
		if (err)
			return err;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_rx_post_all);

/**
 * rtrs_rx_repost() - post the receive of a completion again
 * @con: connection
 * @wc: completion of one of the receives; its data is used up
 *
 * Context: Any.
 * Return: 0 or the error of the verbs.
 */
int rtrs_rx_repost(struct rtrs_con *con, const struct ib_wc *wc)
{
	return rtrs_rx_post(con, wc->wr_cqe - con->rx.cqes);
}
EXPORT_SYMBOL_GPL(rtrs_rx_repost);

/**
 * rtrs_rx_data() - what a receive brought
 * @con: connection with receives of a size other than 0
 * @wc: completion of one of the receives; wc->byte_len bytes are valid
 *
 * Context: Any.
 * Return: the data, until rtrs_rx_repost().
 */
const void *rtrs_rx_data(struct rtrs_con *con, const struct ib_wc *wc)
{
	struct rtrs_rx *rx = &con->rx;
	size_t off = (wc->wr_cqe - rx->cqes) * rx->size;

	ib_dma_sync_single_for_cpu(con->dev->ib_dev, rx->dma + off, rx->size,
				   DMA_FROM_DEVICE);
	return rx->buf + off;
}
EXPORT_SYMBOL_GPL(rtrs_rx_data);

/* Single messages */

/**
 * rtrs_buf_alloc() - allocate a message buffer and map it
 * @dev: device
 * @size: bytes
 * @dir: DMA_TO_DEVICE to send it, DMA_FROM_DEVICE to receive into it
 * @done: completion of the work request
 *
 * Context: Process; sleeps.
 * Return: the zeroed buffer, or NULL without memory.
 */
struct rtrs_buf *rtrs_buf_alloc(struct rtrs_dev *dev, u32 size,
				enum dma_data_direction dir,
				void (*done)(struct ib_cq *cq,
					     struct ib_wc *wc))
{
	struct rtrs_buf *buf;

	buf = kzalloc(sizeof(*buf), GFP_KERNEL);
	if (!buf)
		return NULL;
	buf->data = kzalloc(size, GFP_KERNEL);
	if (!buf->data)
		goto free_buf;
	buf->dma = ib_dma_map_single(dev->ib_dev, buf->data, size, dir);
	if (ib_dma_mapping_error(dev->ib_dev, buf->dma))
		goto free_data;
	buf->cqe.done = done;
	buf->size = size;
	buf->dir = dir;
	return buf;

free_data:
	kfree(buf->data);
free_buf:
	kfree(buf);
	return NULL;
}
EXPORT_SYMBOL_GPL(rtrs_buf_alloc);

/**
 * rtrs_buf_free() - undo rtrs_buf_alloc()
 * @dev: device
 * @buf: buffer that no work request uses any more, or NULL
 *
 * Context: Process.
 */
void rtrs_buf_free(struct rtrs_dev *dev, struct rtrs_buf *buf)
{
	if (!buf)
		return;
	ib_dma_unmap_single(dev->ib_dev, buf->dma, buf->size, buf->dir);
	kfree(buf->data);
	kfree(buf);
}
EXPORT_SYMBOL_GPL(rtrs_buf_free);

/**
 * rtrs_post_recv() - post a receive for one message
 * @con: connection
 * @buf: DMA_FROM_DEVICE buffer; the completion calls sync for the CPU itself
 *
 * Context: Any.
 * Return: 0 or the error of the verbs.
 */
int rtrs_post_recv(struct rtrs_con *con, struct rtrs_buf *buf)
{
	struct ib_sge sge = {
		.addr = buf->dma,
		.length = buf->size,
		.lkey = con->dev->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &buf->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(con->qp, &wr, NULL);
}
EXPORT_SYMBOL_GPL(rtrs_post_recv);

/**
 * rtrs_post_send() - SEND one message, signalled
 * @con: connection
 * @buf: DMA_TO_DEVICE buffer
 * @len: bytes of it to send
 * @first: first of a chain of work requests to post before it, or NULL
 * @last: last of that chain
 *
 * Context: Any.
 * Return: 0 or the error of the verbs.
 */
int rtrs_post_send(struct rtrs_con *con, struct rtrs_buf *buf, u32 len,
		   struct ib_send_wr *first, struct ib_send_wr *last)
{
	struct ib_sge sge = {
		.addr = buf->dma,
		.length = len,
		.lkey = con->dev->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &buf->cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	ib_dma_sync_single_for_device(con->dev->ib_dev, buf->dma, len,
				      DMA_TO_DEVICE);
	if (!first)
		return ib_post_send(con->qp, &wr, NULL);
	last->next = &wr;
	return ib_post_send(con->qp, first, NULL);
}
EXPORT_SYMBOL_GPL(rtrs_post_send);

/* Heartbeat */

/* Index into rtrs_hb.cqe, and bit of rtrs_hb.busy. */
enum { RTRS_HB_ASK, RTRS_HB_ANSWER };

static void rtrs_hb_sent(struct rtrs_hb *hb, int which, const struct ib_wc *wc)
{
	clear_bit(which, &hb->busy);
	if (wc->status != IB_WC_SUCCESS && wc->status != IB_WC_WR_FLUSH_ERR)
		hb->dead(hb, -EIO);
}

static void rtrs_hb_ask_done(struct ib_cq *cq, struct ib_wc *wc)
{
	rtrs_hb_sent(container_of(wc->wr_cqe, struct rtrs_hb, cqe[RTRS_HB_ASK]),
		     RTRS_HB_ASK, wc);
}

static void rtrs_hb_answer_done(struct ib_cq *cq, struct ib_wc *wc)
{
	rtrs_hb_sent(container_of(wc->wr_cqe, struct rtrs_hb,
				  cqe[RTRS_HB_ANSWER]),
		     RTRS_HB_ANSWER, wc);
}

/* Does nothing while the one before is still in the send queue. */
static int rtrs_hb_send(struct rtrs_hb *hb, int which)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &hb->cqe[which],
		.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.ex.imm_data = cpu_to_be32(rtrs_imm(which == RTRS_HB_ASK ?
						       RTRS_HB_MSG_IMM :
						       RTRS_HB_ACK_IMM, 0)),
	};
	int err;

	if (test_and_set_bit(which, &hb->busy))
		return 0;
	trace_rtrs_hb_send(hb, which);
	if (which == RTRS_HB_ASK) {
		WRITE_ONCE(hb->sent, ktime_get());
		atomic_inc(&hb->asked);
	}
	err = ib_post_send(hb->con->qp, &wr.wr, NULL);
	if (err)
		clear_bit(which, &hb->busy);
	return err;
}

static void rtrs_probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_con *con = container_of(wc->wr_cqe, struct rtrs_con,
					    probe_cqe);

	/* After an error the receives are flushed; their owner reacts. */
	if (wc->status == IB_WC_SUCCESS)
		WRITE_ONCE(con->probe_busy, false);
}

/* Is the peer's device there for this connection? */
static int rtrs_con_probe(struct rtrs_con *con, unsigned int missed_max)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &con->probe_cqe,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
	};
	unsigned int missed = READ_ONCE(con->probe_missed) + 1;

	if (READ_ONCE(con->probe_busy)) {
		WRITE_ONCE(con->probe_missed, missed);
		return missed > missed_max ? -ETIMEDOUT : 0;
	}
	con->probe_cqe.done = rtrs_probe_done;
	con->probe_busy = true;
	WRITE_ONCE(con->probe_missed, 0);
	return ib_post_send(con->qp, &wr.wr, NULL);
}

static int rtrs_hb_probe(struct rtrs_hb *hb, unsigned int missed_max)
{
	struct rtrs_con *con;
	u32 cid;
	int err;

	for (cid = 0; cid < hb->nr_cons; cid++) {
		con = hb->get_con(hb, cid);
		/* Nobody may be polling that one. */
		if (con->poll_ctx == IB_POLL_DIRECT)
			continue;
		err = rtrs_con_probe(con, missed_max);
		if (err)
			return err;
	}
	return 0;
}

static void rtrs_hb_next(struct rtrs_hb *hb)
{
	unsigned int ms = READ_ONCE(rtrs_hb_interval[2]);

	queue_delayed_work(rtrs_hb_wq, &hb->work, msecs_to_jiffies(ms));
}

static void rtrs_hb_beat(struct work_struct *work)
{
	struct rtrs_hb *hb = container_of(to_delayed_work(work), struct rtrs_hb,
					  work);
	unsigned int missed_max = READ_ONCE(rtrs_hb_missed[2]);
	unsigned int missed = READ_ONCE(hb->missed) + 1;
	int err = -ETIMEDOUT;

	WRITE_ONCE(hb->missed, missed);
	if (missed <= missed_max)
		err = rtrs_hb_probe(hb, missed_max);
	if (!err)
		err = rtrs_hb_send(hb, RTRS_HB_ASK);
	if (err) {
		trace_rtrs_hb_dead(hb, err);
		hb->dead(hb, err);
		return;
	}
	rtrs_hb_next(hb);
}

/**
 * rtrs_hb_init() - prepare the heartbeat of a path
 * @hb: heartbeat
 * @nr_cons: connections of the path
 * @get_con: see struct rtrs_hb
 * @dead: see struct rtrs_hb
 *
 * Context: Any.
 */
void rtrs_hb_init(struct rtrs_hb *hb, u32 nr_cons,
		  struct rtrs_con *(*get_con)(struct rtrs_hb *hb, u32 cid),
		  void (*dead)(struct rtrs_hb *hb, int err))
{
	memset(hb, 0, sizeof(*hb));
	INIT_DELAYED_WORK(&hb->work, rtrs_hb_beat);
	hb->nr_cons = nr_cons;
	hb->get_con = get_con;
	hb->con = get_con(hb, 0);
	hb->dead = dead;
	hb->cqe[RTRS_HB_ASK].done = rtrs_hb_ask_done;
	hb->cqe[RTRS_HB_ANSWER].done = rtrs_hb_answer_done;
}
EXPORT_SYMBOL_GPL(rtrs_hb_init);

/**
 * rtrs_hb_start() - start the heartbeat of a connected path
 * @hb: heartbeat
 *
 * Context: Any.
 */
void rtrs_hb_start(struct rtrs_hb *hb)
{
	rtrs_hb_next(hb);
}
EXPORT_SYMBOL_GPL(rtrs_hb_start);

/**
 * rtrs_hb_stop() - stop the heartbeat
 * @hb: heartbeat, started or not
 *
 * Context: Process; sleeps.  Not from within the dead callback.
 */
void rtrs_hb_stop(struct rtrs_hb *hb)
{
	cancel_delayed_work_sync(&hb->work);
}
EXPORT_SYMBOL_GPL(rtrs_hb_stop);

/**
 * rtrs_hb_recv() - handle a message of the peer's heartbeat
 * @hb: heartbeat
 * @type: RTRS_HB_MSG_IMM or RTRS_HB_ACK_IMM
 *
 * Context: Any.
 * Return: 0, -EPROTO for an answer without a question, or the error of the
 *	verbs.
 */
int rtrs_hb_recv(struct rtrs_hb *hb, enum rtrs_imm_type type)
{
	trace_rtrs_hb_recv(hb, type);
	if (type == RTRS_HB_MSG_IMM)
		return rtrs_hb_send(hb, RTRS_HB_ANSWER);
	if (atomic_dec_if_positive(&hb->asked) < 0)
		return -EPROTO;
	WRITE_ONCE(hb->latency_ns,
		   ktime_to_ns(ktime_sub(ktime_get(), READ_ONCE(hb->sent))));
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_hb_recv);

static int __init rtrs_core_init(void)
{
	rtrs_hb_wq = alloc_workqueue("rtrs_hb", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return rtrs_hb_wq ? 0 : -ENOMEM;
}

static void __exit rtrs_core_exit(void)
{
	destroy_workqueue(rtrs_hb_wq);
}

module_init(rtrs_core_init);
module_exit(rtrs_core_exit);

MODULE_DESCRIPTION("RTRS: RDMA transport, shared core");
MODULE_LICENSE("GPL");
MODULE_VERSION(RTRS_VERSION);
