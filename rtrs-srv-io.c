// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS server: requests and answers.
 *
 * A request is a receive with immediate data that names a chunk; the operation
 * of that chunk is claimed, and a chunk that is used again before its answer
 * has left breaks the protocol.  In secure mode the chunk's key is invalidated
 * next, so that the client cannot change any more what is looked at: that step
 * stays in softirq.  Then the operation moves to a workqueue, once, where the
 * request is checked, its user message copied to where no client can reach it,
 * and the ULP called, which may sleep.
 *
 * The ULP finishes the operation in whatever context it likes.  The answer is
 * one chain of work requests: the chunk's next key (secure mode), the data of a
 * read, the invalidation that a client asked for, the answer itself; where
 * nothing is in between, data and answer are one work request.
 *
 * The receive is posted again first of all, so an honest client always finds
 * one.  Receives are empty, nothing of them is needed later.
 *
 * Send queue: each connection counts its slots.  A work request that is
 * signalled gives back, when it completes, the slots of all that were posted
 * since the one before; there is one at least in every quarter of the queue,
 * so slots cannot leak and a full queue always has a completion to come.  An
 * operation that finds too few slots joins the connection's backlog, and goes
 * out in order from the next completions.  Nobody waits, nothing is allocated.
 *
 * An operation is free again right before its answer is posted: from then on
 * the client may use the chunk again, on any connection of the path, and what
 * was posted is a copy.  The message with the next key stays untouched until
 * the chunk's next answer.  A client that asks again must have received it
 * whole, so a retransmission of it is a duplicate that nobody looks at.
 *
 * A request for a chunk that the ULP still works on for another path (the
 * client lost that path and tries again) waits until that one is finished, so
 * that the ULP never sees two requests in one chunk.
 *
 * Any failure of a work request closes the path, and whoever holds an
 * operation then drops it: completions here, the purge of the backlog, the
 * work, or the ULP's answer, which is swallowed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "rtrs-srv.h"
#include "rtrs-srv-trace.h"

static struct workqueue_struct *rtrs_srv_io_wq;

/**
 * struct rtrs_srv_chain - work requests that are posted as one
 * @data: data of a read, or data and answer
 * @reg: the chunk's next key
 * @inv: invalidation of the client's key
 * @rsp: the answer
 * @sge: of @data and @rsp
 * @first: first work request
 * @last: last one
 * @nr: their number
 *
 * Lifetime: on the stack of the one who posts it.
 */
struct rtrs_srv_chain {
	struct ib_rdma_wr data;
	struct ib_reg_wr reg;
	struct ib_send_wr inv;
	struct ib_rdma_wr rsp;
	struct ib_sge sge[2];
	struct ib_send_wr *first;
	struct ib_send_wr *last;
	u32 nr;
};

static void rtrs_srv_op_post_locked(struct rtrs_srv_op *op);

static bool rtrs_srv_path_connected(struct rtrs_srv_path *path)
{
	return rtrs_srv_path_state(path) == RTRS_SRV_CONNECTED;
}

/* The operation is over.  It is the next request's, and the path may go. */
static void rtrs_srv_op_put(struct rtrs_srv_op *op)
{
	struct rtrs_srv_path *path = op->path;

	clear_bit_unlock(0, &op->busy);
	percpu_ref_put(&path->ops_ref);
}

/* Bytes from the start of the chunk that client or ULP may have written to. */
static u32 rtrs_srv_op_span(const struct rtrs_srv_op *op)
{
	u32 hdr = sizeof(struct rtrs_msg_rdma_read) +
		  sizeof(struct rtrs_sg_desc);

	return min(op->off, rtrs_srv_chunk_size() - hdr) + hdr;
}

/**
 * rtrs_srv_wc_failed() - a work request has failed: close its path
 * @path: path
 * @wc: completion with an error
 * @what: the work request, for the log
 *
 * Context: Any.
 */
void rtrs_srv_wc_failed(struct rtrs_srv_path *path, const struct ib_wc *wc,
			const char *what)
{
	rtrs_srv_path_fail(path, "%s: %s", what, ib_wc_status_msg(wc->status));
}

static void rtrs_srv_broken(struct rtrs_srv_path *path, const char *rule)
{
	rtrs_srv_path_fail(path, "protocol: %s", rule);
}

