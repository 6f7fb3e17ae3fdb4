// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS client: requests and answers.
 *
 * A write goes out as one RDMA_WRITE_WITH_IMM of the ULP's segments, the user
 * message and the header, straight from the ULP's memory: nothing is
 * registered.  If the device has too few SGEs for that, the front part goes as
 * plain RDMA_WRITEs before it.  A read registers its buffer for exactly one
 * request and sends user message and header behind the REG_MR; the key dies by
 * a LOCAL_INV of ours before the ULP hears of the answer.
 *
 * A request ends when two things have happened, in whatever order: the answer
 * came, and the last of its work requests completed.  For a write that is the
 * message itself: until it is acknowledged the device may read the ULP's
 * memory again for a retransmission, whatever the server has answered.  For a
 * read it is the LOCAL_INV, posted when the answer comes.  So a permit never
 * returns before the send queue's slots of its request do, and the queue
 * cannot overflow.
 *
 * When a post fails before anything was taken, the request is undone and tried
 * on the next path.  When a part was taken, the request stays where it is:
 * only the end of the link finishes it, by the sweep, which runs when no
 * completion can run any more.  It moves requests without an answer to another
 * path, and ends the others.  Before it gives memory back that the peer had a
 * key for, it destroys the key.
 *
 * Nothing here allocates, but for the intermediate buffer of a read whose
 * segments leave gaps that the device cannot map.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>

#include "rtrs-clt.h"
#include "rtrs-clt-trace.h"

/**
 * struct rtrs_clt_io - what a ULP, or a broken path, wants to have sent
 * @ops: confirmation
 * @permit: permit
 * @dir: READ or WRITE
 * @vec: pieces of the user message
 * @nr: number of pieces
 * @usr_len: their sum, bytes
 * @data_len: bytes of data
 * @sg: scatterlist
 * @sg_cnt: its elements
 */
struct rtrs_clt_io {
	struct rtrs_clt_req_ops ops;
	struct rtrs_permit *permit;
	int dir;
	const struct kvec *vec;
	size_t nr;
	u32 usr_len;
	u32 data_len;
	struct scatterlist *sg;
	u32 sg_cnt;
};

/* The end of a request */

static struct ib_device *req_ib_dev(const struct rtrs_clt_req *req)
{
	return req->con->link->dev->ib_dev;
}

static enum dma_data_direction req_dma_dir(const struct rtrs_clt_req *req)
{
	return req->dir == READ ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

static void req_unmap(struct rtrs_clt_req *req)
{
	if (!req->map_cnt)
		return;
	ib_dma_unmap_sg(req_ib_dev(req), req->map, req->map_cnt,
			req_dma_dir(req));
	req->map_cnt = 0;
}

/* The request is nobody's any more; what @ops is called with is the ULP's. */
static void req_release(struct rtrs_clt_req *req)
{
	req_unmap(req);
	kfree(req->bounce);
	req->bounce = NULL;
	req->key_valid = false;
	atomic_dec(&req->con->link->path->inflight);
	atomic_set_release(&req->state, RTRS_REQ_IDLE);
}

static void req_finish(struct rtrs_clt_req *req, int status)
{
	struct rtrs_clt_req_ops ops = req->ops;

	trace_rtrs_clt_req_complete(req, status);
	rtrs_clt_stats_end(req->con->link->path, req);
	if (req->bounce && !status) {
		req_unmap(req);
		sg_copy_from_buffer(req->sg, req->sg_cnt, req->bounce,
				    req->data_len);
	}
	req_release(req);
	ops.conf_fn(ops.priv, status);
}

/* One of the two events that end a request. */
static void req_put(struct rtrs_clt_req *req)
{
	if (atomic_dec_and_test(&req->pending))
		req_finish(req, req->status);
}

static void req_wr_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_req *req = container_of(wc->wr_cqe, struct rtrs_clt_req,
						cqe);

