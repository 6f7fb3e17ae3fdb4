// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS server: the memory of a path, that is, its operations, its view of the
 * session's chunks, and the keys that the client writes to them with.
 *
 * Each path maps the chunks for its own device and registers them in its own
 * memory regions.  With a key for each chunk (secure mode) there is one region
 * a chunk; otherwise a region covers as many chunks as the device allows and
 * as divide the queue's depth.  What a region maps never changes: only its key
 * does, at every request in secure mode.
 *
 * Two paths on one device map the same pages, and a path may go while another
 * one is in use.  So mapping and unmapping leave the CPU's view alone
 * (DMA_ATTR_SKIP_CPU_SYNC), and requests sync exactly what they touch.
 *
 * The first registrations go out on the service connection in batches; when
 * the last one is done, info_rsp tells the client the keys.
 *
 * All of this happens in the path's up work.  What fails here closes the path,
 * and the close work frees whatever there is: regions, mappings and messages
 * with the connections, the operations when the ULP has given the last of them
 * back.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "rtrs-srv.h"

/* Operations */

static int rtrs_srv_alloc_ops(struct rtrs_srv_path *path)
{
	u32 i;

	path->ops = kvcalloc(rtrs_srv_geo.queue_depth, sizeof(*path->ops),
			     GFP_KERNEL);
	if (!path->ops)
		return -ENOMEM;
	for (i = 0; i < rtrs_srv_geo.queue_depth; i++)
		rtrs_srv_op_init(&path->ops[i], path, i);
	return 0;
}

static size_t rtrs_srv_rkeys_size(struct rtrs_srv_path *path)
{
	return rtrs_srv_geo.queue_depth * sizeof(*path->rkeys);
}