/* Send queue */

/**
 * rtrs_srv_con_purge() - drop the operations that wait for slots
 * @con: connection that is drained, on a path that is closing
 *
 * Context: Process.
 */
void rtrs_srv_con_purge(struct rtrs_srv_con *con)
{
	struct rtrs_srv_op *op, *next;
	LIST_HEAD(list);

	spin_lock_irq(&con->sq_lock);
	list_splice_init(&con->backlog, &list);
	spin_unlock_irq(&con->sq_lock);
	list_for_each_entry_safe(op, next, &list, entry) {
		list_del_init(&op->entry);
		rtrs_srv_op_put(op);
	}
}

static bool rtrs_srv_sq_has_room(struct rtrs_srv_con *con)
{
	return con->sq_size - con->sq_used >= RTRS_SRV_ANSWER_WR;
}

/* The next entry of the ring that sq_counts is. */
static u32 rtrs_srv_sq_next(const struct rtrs_srv_con *con, u32 entry)
{
	return entry + 1 < con->sq_size ? entry + 1 : 0;
}

/* Posts work requests that there is room for; decides whether to signal. */
static int rtrs_srv_sq_post_locked(struct rtrs_srv_con *con,
				   struct ib_send_wr *first,
				   struct ib_send_wr *last, u32 nr)
{
	lockdep_assert_held(&con->sq_lock);
	con->sq_used += nr;
	con->sq_quiet += nr;
	if (con->sq_quiet >= con->sq_signal)
		last->send_flags |= IB_SEND_SIGNALED;
	if (last->send_flags & IB_SEND_SIGNALED) {
		con->sq_counts[con->sq_head] = con->sq_quiet;
		con->sq_head = rtrs_srv_sq_next(con, con->sq_head);
		con->sq_quiet = 0;
		if (!last->wr_cqe)
			last->wr_cqe = &con->signal_cqe;
	}
	if (!last->wr_cqe)
		last->wr_cqe = &con->quiet_cqe;
	return ib_post_send(con->c.qp, first, NULL);
}

/*
 * A signalled work request is done: its slots are free, and so are those of
 * all before it.  Completions of a connection come in order and one at a time.
 */
static void rtrs_srv_sq_retire(struct rtrs_srv_con *con)
{
	struct rtrs_srv_op *op;
	unsigned long flags;

	rtrs_con_progress(&con->c);
	spin_lock_irqsave(&con->sq_lock, flags);
	con->sq_used -= con->sq_counts[con->sq_tail];
	con->sq_tail = rtrs_srv_sq_next(con, con->sq_tail);
	while (!list_empty(&con->backlog) && rtrs_srv_sq_has_room(con) &&
	       rtrs_srv_path_connected(con->path)) {
		op = list_first_entry(&con->backlog, struct rtrs_srv_op, entry);
		list_del_init(&op->entry);
		rtrs_srv_op_post_locked(op);
	}
	spin_unlock_irqrestore(&con->sq_lock, flags);
}

/*
 * Posts the next step of an operation, or queues it if there is no room.  The
 * caller has seen the path connected, in the RCU read section that it is in,
 * or runs in a completion.
 */
static bool rtrs_srv_op_submit(struct rtrs_srv_op *op)
{
	struct rtrs_srv_con *con = op->con;
	unsigned long flags;
	bool room;

	spin_lock_irqsave(&con->sq_lock, flags);
	room = list_empty(&con->backlog) && rtrs_srv_sq_has_room(con);
	if (room) {
		rtrs_srv_op_post_locked(op);
	} else {
		trace_rtrs_srv_op_wait_for_slots(op);
		list_add_tail(&op->entry, &con->backlog);
	}
	spin_unlock_irqrestore(&con->sq_lock, flags);
	return room;
}

static void rtrs_srv_signal_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_con *con = container_of(wc->wr_cqe, struct rtrs_srv_con,
						signal_cqe);

	if (wc->status != IB_WC_SUCCESS)
		rtrs_srv_wc_failed(con->path, wc, "answer");
	else
		rtrs_srv_sq_retire(con);
}

static void rtrs_srv_quiet_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_con *con = container_of(wc->wr_cqe, struct rtrs_srv_con,
						quiet_cqe);

	if (wc->status != IB_WC_SUCCESS)
		rtrs_srv_wc_failed(con->path, wc, "answer");
}