	if (wc->status == IB_WC_SUCCESS) {
		rtrs_con_progress(&req->con->c);
		req_put(req);
	} else {
		rtrs_clt_link_error(req->con->link, -ECONNRESET,
				    ib_wc_status_msg(wc->status));
	}
}

/* The answer was the last use of the read's key. */
static int req_invalidate(struct rtrs_clt_req *req)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.wr_cqe = &req->cqe,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = req->mr->rkey,
	};

	trace_rtrs_clt_req_invalidate(req, req->status);
	return ib_post_send(req->con->c.qp, &wr, NULL);
}

/* Receives */

/* An answer's key, where the server sends one. */
static int answer_rkey(struct rtrs_clt_con *con, const struct ib_wc *wc, u32 id,
		       const char **rule)
{
	struct rtrs_clt_link *link = con->link;
	u32 rkey;
	int err;

	if (!link->geo.new_rkey)
		return 0;
	if (wc->opcode != IB_WC_RECV) {
		*rule = "answer without the chunk's next key";
		return -EPROTO;
	}
	err = rtrs_get_rkey_rsp(rtrs_rx_data(&con->c, wc), wc->byte_len, id,
				&rkey, rule);
	if (!err)
		link->chunks[id].rkey = rkey;
	return err;
}

static int recv_answer(struct rtrs_clt_con *con, const struct ib_wc *wc,
		       u32 payload, const char **rule)
{
	struct rtrs_clt_link *link = con->link;
	u32 id = rtrs_imm_rsp_id(payload);
	struct rtrs_clt_req *req;
	int err;

	if (id >= link->geo.queue_depth) {
		*rule = "answer beyond the queue depth";
		return -EPROTO;
	}
	req = &link->reqs[id];
	*rule = "answer to a request that is not in flight here";
	if (atomic_read_acquire(&req->state) != RTRS_REQ_SENT ||
	    req->con != con)
		return -EPROTO;
	err = answer_rkey(con, wc, id, rule);
	if (err)
		return err;
	req->status = rtrs_imm_rsp_err(payload);
	if (atomic_cmpxchg(&req->state, RTRS_REQ_SENT, RTRS_REQ_ANSWERED) !=
	    RTRS_REQ_SENT)
		return -EPROTO;

	*rule = "queue pair takes no work request";
	err = rtrs_rx_repost(&con->c, wc);
	if (!err && req->key_valid)
		err = req_invalidate(req);
	if (!err)
		req_put(req);
	return err;
}

static int recv_hb(struct rtrs_clt_con *con, const struct ib_wc *wc,
		   enum rtrs_imm_type type, const char **rule)
{
	int err;

	*rule = "heartbeat outside the service connection";
	if (con->c.cid)
		return -EPROTO;
	*rule = "heartbeat";
	err = rtrs_rx_repost(&con->c, wc);
	if (err)
		return err;
	return rtrs_hb_recv(&con->link->hb, type);
}

static int recv_message(struct rtrs_clt_con *con, const struct ib_wc *wc,
			const char **rule)
{
	u32 imm = be32_to_cpu(wc->ex.imm_data);

	if (!(wc->wc_flags & IB_WC_WITH_IMM)) {
		*rule = "message without immediate data";
		return -EPROTO;
	}
	switch (rtrs_imm_type(imm)) {
	case RTRS_IO_RSP_IMM:
		return recv_answer(con, wc, rtrs_imm_payload(imm), rule);
	case RTRS_HB_MSG_IMM:
	case RTRS_HB_ACK_IMM:
		return recv_hb(con, wc, rtrs_imm_type(imm), rule);
	case RTRS_IO_RSP_W_INV_IMM:
		*rule = "invalidation that was not asked for";
		return -EPROTO;
	default:
		*rule = "immediate data of unknown type";
		return -EPROTO;
	}
}

