// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A client's path, honest: how it connects, learns where the chunks are, ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "hostile.h"

/* The service connection and one for requests: nobody demands more. */
#define NR_CONS 2

static void random_bytes(void *to, size_t len)
{
	if (getrandom(to, len, 0) != (ssize_t)len)
		die("no random bytes");
}

/**
 * path_init() - prepare a path of a new session
 * @path: path
 * @addr: address of the server
 * @port: its port
 */
void path_init(struct path *path, const char *addr, const char *port)
{
	static u32 nr;

	memset(path, 0, sizeof(*path));
	path->addr = addr;
	path->port = port;
	path->nr_cons = NR_CONS;
	snprintf(path->name, sizeof(path->name), "hostile%d-%u", getpid(), nr++);
	path->req.magic = htole16(RTRS_MAGIC);
	path->req.version = htole16(RTRS_PROTO_VER);
	path->req.cid_num = htole16(NR_CONS);
	path->req.recon_cnt = htole16(1);
	path->req.first_conn = 1;
	random_bytes(path->req.sess_uuid, RTRS_UUID_SIZE);
	random_bytes(path->req.paths_uuid, RTRS_UUID_SIZE);
}

static void create_memory(struct path *path, struct ibv_context *verbs)
{
	path->pd = ibv_alloc_pd(verbs);
	path->buf = calloc(1, BUF_SIZE);
	if (!path->pd || !path->buf)
		die("no memory");
	path->buf_mr = ibv_reg_mr(path->pd, path->buf, BUF_SIZE,
				  IBV_ACCESS_LOCAL_WRITE |
				  IBV_ACCESS_REMOTE_WRITE);
	if (!path->buf_mr)
		die("cannot register memory");
}

/**
 * path_connect_as() - ask for a connection with a message of the caller's
 * @path: path
 * @slot: which of the path's connections this becomes
 * @req: what to send
 *
 * Return: 0 or the errno of the reject.
 */
int path_connect_as(struct path *path, u32 slot,
		    const struct rtrs_msg_conn_req *req)
{
	struct con *con = &path->cons[slot];

	con_resolve(con, path->addr, path->port);
	if (!path->pd)
		create_memory(path, con->id->verbs);
	con_create_qp(con, path->pd);
	return con_connect(con, req, sizeof(*req));
}

/**
 * path_connect() - ask for a connection
 * @path: path
 * @cid: its number
 *
 * Return: 0 or the errno of the reject.
 */
int path_connect(struct path *path, u32 cid)
{
	struct rtrs_msg_conn_req req = path->req;

	req.cid = htole16(cid);
	return path_connect_as(path, cid, &req);
}

/**
 * path_connect_from() - connect the rest
 * @path: path
 * @cid: first connection that is missing
 */
void path_connect_from(struct path *path, u32 cid)
{
	int err;

	for (; cid < path->nr_cons; cid++) {
		err = path_connect(path, cid);
		if (err)
			die("connection %u is refused: %d", cid, err);
	}
}

/**
 * path_post() - post a work request
 * @path: path
 * @cid: on which connection
 * @wr: work request
 */
void path_post(struct path *path, u32 cid, const struct wr *wr)
{
	con_post(&path->cons[cid], path->buf_mr, wr, 1);
}

/**
 * path_send() - send a message
 * @path: path
 * @cid: over which connection
 * @data: message
 * @len: its length
 */
void path_send(struct path *path, u32 cid, const void *data, u32 len)
{
	struct wr wr = {
		.opcode = IBV_WR_SEND,
		.local = path->buf,
		.len = len,
	};

	memcpy(path->buf, data, len);
	path_post(path, cid, &wr);
}

/**
 * path_send_info() - tell the session's name
 * @path: path with all its connections
 */
void path_send_info(struct path *path)
{
	struct rtrs_msg_info_req req = { .type = htole16(RTRS_MSG_INFO_REQ) };

	memcpy(req.pathname, path->name, sizeof(req.pathname));
	path_send(path, 0, &req, sizeof(req));
}

/* The answer to the service connection tells the sizes. */
static void learn_sizes(struct path *path)
{
	const struct rtrs_msg_conn_rsp *rsp = &path->cons[0].rsp;

	path->depth = le16toh(rsp->queue_depth);
	path->hdr_size = le32toh(rsp->max_hdr_size);
	path->chunk_size = le32toh(rsp->max_io_size) + path->hdr_size;
	path->secure = le32toh(rsp->flags) & RTRS_MSG_NEW_RKEY_F;
	path->chunks = calloc(path->depth, sizeof(*path->chunks));
	if (!path->chunks)
		die("no memory");
}

/**
 * path_get_info() - wait for info_rsp and learn where the chunks are
 * @path: path
 */
void path_get_info(struct path *path)
{
	if (!path_try_info(path))
		die("no info_rsp");
}

/**
 * path_try_info() - the same, but the server may close the path instead
 * @path: path
 *
 * Return: false if it has.
 */
bool path_try_info(struct path *path)
{
	const struct rtrs_msg_info_rsp *rsp;
	struct ibv_wc wc;
	u32 i, cnt;

	learn_sizes(path);
	if (!con_recv(&path->cons[0], REPLY_MS, &wc))
		return false;
	rsp = con_data(&path->cons[0], &wc);
	cnt = le16toh(rsp->sg_cnt);
	if (le16toh(rsp->type) != RTRS_MSG_INFO_RSP || !cnt ||
	    wc.byte_len != sizeof(*rsp) + cnt * sizeof(rsp->desc[0]))
		die("bad info_rsp of %u bytes", wc.byte_len);
	for (i = 0; i < path->depth; i++) {
		const struct rtrs_sg_desc *desc =
			&rsp->desc[i / (path->depth / cnt)];

		path->chunks[i].addr = le64toh(desc->addr) +
				       (u64)(i % (path->depth / cnt)) *
				       path->chunk_size;
		path->chunks[i].rkey = le32toh(desc->key);
	}
	con_repost(&path->cons[0], &wc);
	return true;
}

/**
 * path_bring_up() - bring a path up, honestly
 * @path: prepared path
 * @stage: how far
 */
void path_bring_up(struct path *path, enum stage stage)
{
	if (stage < ACCEPTED)
		return;
	if (stage == ACCEPTED) {
		if (path_connect(path, 0))
			die("connection 0 is refused");
		return;
	}
	path_connect_from(path, 0);
	if (stage == CONNECTED)
		return;
	path_send_info(path);
	path_get_info(path);
}

/**
 * path_gone() - wait for the peer to end all that there is of a path
 * @path: path
 * @ms: for how long
 *
 * Return: false if it has not.
 */
bool path_gone(struct path *path, u32 ms)
{
	u64 end = now_ms() + ms;
	u32 i, alive;

	do {
		alive = 0;
		for (i = 0; i < CONS_MAX; i++)
			if (path->cons[i].channel)
				alive += con_alive(&path->cons[i]);
		if (!alive)
			return true;
		usleep(1000);
	} while (now_ms() < end);
	return false;
}

/**
 * path_close() - end a path
 * @path: path, in whatever state
 */
void path_close(struct path *path)
{
	u32 i;

	for (i = 0; i < CONS_MAX; i++)
		con_close(&path->cons[i]);
	if (path->buf_mr)
		ibv_dereg_mr(path->buf_mr);
	if (path->pd)
		ibv_dealloc_pd(path->pd);
	free(path->buf);
	free(path->chunks);
}