/**
 * rtrs_srv_con_init_sq() - prepare the accounting of a send queue
 * @con: connection with its @sq_size and @sq_counts
 *
 * Context: Any.
 */
void rtrs_srv_con_init_sq(struct rtrs_srv_con *con)
{
	con->sq_signal = min_t(u32, con->sq_size / 4, RTRS_SRV_QUIET_MAX);
	con->signal_cqe.done = rtrs_srv_signal_done;
	con->quiet_cqe.done = rtrs_srv_quiet_done;
}

/* Answers */

static void rtrs_srv_chain_add(struct rtrs_srv_chain *chain,
			       struct rtrs_srv_con *con, struct ib_send_wr *wr)
{
	if (chain->last) {
		/* Not the last one, so it is not signalled. */
		chain->last->wr_cqe = &con->quiet_cqe;
		chain->last->next = wr;
	} else {
		chain->first = wr;
	}
	chain->last = wr;
	chain->nr++;
}

static void rtrs_srv_chain_data(struct rtrs_srv_chain *chain,
				struct rtrs_srv_op *op)
{
	struct rtrs_srv_path *path = op->path;

	chain->sge[0].addr = path->chunk_dma[op->id];
	chain->sge[0].length = op->req.data_len;
	chain->sge[0].lkey = path->dev->pd->local_dma_lkey;
	chain->data.wr.sg_list = &chain->sge[0];
	chain->data.wr.num_sge = 1;
	chain->data.wr.opcode = IB_WR_RDMA_WRITE;
	chain->data.remote_addr = op->req.addr;
	chain->data.rkey = op->req.key;
	rtrs_srv_chain_add(chain, op->con, &chain->data.wr);
}

static void rtrs_srv_chain_reg(struct rtrs_srv_chain *chain,
			       struct rtrs_srv_op *op)
{
	struct ib_mr *mr = op->path->mrs[op->id];

	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	chain->reg.wr.opcode = IB_WR_REG_MR;
	chain->reg.mr = mr;
	chain->reg.key = mr->rkey;
	chain->reg.access = RTRS_SRV_MR_ACCESS;
	rtrs_srv_chain_add(chain, op->con, &chain->reg.wr);
}

static void rtrs_srv_chain_inv(struct rtrs_srv_chain *chain,
			       struct rtrs_srv_op *op)
{
	chain->inv.opcode = IB_WR_SEND_WITH_INV;
	chain->inv.ex.invalidate_rkey = op->req.key;
	rtrs_srv_chain_add(chain, op->con, &chain->inv);
}

/* The answer of secure mode, with the key that chain->reg makes valid. */
static void rtrs_srv_chain_rkey_rsp(struct rtrs_srv_chain *chain,
				    struct rtrs_srv_op *op, u32 imm)
{
	struct rtrs_srv_path *path = op->path;
	struct ib_sge *sge = &chain->sge[1];

	rtrs_put_rkey_rsp(&path->rkeys[op->id], op->id, chain->reg.key);
	sge->addr = path->rkeys_dma + op->id * sizeof(*path->rkeys);
	sge->length = sizeof(*path->rkeys);
	sge->lkey = path->dev->pd->local_dma_lkey;
	ib_dma_sync_single_for_device(path->dev->ib_dev, sge->addr,
				      sge->length, DMA_TO_DEVICE);
	chain->rsp.wr.sg_list = sge;
	chain->rsp.wr.num_sge = 1;
	chain->rsp.wr.opcode = IB_WR_SEND_WITH_IMM;
	chain->rsp.wr.ex.imm_data = cpu_to_be32(imm);
	rtrs_srv_chain_add(chain, op->con, &chain->rsp.wr);
}

static void rtrs_srv_chain_rsp(struct rtrs_srv_chain *chain,
			       struct rtrs_srv_op *op, u32 imm)
{
	chain->rsp.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	chain->rsp.wr.ex.imm_data = cpu_to_be32(imm);
	rtrs_srv_chain_add(chain, op->con, &chain->rsp.wr);
}