static int rtrs_srv_map_rkeys(struct rtrs_srv_path *path)
{
	struct ib_device *dev = path->dev->ib_dev;
	size_t size = rtrs_srv_rkeys_size(path);

	path->rkeys = kzalloc(size, GFP_KERNEL);
	if (!path->rkeys)
		return -ENOMEM;
	path->rkeys_dma = ib_dma_map_single(dev, path->rkeys, size,
					    DMA_TO_DEVICE);
	if (ib_dma_mapping_error(dev, path->rkeys_dma)) {
		kfree(path->rkeys);
		path->rkeys = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void rtrs_srv_unmap_rkeys(struct rtrs_srv_path *path)
{
	if (!path->rkeys)
		return;
	ib_dma_unmap_single(path->dev->ib_dev, path->rkeys_dma,
			    rtrs_srv_rkeys_size(path), DMA_TO_DEVICE);
	kfree(path->rkeys);
	path->rkeys = NULL;
}

/* Chunks */

static dma_addr_t rtrs_srv_map_chunk(struct ib_device *dev, void *data)
{
	struct page *page = virt_to_page(data);

	if (ib_uses_virt_dma(dev))
		return ib_dma_map_page(dev, page, 0, rtrs_srv_chunk_size(),
				       DMA_BIDIRECTIONAL);
	return dma_map_page_attrs(dev->dma_device, page, 0,
				  rtrs_srv_chunk_size(), DMA_BIDIRECTIONAL,
				  DMA_ATTR_SKIP_CPU_SYNC);
}

static void rtrs_srv_unmap_chunk(struct ib_device *dev, dma_addr_t dma)
{
	if (!ib_uses_virt_dma(dev))
		dma_unmap_page_attrs(dev->dma_device, dma,
				     rtrs_srv_chunk_size(), DMA_BIDIRECTIONAL,
				     DMA_ATTR_SKIP_CPU_SYNC);
}

static int rtrs_srv_map_chunks(struct rtrs_srv_path *path)
{
	struct ib_device *dev = path->dev->ib_dev;
	dma_addr_t dma;
	u32 i;

	path->chunk_dma = kvcalloc(rtrs_srv_geo.queue_depth,
				   sizeof(*path->chunk_dma), GFP_KERNEL);
	if (!path->chunk_dma)
		return -ENOMEM;
	for (i = 0; i < rtrs_srv_geo.queue_depth; i++) {
		dma = rtrs_srv_map_chunk(dev, path->sess->chunks[i].data);
		if (ib_dma_mapping_error(dev, dma))
			return -ENOMEM;
		path->chunk_dma[i] = dma;
		path->nr_mapped++;
		ib_dma_sync_single_for_device(dev, dma, rtrs_srv_chunk_size(),
					      DMA_BIDIRECTIONAL);
	}
	return 0;
}

static void rtrs_srv_unmap_chunks(struct rtrs_srv_path *path)
{
	while (path->nr_mapped)
		rtrs_srv_unmap_chunk(path->dev->ib_dev,
				     path->chunk_dma[--path->nr_mapped]);
}

/* Memory regions */

/* How many chunks share a region; 0 if not even one fits. */
static u32 rtrs_srv_chunks_per_mr(struct rtrs_srv_path *path)
{
	u32 fit = path->dev->max_mr_pages / (rtrs_srv_chunk_size() / PAGE_SIZE);
	u32 nr = min(fit, rtrs_srv_geo.queue_depth);

	if (rtrs_srv_secure)
		return min(fit, 1u);
	while (nr && rtrs_srv_geo.queue_depth % nr)
		nr--;
	return nr;
}

/* The region with number @idx, which maps as many chunks as @sg has entries. */
static struct ib_mr *rtrs_srv_create_mr(struct rtrs_srv_path *path, u32 idx,
					struct scatterlist *sg, u32 nr)
{
	u32 size = rtrs_srv_chunk_size(), i, chunk;
	struct ib_mr *mr;
	int mapped;

	mr = ib_alloc_mr(path->dev->pd, IB_MR_TYPE_MEM_REG,
			 nr * (size / PAGE_SIZE));
	if (IS_ERR(mr))
		return mr;
	sg_init_table(sg, nr);
	for (i = 0; i < nr; i++) {
		chunk = idx * nr + i;
		sg_set_page(&sg[i], virt_to_page(path->sess->chunks[chunk].data),
			    size, 0);
		sg_dma_address(&sg[i]) = path->chunk_dma[chunk];
		sg_dma_len(&sg[i]) = size;
	}
	mapped = ib_map_mr_sg(mr, sg, nr, NULL, PAGE_SIZE);
	if (mapped != nr) {
		ib_dereg_mr(mr);
		return ERR_PTR(mapped < 0 ? mapped : -EINVAL);
	}
	return mr;
}

static int rtrs_srv_fill_mrs(struct rtrs_srv_path *path, u32 nr_mrs,
			     struct scatterlist *sg, u32 per_mr)
{
	struct ib_mr *mr;

	while (path->nr_mrs < nr_mrs) {
		mr = rtrs_srv_create_mr(path, path->nr_mrs, sg, per_mr);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		path->mrs[path->nr_mrs++] = mr;
	}
	return 0;
}

static int rtrs_srv_create_mrs(struct rtrs_srv_path *path)
{
	u32 per_mr = rtrs_srv_chunks_per_mr(path), nr_mrs;
	struct scatterlist *sg;
	int err;

	if (!per_mr) {
		rtrs_srv_path_fail(path,
				   "device %s cannot register more than %u pages at once: lower max_chunk_size=%u",
				   path->dev->ib_dev->name,
				   path->dev->max_mr_pages,
				   rtrs_srv_chunk_size());
		return -EOPNOTSUPP;
	}
	nr_mrs = rtrs_srv_geo.queue_depth / per_mr;
	path->mrs = kvcalloc(nr_mrs, sizeof(*path->mrs), GFP_KERNEL);
	sg = kvcalloc(per_mr, sizeof(*sg), GFP_KERNEL);
	if (path->mrs && sg)
		err = rtrs_srv_fill_mrs(path, nr_mrs, sg, per_mr);
	else
		err = -ENOMEM;
	kvfree(sg);
	return err;
}

static void rtrs_srv_destroy_mrs(struct rtrs_srv_path *path)
{
	while (path->nr_mrs)
		ib_dereg_mr(path->mrs[--path->nr_mrs]);
}

/**
 * rtrs_srv_path_alloc_mem() - allocate and map what a path needs for requests
 * @path: path whose session has chunks
 *
 * Context: Process; sleeps.
 * Return: 0 or an error; what is there then is freed with the path.
 */
int rtrs_srv_path_alloc_mem(struct rtrs_srv_path *path)
{
	int err;

	err = rtrs_srv_alloc_ops(path);
	if (!err)
		err = rtrs_srv_map_rkeys(path);
	if (!err)
		err = rtrs_srv_map_chunks(path);
	if (!err)
		err = rtrs_srv_create_mrs(path);
	return err;
}

/**
 * rtrs_srv_path_unmap_mem() - give up all that the device knows
 * @path: path without queue pairs, or one that never had any
 *
 * Context: Process; sleeps.
 */
void rtrs_srv_path_unmap_mem(struct rtrs_srv_path *path)
{
	rtrs_srv_destroy_mrs(path);
	rtrs_srv_unmap_chunks(path);
	rtrs_srv_unmap_rkeys(path);
	rtrs_buf_free(path->dev, path->info_rsp);
	rtrs_buf_free(path->dev, path->info_req);
	path->info_rsp = NULL;
	path->info_req = NULL;
}

/**
 * rtrs_srv_path_free_mem() - free the rest
 * @path: path none of whose operations is busy
 *
 * Context: Process.
 */
void rtrs_srv_path_free_mem(struct rtrs_srv_path *path)
{
	kvfree(path->mrs);
	kvfree(path->chunk_dma);
	kvfree(path->ops);
}

/* First registrations */

static void rtrs_srv_reg_quiet_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_path *path = container_of(wc->wr_cqe,
						  struct rtrs_srv_path,
						  reg_quiet_cqe);

	if (wc->status != IB_WC_SUCCESS)
		rtrs_srv_wc_failed(path, wc, "registration");
}

static void rtrs_srv_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_path *path = container_of(wc->wr_cqe,
						  struct rtrs_srv_path,
						  reg_cqe);

	if (wc->status != IB_WC_SUCCESS)
		rtrs_srv_wc_failed(path, wc, "registration");
	WRITE_ONCE(path->reg_err, wc->status == IB_WC_SUCCESS ? 0 : -EIO);
	wake_up_all(&path->wait);
}

