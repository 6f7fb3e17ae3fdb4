/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rtrs-core offers to the client and the server.
 *
 * Teardown, on both sides, always in this order:
 *
 *	1. unpublish: lists, sysfs
 *	2. refuse new work: state, then synchronize_rcu()
 *	3. stop the heartbeat
 *	4. disconnect and drain every QP: no completion runs afterwards
 *	5. finish what is left, each exactly once
 *	6. free QPs, CQs, MRs, receive buffers, DMA mappings
 *	7. put the device: before the last cm_id, since the removal of an
 *	   ib_device waits for cm_ids only
 *	8. destroy the cm_ids; never from within their own event handler
 *	9. put the object
 *
 * Lock order, outermost first: the CM's handler lock of a cm_id, the list of
 * sessions or the server's context, a session, a path's admin lock, link_lock,
 * then the spinlocks: a connection's, a path's, a chunk's.  doc/lifetimes.md
 * says what each protects.  No code sleeps for a CM event while it holds a
 * lock that the CM's handler takes.
 */
#ifndef RTRS_CORE_H
#define RTRS_CORE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "compat/compat.h"
#include "rtrs-msg.h"

/**
 * struct rtrs_dev - an RDMA device in use
 * @ib_dev: the device
 * @pd: protection domain of all that RTRS does on it
 * @max_send_sge: SGEs of a send work request
 * @max_mr_pages: pages of PAGE_SIZE that one fast registration maps
 * @mr_type: IB_MR_TYPE_SG_GAPS where the device has it
 * @ref: paths that use it
 * @entry: in the list of devices
 *
 * Lifetime: created by the first rtrs_dev_get() for @ib_dev, freed by the last
 * rtrs_dev_put(), both in process context.
 */
struct rtrs_dev {
	struct ib_device *ib_dev;
	struct ib_pd *pd;
	u32 max_send_sge;
	u32 max_mr_pages;
	enum ib_mr_type mr_type;
	struct kref ref;
	struct list_head entry;
};

/**
 * struct rtrs_rx - receives of a connection that hold one small answer each
 * @cqes: one for each receive with a buffer; a single one if @size is 0
 * @buf: @nr buffers of @size bytes, mapped for DMA as one; NULL if @size is 0
 * @dma: its address
 * @nr: number of receives that are posted at any time
 * @size: bytes of a receive
 */
struct rtrs_rx {
	struct ib_cqe *cqes;
	void *buf;
	dma_addr_t dma;
	u32 nr;
	u32 size;
};

/**
 * struct rtrs_con - one RC connection; embedded in the side's own
 * @dev: the device; the path holds the reference
 * @cm_id: the CM's id; its owner is the side
 * @qp: queue pair, NULL if there is none; qp->qp_context is this structure
 * @cq: completion queue of both queues
 * @nr_cqe: entries taken from @cq
 * @poll_ctx: where its completions run
 * @cid: number of the connection on its path
 * @rx: its receives
 * @probe_cqe: completion of a probe
 * @probe_busy: a probe is in the send queue
 * @probe_missed: beats of the heartbeat since then without a completion
 */
struct rtrs_con {
	struct rtrs_dev *dev;
	struct rdma_cm_id *cm_id;
	struct ib_qp *qp;
	struct ib_cq *cq;
	u32 nr_cqe;
	enum ib_poll_context poll_ctx;
	u16 cid;
	struct rtrs_rx rx;
	struct ib_cqe probe_cqe;
	bool probe_busy;
	unsigned int probe_missed;
};

/**
 * struct rtrs_qp_attrs - sizes of a queue pair
 * @send_wr: send work requests that are posted at most at one time, without
 *	the slots that core takes for the probe and for the drain
 * @recv_wr: receives likewise
 * @send_sge: SGEs of a send
 * @poll_ctx: IB_POLL_SOFTIRQ, or IB_POLL_DIRECT for a CQ of its own
 */
struct rtrs_qp_attrs {
	u32 send_wr;
	u32 recv_wr;
	u32 send_sge;
	enum ib_poll_context poll_ctx;
};

/**
 * struct rtrs_buf - a message buffer that is mapped for DMA
 * @cqe: completion of the work request that uses it
 * @data: the bytes
 * @dma: their address
 * @size: their number
 * @dir: direction of the mapping
 */
struct rtrs_buf {
	struct ib_cqe cqe;
	void *data;
	dma_addr_t dma;
	u32 size;
	enum dma_data_direction dir;
};