static void rtrs_srv_build_answer(struct rtrs_srv_chain *chain,
				  struct rtrs_srv_op *op)
{
	const struct rtrs_io_req *req = &op->req;
	bool inv = req->has_desc && req->need_inval;
	bool data = req->has_desc && req->data_len && !op->status;
	u32 imm = rtrs_imm_rsp(inv, op->id, op->status);

	/*
	 * The registration comes first: behind the data, rxe would do it again,
	 * and fail, when it has to send the data again.  Nobody knows the key
	 * before the answer brings it.
	 */
	if (rtrs_srv_secure)
		rtrs_srv_chain_reg(chain, op);
	if (data)
		rtrs_srv_chain_data(chain, op);
	if (inv)
		rtrs_srv_chain_inv(chain, op);
	if (rtrs_srv_secure) {
		rtrs_srv_chain_rkey_rsp(chain, op, imm);
	} else if (data && !inv) {
		chain->data.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
		chain->data.wr.ex.imm_data = cpu_to_be32(imm);
	} else {
		rtrs_srv_chain_rsp(chain, op, imm);
	}
}

/* The operation is free before the client can know that it is. */
static int rtrs_srv_post_answer_locked(struct rtrs_srv_op *op)
{
	struct rtrs_srv_con *con = op->con;
	struct rtrs_srv_chain chain = {};

	trace_rtrs_srv_op_answer(op);
	rtrs_srv_build_answer(&chain, op);
	rtrs_srv_op_put(op);
	return rtrs_srv_sq_post_locked(con, chain.first, chain.last, chain.nr);
}

static int rtrs_srv_post_inv_locked(struct rtrs_srv_op *op)
{
	struct ib_send_wr wr = {
		.wr_cqe = &op->inv_cqe,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = op->path->mrs[op->id]->rkey,
	};
	int err;

	err = rtrs_srv_sq_post_locked(op->con, &wr, &wr, RTRS_SRV_INV_WR);
	if (err)
		rtrs_srv_op_put(op);
	return err;
}

static void rtrs_srv_op_post_locked(struct rtrs_srv_op *op)
{
	struct rtrs_srv_path *path = op->path;
	int err;

	if (op->answered)
		err = rtrs_srv_post_answer_locked(op);
	else
		err = rtrs_srv_post_inv_locked(op);
	if (err)
		rtrs_srv_path_fail(path, "cannot post: %pe", ERR_PTR(err));
}

/* Chunks, across paths */

static struct rtrs_srv_chunk *rtrs_srv_op_chunk(struct rtrs_srv_op *op)
{
	return &op->path->sess->chunks[op->id];
}

/* True if the chunk is @op's; otherwise its work is queued when it will be. */
static bool rtrs_srv_chunk_claim(struct rtrs_srv_op *op)
{
	struct rtrs_srv_chunk *chunk = rtrs_srv_op_chunk(op);
	bool mine;

	spin_lock_irq(&chunk->lock);
	if (!chunk->owner)
		chunk->owner = op;
	mine = chunk->owner == op;
	if (!mine)
		list_add_tail(&op->entry, &chunk->waiters);
	spin_unlock_irq(&chunk->lock);
	return mine;
}

static void rtrs_srv_chunk_release(struct rtrs_srv_op *op)
{
	struct rtrs_srv_chunk *chunk = rtrs_srv_op_chunk(op);
	struct rtrs_srv_op *next;
	unsigned long flags;

	spin_lock_irqsave(&chunk->lock, flags);
	next = list_first_entry_or_null(&chunk->waiters, struct rtrs_srv_op,
					entry);
	if (next) {
		list_del_init(&next->entry);
		queue_work(rtrs_srv_io_wq, &next->work);
	}
	chunk->owner = next;
	spin_unlock_irqrestore(&chunk->lock, flags);
	if (!rtrs_srv_path_connected(op->path))
		rtrs_srv_wake_up_works();
}

/**
 * rtrs_srv_sess_has_orphans() - does the ULP work for paths that are gone
 * @sess: session with chunks
 *
 * Context: Process.
 * Return: true if it has a request of a path that is not connected any more.
 */
bool rtrs_srv_sess_has_orphans(struct rtrs_srv_sess *sess)
{
	struct rtrs_srv_chunk *chunk;
	bool orphan = false;
	u32 i;

	for (i = 0; i < rtrs_srv_geo.queue_depth && !orphan; i++) {
		chunk = &sess->chunks[i];
		spin_lock_irq(&chunk->lock);
		orphan = chunk->owner &&
			 !rtrs_srv_path_connected(chunk->owner->path);
		spin_unlock_irq(&chunk->lock);
	}
	return orphan;
}