/* Registers @nr regions from @first on, and waits for it. */
static int rtrs_srv_register_batch(struct rtrs_srv_path *path,
				   struct ib_reg_wr *wrs, u32 first, u32 nr)
{
	int err;
	u32 i;

	for (i = 0; i < nr; i++) {
		struct ib_mr *mr = path->mrs[first + i];

		memset(&wrs[i], 0, sizeof(wrs[i]));
		wrs[i].wr.opcode = IB_WR_REG_MR;
		wrs[i].wr.wr_cqe = &path->reg_quiet_cqe;
		wrs[i].wr.next = &wrs[i + 1].wr;
		wrs[i].mr = mr;
		wrs[i].key = mr->rkey;
		wrs[i].access = RTRS_SRV_MR_ACCESS;
	}
	wrs[nr - 1].wr.next = NULL;
	wrs[nr - 1].wr.wr_cqe = &path->reg_cqe;
	wrs[nr - 1].wr.send_flags = IB_SEND_SIGNALED;
	WRITE_ONCE(path->reg_err, 1);
	err = ib_post_send(path->cons[0]->c.qp, &wrs[0].wr, NULL);
	if (err)
		return err;
	wait_event(path->wait, READ_ONCE(path->reg_err) <= 0 ||
		   rtrs_srv_path_state(path) != RTRS_SRV_CONNECTING);
	return READ_ONCE(path->reg_err) ? -ECONNABORTED : 0;
}

static int rtrs_srv_register_all(struct rtrs_srv_path *path)
{
	u32 batch = min_t(u32, RTRS_SRV_REG_BATCH, path->cons[0]->sq_size);
	struct ib_reg_wr *wrs;
	u32 first, nr;
	int err = 0;

	wrs = kcalloc(batch, sizeof(*wrs), GFP_KERNEL);
	if (!wrs)
		return -ENOMEM;
	path->reg_cqe.done = rtrs_srv_reg_done;
	path->reg_quiet_cqe.done = rtrs_srv_reg_quiet_done;
	for (first = 0; first < path->nr_mrs && !err; first += nr) {
		nr = min(batch, path->nr_mrs - first);
		err = rtrs_srv_register_batch(path, wrs, first, nr);
	}
	kfree(wrs);
	return err;
}

static void rtrs_srv_info_rsp_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_con *con = container_of(rtrs_wc_con(wc),
						struct rtrs_srv_con, c);

	if (wc->status != IB_WC_SUCCESS)
		rtrs_srv_wc_failed(con->path, wc, "send of info_rsp");
}

static int rtrs_srv_build_info_rsp(struct rtrs_srv_path *path)
{
	struct rtrs_msg_info_rsp *msg;
	u32 i;

	path->info_rsp = rtrs_buf_alloc(path->dev,
					struct_size(msg, desc, path->nr_mrs),
					DMA_TO_DEVICE, rtrs_srv_info_rsp_done);
	if (!path->info_rsp)
		return -ENOMEM;
	msg = path->info_rsp->data;
	msg->type = cpu_to_le16(RTRS_MSG_INFO_RSP);
	msg->sg_cnt = cpu_to_le16(path->nr_mrs);
	for (i = 0; i < path->nr_mrs; i++) {
		msg->desc[i].addr = cpu_to_le64(path->mrs[i]->iova);
		msg->desc[i].key = cpu_to_le32(path->mrs[i]->rkey);
		msg->desc[i].len = cpu_to_le32(path->mrs[i]->length);
	}
	return 0;
}

/**
 * rtrs_srv_path_register() - register the chunks and prepare info_rsp
 * @path: path with all its memory and connections
 *
 * Context: Process; sleeps.
 * Return: 0 or an error; -ECONNABORTED if the path is closing.
 */
int rtrs_srv_path_register(struct rtrs_srv_path *path)
{
	int err;

	err = rtrs_srv_register_all(path);
	return err ?: rtrs_srv_build_info_rsp(path);
}