/**
 * rtrs_clt_recv_done() - completion of a receive
 * @cq: completion queue
 * @wc: completion
 *
 * Context: Softirq, or that of rtrs_clt_rdma_cq_direct() or of the drain.
 */
void rtrs_clt_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_con *con = to_clt_con(rtrs_wc_con(wc));
	struct rtrs_clt_link *link = con->link;
	const char *rule;
	int err;

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_clt_link_error(link, -ECONNRESET,
				    ib_wc_status_msg(wc->status));
		return;
	}
	rtrs_hb_alive(&link->hb);
	err = recv_message(con, wc, &rule);
	if (err)
		rtrs_clt_link_error(link, err, rule);
}

/* Mapping */

static int map_sg(struct rtrs_clt_req *req, struct scatterlist *sg, u32 cnt)
{
	int used = ib_dma_map_sg(req_ib_dev(req), sg, cnt, req_dma_dir(req));

	if (used <= 0)
		return -ENOMEM;
	req->map = sg;
	req->map_cnt = cnt;
	req->map_used = used;
	return 0;
}

/* True if the memory region covers all of what is mapped. */
static bool map_mr(struct rtrs_clt_req *req)
{
	return ib_map_mr_sg(req->mr, req->map, req->map_used, NULL,
			    PAGE_SIZE) == req->map_used;
}

static bool sg_covers(struct scatterlist *sg, u32 cnt, u32 len)
{
	u64 sum = 0;

	for (; cnt && sg; cnt--, sg = sg_next(sg))
		sum += sg->length;
	return sum >= len;
}

/* Segments with gaps between them: read into one piece, copy at the end. */
static int map_bounce(struct rtrs_clt_req *req)
{
	int err;

	req_unmap(req);
	if (!sg_covers(req->sg, req->sg_cnt, req->data_len))
		return -EINVAL;
	req->bounce = kmalloc(req->data_len, GFP_ATOMIC | __GFP_NOWARN);
	if (!req->bounce)
		return -ENOMEM;
	sg_init_one(&req->bounce_sg, req->bounce, req->data_len);
	err = map_sg(req, &req->bounce_sg, 1);
	if (err)
		return err;
	return map_mr(req) ? 0 : -EINVAL;
}

static int map_read(struct rtrs_clt_req *req)
{
	int err;

	err = map_sg(req, req->sg, req->sg_cnt);
	if (err)
		return err;
	if (!map_mr(req)) {
		err = map_bounce(req);
		if (err)
			return err;
	}
	if (req->mr->length < req->data_len)
		return -EINVAL;
	ib_update_fast_reg_key(req->mr, ib_inc_rkey(req->mr->rkey));
	req->key_valid = true;
	return 0;
}

/* The data of a write as SGEs. */
static int map_write(struct rtrs_clt_req *req)
{
	u32 lkey = req->con->link->dev->pd->local_dma_lkey;
	u32 i, left = req->data_len;
	struct ib_sge *sge = req->sge;
	struct scatterlist *sg;
	int err;

	err = map_sg(req, req->sg, req->sg_cnt);
	if (err)
		return err;
	for_each_sg(req->map, sg, req->map_used, i) {
		if (!left)
			break;
		sge->addr = sg_dma_address(sg);
		sge->length = min(sg_dma_len(sg), left);
		sge->lkey = lkey;
		left -= sge->length;
		sge++;
	}
	req->nr_sge = sge - req->sge;
	return left ? -EINVAL : 0;
}

static int req_map(struct rtrs_clt_req *req)
{
	req->nr_sge = 0;
	if (!req->data_len)
		return 0;
	return req->dir == READ ? map_read(req) : map_write(req);
}

/* Posting */

/*
 * Returns 0 if the completions or the sweep will finish the request, an error
 * if nothing of it was taken.
 */