/* The ULP */

bool rtrs_srv_resp_rdma(struct rtrs_srv_op *id, int status)
{
	struct rtrs_srv_path *path = id->path;
	bool done = true;

	id->status = status;
	id->answered = true;
	trace_rtrs_srv_op_finish(id);
	rtrs_srv_chunk_release(id);
	/* The close work waits for this before it takes the path apart. */
	rcu_read_lock();
	if (rtrs_srv_path_connected(path)) {
		ib_dma_sync_single_for_device(path->dev->ib_dev,
					      path->chunk_dma[id->id],
					      rtrs_srv_op_span(id),
					      DMA_BIDIRECTIONAL);
		done = rtrs_srv_op_submit(id);
	} else {
		rtrs_srv_op_put(id);
	}
	rcu_read_unlock();
	return done;
}
EXPORT_SYMBOL_GPL(rtrs_srv_resp_rdma);

/*
 * Takes the request out of the chunk; false if there is nothing to be done.
 * The user message is copied: a client can write to the chunk while the ULP
 * looks at it, with the key that does not change, or in secure mode with that
 * of another path of the session.
 */
static bool rtrs_srv_op_parse(struct rtrs_srv_op *op)
{
	struct rtrs_srv_chunk *chunk = rtrs_srv_op_chunk(op);
	struct rtrs_srv_path *path = op->path;
	const char *rule = NULL;
	bool connected;

	rcu_read_lock();
	connected = rtrs_srv_path_connected(path);
	if (connected) {
		ib_dma_sync_single_for_cpu(path->dev->ib_dev,
					   path->chunk_dma[op->id],
					   rtrs_srv_op_span(op),
					   DMA_BIDIRECTIONAL);
		if (rtrs_get_io_req(chunk->data, op->off, &rtrs_srv_geo,
				    &op->req, &rule))
			rtrs_srv_broken(path, rule);
		else
			memcpy(chunk->usr, chunk->data + op->req.data_len,
			       op->req.usr_len);
	}
	rcu_read_unlock();
	return connected && !rule;
}

static void rtrs_srv_op_work(struct work_struct *work)
{
	struct rtrs_srv_op *op = container_of(work, struct rtrs_srv_op, work);
	struct rtrs_srv_path *path = op->path;
	struct rtrs_srv_chunk *chunk = rtrs_srv_op_chunk(op);
	struct rtrs_srv_sess *sess = path->sess;
	const struct rtrs_io_req *req = &op->req;
	int err;

	if (!rtrs_srv_chunk_claim(op))
		return;
	if (!rtrs_srv_op_parse(op)) {
		rtrs_srv_chunk_release(op);
		rtrs_srv_op_put(op);
		return;
	}
	op->dir = req->write ? WRITE : READ;
	rtrs_srv_stats_count(op);
	trace_rtrs_srv_op_deliver(op);
	/* The session must not end before the callback has returned. */
	percpu_ref_get(&path->ops_ref);
	err = sess->ctx->ops.rdma_ev(READ_ONCE(sess->priv), op, chunk->data,
				     req->data_len, chunk->usr, req->usr_len);
	if (err)
		rtrs_srv_resp_rdma(op, err);
	percpu_ref_put(&path->ops_ref);
}

/* Requests */

static void rtrs_srv_inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_op *op = container_of(wc->wr_cqe, struct rtrs_srv_op,
					      inv_cqe);
	struct rtrs_srv_con *con = op->con;

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_srv_wc_failed(op->path, wc, "invalidation of a chunk's key");
		rtrs_srv_op_put(op);
		return;
	}
	trace_rtrs_srv_op_invalidated(op);
	queue_work(rtrs_srv_io_wq, &op->work);
	rtrs_srv_sq_retire(con);
}