/**
 * struct rtrs_hb - heartbeat of a path
 * @con: connection with cid 0, which carries the messages
 * @nr_cons: connections of the path
 * @get_con: returns the connection with a given cid, for the probes
 * @work: one beat
 * @dead: called when the peer has gone silent or a message of the heartbeat
 *	could not be sent; in any context, perhaps more than once
 * @missed: beats since the last traffic
 * @busy: bit for each of the two messages that is in the send queue
 * @asked: questions that the peer has not answered yet
 * @sent: when the last question left
 * @latency_ns: time from the last question to its answer
 * @cqe: completions of a question and of an answer
 *
 * Takes RTRS_HB_SEND_WR slots of the send queue, whatever the peer sends.
 *
 * Each beat also probes every connection: an empty RDMA_WRITE that the peer's
 * device acknowledges, and its software never sees.  A QP that has fallen
 * silent is found this way, even if the others are well and the ULP on the
 * other side takes its time.  While the send queue moves on, a probe may take
 * as long as what is queued before it.
 */
struct rtrs_hb {
	struct rtrs_con *con;
	u32 nr_cons;
	struct rtrs_con *(*get_con)(struct rtrs_hb *hb, u32 cid);
	struct delayed_work work;
	void (*dead)(struct rtrs_hb *hb, int err);
	unsigned int missed;
	unsigned long busy;
	atomic_t asked;
	ktime_t sent;
	u64 latency_ns;
	struct ib_cqe cqe[2];
};

#define RTRS_HB_SEND_WR 2

/**
 * rtrs_con_progress() - what was sent on a connection has been acknowledged
 * @con: connection
 *
 * Context: Completion of a send work request that succeeded.
 */
static inline void rtrs_con_progress(struct rtrs_con *con)
{
	if (unlikely(READ_ONCE(con->probe_missed)))
		WRITE_ONCE(con->probe_missed, 0);
}

/* Slots of each send queue that core takes: the probe and the drain. */
#define RTRS_CORE_SEND_WR 2

/* rtrs.c: devices */
struct rtrs_dev *rtrs_dev_get(struct ib_device *ib_dev);
void rtrs_dev_put(struct rtrs_dev *dev);

/* rtrs.c: queue pairs */
int __must_check rtrs_con_create_qp(struct rtrs_con *con,
				    const struct rtrs_qp_attrs *attrs);
void rtrs_con_drain_qp(struct rtrs_con *con);
void rtrs_con_destroy_qp(struct rtrs_con *con);

/* rtrs.c: receives */
int __must_check rtrs_rx_alloc(struct rtrs_con *con, u32 nr, u32 size,
			       void (*done)(struct ib_cq *cq,
					    struct ib_wc *wc));
void rtrs_rx_free(struct rtrs_con *con);
int __must_check rtrs_rx_post_all(struct rtrs_con *con);
int __must_check rtrs_rx_repost(struct rtrs_con *con, const struct ib_wc *wc);
const void *rtrs_rx_data(struct rtrs_con *con, const struct ib_wc *wc);

/* rtrs.c: single messages */
struct rtrs_buf *rtrs_buf_alloc(struct rtrs_dev *dev, u32 size,
				enum dma_data_direction dir,
				void (*done)(struct ib_cq *cq,
					     struct ib_wc *wc));
void rtrs_buf_free(struct rtrs_dev *dev, struct rtrs_buf *buf);
int __must_check rtrs_post_recv(struct rtrs_con *con, struct rtrs_buf *buf);
int __must_check rtrs_post_send(struct rtrs_con *con, struct rtrs_buf *buf,
				u32 len, struct ib_send_wr *first,
				struct ib_send_wr *last);

/* rtrs.c: heartbeat */
void rtrs_hb_init(struct rtrs_hb *hb, u32 nr_cons,
		  struct rtrs_con *(*get_con)(struct rtrs_hb *hb, u32 cid),
		  void (*dead)(struct rtrs_hb *hb, int err));
void rtrs_hb_start(struct rtrs_hb *hb);
void rtrs_hb_stop(struct rtrs_hb *hb);
int __must_check rtrs_hb_recv(struct rtrs_hb *hb, enum rtrs_imm_type type);

/**
 * rtrs_hb_alive() - note that the peer has sent something
 * @hb: heartbeat of the path
 *
 * Context: Any.
 */
static inline void rtrs_hb_alive(struct rtrs_hb *hb)
{
	/* Mostly 0 already: do not take the cache line from other CPUs. */
	if (READ_ONCE(hb->missed))
		WRITE_ONCE(hb->missed, 0);
}

/**
 * rtrs_wc_con() - the connection that a completion belongs to
 * @wc: work completion, of whatever status
 *
 * Context: Any.
 * Return: the connection.
 */
static inline struct rtrs_con *rtrs_wc_con(const struct ib_wc *wc)
{
	return wc->qp->qp_context;
}

#endif /* RTRS_CORE_H */