static int req_post(struct rtrs_clt_req *req, const struct ib_send_wr *first)
{
	const struct ib_send_wr *bad = first;
	int err;

	trace_rtrs_clt_req_post(req, 0);
	err = ib_post_send(req->con->c.qp, first, &bad);
	if (!err)
		return 0;
	rtrs_clt_link_error(req->con->link, err, "request not posted");
	return bad == first ? err : 0;
}

static void msg_sge(const struct rtrs_clt_req *req, u32 hdr_len,
		    struct ib_sge *sge)
{
	struct rtrs_dev *dev = req->con->link->dev;

	sge->addr = req->msg_dma;
	sge->length = req->usr_len + hdr_len;
	sge->lkey = dev->pd->local_dma_lkey;
	ib_dma_sync_single_for_device(dev->ib_dev, sge->addr, sge->length,
				      DMA_TO_DEVICE);
}

/* The last work request of the message: to @chunk_off, with immediate data. */
static void message_wr(const struct rtrs_clt_req *req, struct ib_rdma_wr *wr,
		       u32 chunk_off)
{
	const struct rtrs_clt_link *link = req->con->link;
	u32 id = req->permit->mem_id;
	u32 hdr_off = req->data_len + req->usr_len;

	wr->wr.next = NULL;
	wr->wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	wr->wr.ex.imm_data = cpu_to_be32(rtrs_imm(RTRS_IO_REQ_IMM,
						  id << link->off_bits |
						  hdr_off));
	wr->remote_addr = link->chunks[id].addr + chunk_off;
	wr->rkey = link->chunks[id].rkey;
}

static int post_read(struct rtrs_clt_req *req)
{
	struct rtrs_msg_rdma_read *msg = req->msg + req->usr_len;
	u32 hdr_len = sizeof(*msg);
	struct ib_sge sge;
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &req->cqe,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
	};
	struct ib_reg_wr reg = {
		.wr.next = &wr.wr,
		.wr.opcode = IB_WR_REG_MR,
		.wr.wr_cqe = &req->cqe,
		.mr = req->mr,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};

	msg->type = cpu_to_le16(RTRS_MSG_READ);
	msg->usr_len = cpu_to_le16(req->usr_len);
	msg->flags = 0;		/* The key dies by our own LOCAL_INV. */
	msg->sg_cnt = cpu_to_le16(req->key_valid);
	if (req->key_valid) {
		reg.key = req->mr->rkey;
		msg->desc[0].addr = cpu_to_le64(req->mr->iova);
		msg->desc[0].key = cpu_to_le32(req->mr->rkey);
		msg->desc[0].len = cpu_to_le32(req->data_len);
		hdr_len += sizeof(msg->desc[0]);
	} else {
		wr.wr.send_flags = IB_SEND_SIGNALED;
	}
	msg_sge(req, hdr_len, &sge);
	message_wr(req, &wr, req->data_len);
	return req_post(req, req->key_valid ? &reg.wr : &wr.wr);
}

/* Plain writes for the SGEs that one work request cannot hold. */
static u32 write_split(struct rtrs_clt_req *req, struct ib_rdma_wr *wr,
		       struct ib_sge **sge, u32 *nr_sge, u32 *chunk_off)
{
	const struct rtrs_clt_link *link = req->con->link;
	const struct rtrs_clt_chunk *chunk =
		&link->chunks[req->permit->mem_id];
	u32 i, nr, max = link->dev->max_send_sge;

	for (nr = 0; *nr_sge > max; nr++) {
		wr[nr] = (struct ib_rdma_wr) {
			.wr.next = &wr[nr + 1].wr,
			.wr.wr_cqe = &req->cqe,
			.wr.sg_list = *sge,
			.wr.num_sge = max,
			.wr.opcode = IB_WR_RDMA_WRITE,
			.remote_addr = chunk->addr + *chunk_off,
			.rkey = chunk->rkey,
		};
		for (i = 0; i < max; i++)
			*chunk_off += (*sge)[i].length;
		*sge += max;
		*nr_sge -= max;
	}
	return nr;
}