static void rtrs_srv_request(struct rtrs_srv_con *con, u32 payload)
{
	u32 off_bits = rtrs_imm_off_bits(rtrs_srv_geo.queue_depth);
	struct rtrs_srv_path *path = con->path;
	u32 id = payload >> off_bits;
	struct rtrs_srv_op *op;

	if (id >= rtrs_srv_geo.queue_depth) {
		rtrs_srv_broken(path, "request for a chunk that does not exist");
		return;
	}
	op = &path->ops[id];
	if (!percpu_ref_tryget_live(&path->ops_ref))
		return;
	if (test_and_set_bit(0, &op->busy)) {
		percpu_ref_put(&path->ops_ref);
		rtrs_srv_broken(path, "request for a chunk whose answer has not left");
		return;
	}
	op->con = con;
	op->cid = con->c.cid;
	op->off = payload & ((1u << off_bits) - 1);
	op->answered = false;
	op->since = jiffies;
	trace_rtrs_srv_op_receive(op);
	if (rtrs_srv_secure)
		rtrs_srv_op_submit(op);
	else
		queue_work(rtrs_srv_io_wq, &op->work);
}

/**
 * rtrs_srv_recv_imm() - process a message that is immediate data
 * @con: connection, established
 * @imm: immediate data
 *
 * Context: Softirq, or process with softirqs off.
 */
void rtrs_srv_recv_imm(struct rtrs_srv_con *con, u32 imm)
{
	struct rtrs_srv_path *path = con->path;
	u32 type = rtrs_imm_type(imm);
	int err;

	switch (rtrs_srv_path_state(path)) {
	case RTRS_SRV_CONNECTING:
		rtrs_srv_broken(path, "message before info_rsp");
		return;
	case RTRS_SRV_CLOSING:
	case RTRS_SRV_CLOSED:
		return;
	case RTRS_SRV_CONNECTED:
		break;
	}
	rtrs_hb_alive(&path->hb);
	if (type == RTRS_IO_REQ_IMM) {
		rtrs_srv_request(con, rtrs_imm_payload(imm));
		return;
	}
	if (con->c.cid ||
	    (type != RTRS_HB_MSG_IMM && type != RTRS_HB_ACK_IMM)) {
		rtrs_srv_broken(path, "immediate data of unknown type");
		return;
	}
	err = rtrs_hb_recv(&path->hb, type);
	if (err)
		rtrs_srv_path_fail(path, "heartbeat: %pe", ERR_PTR(err));
}

/**
 * rtrs_srv_recv_done() - completion of an empty receive
 * @cq: completion queue
 * @wc: work completion
 *
 * Context: Softirq.
 */
void rtrs_srv_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_con *con = container_of(rtrs_wc_con(wc),
						struct rtrs_srv_con, c);
	u32 imm;
	int err;

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_srv_wc_failed(con->path, wc, "receive");
		return;
	}
	if (wc->opcode != IB_WC_RECV_RDMA_WITH_IMM) {
		rtrs_srv_broken(con->path, "message without immediate data");
		return;
	}
	imm = be32_to_cpu(wc->ex.imm_data);
	err = rtrs_rx_repost(&con->c, wc);
	if (err) {
		rtrs_srv_path_fail(con->path, "cannot post a receive: %pe",
				   ERR_PTR(err));
		return;
	}
	if (!rtrs_srv_con_keep_early(con, imm))
		rtrs_srv_recv_imm(con, imm);
}

/**
 * rtrs_srv_op_init() - prepare an operation
 * @op: operation, zeroed
 * @path: its path
 * @id: number of its chunk
 *
 * Context: Any.
 */
void rtrs_srv_op_init(struct rtrs_srv_op *op, struct rtrs_srv_path *path,
		      u32 id)
{
	op->path = path;
	op->id = id;
	op->inv_cqe.done = rtrs_srv_inv_done;
	INIT_WORK(&op->work, rtrs_srv_op_work);
	INIT_LIST_HEAD(&op->entry);
}

/**
 * rtrs_srv_io_init() - create the workqueue that calls the ULPs
 *
 * Context: Process.
 * Return: 0 or -ENOMEM.
 */
int rtrs_srv_io_init(void)
{
	rtrs_srv_io_wq = alloc_workqueue("rtrs_srv_io",
					 WQ_PERCPU | WQ_HIGHPRI |
					 WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	return rtrs_srv_io_wq ? 0 : -ENOMEM;
}

void rtrs_srv_io_exit(void)
{
	destroy_workqueue(rtrs_srv_io_wq);
}