static int post_write(struct rtrs_clt_req *req)
{
	struct rtrs_msg_rdma_write *msg = req->msg + req->usr_len;
	struct ib_rdma_wr wr[RTRS_CLT_MAX_WRITE_WR];
	struct ib_sge *sge = req->sge;
	u32 nr_sge, last, chunk_off = 0;

	msg->type = cpu_to_le16(RTRS_MSG_WRITE);
	msg->usr_len = cpu_to_le16(req->usr_len);
	nr_sge = req->nr_sge;
	msg_sge(req, sizeof(*msg), &sge[nr_sge++]);

	last = write_split(req, wr, &sge, &nr_sge, &chunk_off);
	wr[last].wr.wr_cqe = &req->cqe;
	wr[last].wr.sg_list = sge;
	wr[last].wr.num_sge = nr_sge;
	wr[last].wr.send_flags = IB_SEND_SIGNALED;
	message_wr(req, &wr[last], chunk_off);
	return req_post(req, &wr[0].wr);
}

/* Submission */

static struct rtrs_clt_con *pick_con(struct rtrs_clt_link *link,
				     const struct rtrs_permit *permit)
{
	if (permit->con_type == RTRS_ADMIN_CON &&
	    permit->mem_id < link->service_reqs)
		return &link->cons[0];
	return &link->cons[1 + permit->cpu % link->nr_io];
}

static int check_io(const struct rtrs_clt_link *link,
		    const struct rtrs_clt_io *io)
{
	u32 hdr_len = sizeof(struct rtrs_msg_rdma_write);

	if (io->dir == READ) {
		hdr_len = sizeof(struct rtrs_msg_rdma_read);
		if (io->data_len)
			hdr_len += sizeof(struct rtrs_sg_desc);
	}
	if (io->usr_len > link->hdr_size - hdr_len ||
	    io->data_len > link->max_io_size ||
	    io->sg_cnt > link->max_segments)
		return -EMSGSIZE;
	return 0;
}

static void req_init(struct rtrs_clt_req *req, struct rtrs_clt_link *link,
		     const struct rtrs_clt_io *io)
{
	void *msg = req->msg;
	size_t i;

	req->con = pick_con(link, io->permit);
	req->permit = io->permit;
	req->ops = io->ops;
	req->dir = io->dir;
	req->usr_len = io->usr_len;
	req->data_len = io->data_len;
	req->sg = io->sg;
	req->sg_cnt = io->sg_cnt;
	atomic_set(&req->pending, 2);
	atomic_inc(&link->path->inflight);
	for (i = 0; i < io->nr; i++) {
		memcpy(msg, io->vec[i].iov_base, io->vec[i].iov_len);
		msg += io->vec[i].iov_len;
	}
}

/*
 * Send @io on @link.  0: it will be finished; -ECONNRESET: the link is broken
 * and has taken nothing; else the ULP's error.  Context: RCU read side.
 */
static int req_start(struct rtrs_clt_link *link, const struct rtrs_clt_io *io)
{
	struct rtrs_clt_req *req = &link->reqs[io->permit->mem_id];
	int err;

	err = check_io(link, io);
	if (err)
		return err;
	if (atomic_read(&req->state) != RTRS_REQ_IDLE)
		return -EINVAL;
	req_init(req, link, io);
	trace_rtrs_clt_req_submit(req, 0);
	err = req_map(req);
	if (err)
		goto release;
	rtrs_clt_stats_start(link->path, req);
	atomic_set_release(&req->state, RTRS_REQ_SENT);
	/* After a good post the request is the completions'. */
	if (!(io->dir == READ ? post_read(req) : post_write(req)))
		return 0;
	err = -ECONNRESET;
release:
	req_release(req);
	return err;
}

static int send_io(struct rtrs_clt_sess *sess, const struct rtrs_clt_io *io)
{
	struct rtrs_clt_link *link;
	int err = -ECONNABORTED;

	rcu_read_lock();
	while ((link = rtrs_clt_pick_link(sess))) {
		err = req_start(link, io);
		if (err != -ECONNRESET)
			break;
		err = -ECONNABORTED;
	}
	rcu_read_unlock();
	return err;
}

int rtrs_clt_request(int dir, struct rtrs_clt_req_ops *ops,
		     struct rtrs_clt_sess *clt, struct rtrs_permit *permit,
		     const struct kvec *vec, size_t nr, size_t data_len,
		     struct scatterlist *sg, unsigned int sg_cnt)
{
	struct rtrs_clt_io io = {
		.ops = *ops,
		.permit = permit,
		.dir = dir,
		.vec = vec,
		.nr = nr,
		.data_len = data_len,
		.sg = data_len ? sg : NULL,
		.sg_cnt = data_len ? sg_cnt : 0,
	};
	size_t i;

	if ((dir != READ && dir != WRITE) || (data_len && (!sg || !sg_cnt)))
		return -EINVAL;
	if (data_len > U32_MAX)
		return -EMSGSIZE;
	for (i = 0; i < nr; i++) {
		if (vec[i].iov_len > RTRS_CLT_HDR_SIZE - io.usr_len)
			return -EMSGSIZE;
		io.usr_len += vec[i].iov_len;
	}
	return send_io(clt, &io);
}
EXPORT_SYMBOL_GPL(rtrs_clt_request);

/* The requests of a link */

static int link_set_limits(struct rtrs_clt_link *link)
{
	struct rtrs_dev *dev = link->dev;
	u32 write_wr, pages;

	pages = min_t(u32, DIV_ROUND_UP(link->geo.max_io_size, PAGE_SIZE) + 1,
		      dev->max_mr_pages);
	if (pages < 2 || dev->max_send_sge < 2) {
		rtrs_clt_err(link->path,
			     "%s: expected memory regions of 2 pages and 2 SGEs at least, device has %u and %u\n",
			     dev->ib_dev->name, dev->max_mr_pages,
			     dev->max_send_sge);
		return -EOPNOTSUPP;
	}
	link->off_bits = rtrs_imm_off_bits(link->geo.queue_depth);
	link->hdr_size = min_t(u32, link->geo.max_hdr_size, RTRS_CLT_HDR_SIZE);
	link->max_io_size = min_t(u32, link->geo.max_io_size,
				  (pages - 1) * PAGE_SIZE);
	link->max_segments = min(pages, RTRS_CLT_MAX_WRITE_WR *
				 dev->max_send_sge - 1);
	write_wr = DIV_ROUND_UP(link->max_segments + 1, dev->max_send_sge);
	link->req_wr = max_t(u32, write_wr, RTRS_CLT_READ_WR);
	link->service_reqs = min_t(u32, RTRS_CLT_SERVICE_REQS,
				   RTRS_CLT_SERVICE_WR / link->req_wr);
	return 0;
}

static int req_alloc(struct rtrs_clt_link *link, u32 id)
{
	struct rtrs_clt_req *req = &link->reqs[id];
	struct rtrs_dev *dev = link->dev;
	struct ib_mr *mr;
	void *msg;

	req->cqe.done = req_wr_done;
	req->sge = &link->sges[id * (link->max_segments + 1)];
	msg = kzalloc(link->hdr_size, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	req->msg_dma = ib_dma_map_single(dev->ib_dev, msg, link->hdr_size,
					 DMA_TO_DEVICE);
	if (ib_dma_mapping_error(dev->ib_dev, req->msg_dma)) {
		kfree(msg);
		return -ENOMEM;
	}
	req->msg = msg;
	mr = ib_alloc_mr(dev->pd, dev->mr_type,
			 DIV_ROUND_UP(link->max_io_size, PAGE_SIZE) + 1);
	if (IS_ERR(mr)) {
		rtrs_clt_err(link->path, "%s: no memory region: %pe\n",
			     dev->ib_dev->name, mr);
		return PTR_ERR(mr);
	}
	req->mr = mr;
	return 0;
}

/**
 * rtrs_clt_reqs_alloc() - allocate what a link needs for its requests
 * @link: link whose service connection is up
 *
 * Context: Process; sleeps.
 * Return: 0, -ENOMEM, -EOPNOTSUPP or an error of the verbs; what was allocated
 *	until then is freed with the link.
 */
int rtrs_clt_reqs_alloc(struct rtrs_clt_link *link)
{
	u32 i, depth = link->geo.queue_depth;
	int err;

	err = link_set_limits(link);
	if (err)
		return err;
	link->chunks = kvcalloc(depth, sizeof(*link->chunks), GFP_KERNEL);
	link->reqs = kvcalloc(depth, sizeof(*link->reqs), GFP_KERNEL);
	link->sges = kvcalloc(depth, (link->max_segments + 1) *
			      sizeof(*link->sges), GFP_KERNEL);
	if (!link->chunks || !link->reqs || !link->sges)
		return -ENOMEM;
	for (i = 0; i < depth; i++) {
		err = req_alloc(link, i);
		if (err)
			return err;
	}
	return 0;
}

/**
 * rtrs_clt_reqs_free() - undo rtrs_clt_reqs_alloc(), complete or not
 * @link: link without requests in flight and without QPs
 *
 * Context: Process; sleeps.
 */
void rtrs_clt_reqs_free(struct rtrs_clt_link *link)
{
	u32 i, depth = link->geo.queue_depth;
	struct rtrs_clt_req *req;

	for (i = 0; link->reqs && i < depth; i++) {
		req = &link->reqs[i];
		if (req->mr)
			ib_dereg_mr(req->mr);
		if (req->msg)
			ib_dma_unmap_single(link->dev->ib_dev, req->msg_dma,
					    link->hdr_size, DMA_TO_DEVICE);
		kfree(req->msg);
	}
	kvfree(link->sges);
	kvfree(link->reqs);
	kvfree(link->chunks);
}

/* Move a request without an answer to another path, or end it. */
static void req_fail_over(struct rtrs_clt_req *req)
{
	struct kvec vec = {
		.iov_base = req->msg,
		.iov_len = req->usr_len,
	};
	struct rtrs_clt_io io = {
		.ops = req->ops,
		.permit = req->permit,
		.dir = req->dir,
		.vec = &vec,
		.nr = 1,
		.usr_len = req->usr_len,
		.data_len = req->data_len,
		.sg = req->sg,
		.sg_cnt = req->sg_cnt,
	};
	struct rtrs_clt_path *path = req->con->link->path;
	int err;

	trace_rtrs_clt_req_fail_over(req, 0);
	req_release(req);
	err = send_io(path->sess, &io);
	if (err)
		io.ops.conf_fn(io.ops.priv, err);
	else
		rtrs_clt_stats_failed_over(path);
}

/**
 * rtrs_clt_reqs_sweep() - finish every request that is still in flight
 * @link: link that is drained: nobody submits, no completion runs
 *
 * Context: Process; sleeps.
 */
void rtrs_clt_reqs_sweep(struct rtrs_clt_link *link)
{
	u32 i, depth = link->geo.queue_depth;
	struct rtrs_clt_req *req;

	for (i = 0; link->reqs && i < depth; i++) {
		req = &link->reqs[i];
		if (atomic_read(&req->state) == RTRS_REQ_IDLE)
			continue;
		/* Other queue pairs of the device could still use the key. */
		if (req->key_valid) {
			ib_dereg_mr(req->mr);
			req->mr = NULL;
			req->key_valid = false;
		}
		if (atomic_read(&req->state) == RTRS_REQ_ANSWERED)
			req_finish(req, req->status);
		else
			req_fail_over(req);
	}
}
