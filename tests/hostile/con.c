// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Connections: librdmacm and the verbs, with deadlines everywhere.
 *
 * The receives of a connection lie in one piece of memory; the number of a
 * receive is its wr_id, and it is posted again by whoever has looked at it.
 * Sends are not signalled: their failure shows in the state of the connection.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hostile.h"

#define RESOLVE_MS 2000
#define CONNECT_MS 10000

/* Reason of a reject by the peer's program, as the CM numbers them. */
#define REJ_CONSUMER 28

/**
 * die() - give up because of a fault that is none of the peer's
 * @fmt: what is wrong
 */
void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "rtrs-hostile: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, " (errno: %s)\n", strerror(errno));
	va_end(args);
	exit(2);
}

/**
 * now_ms() - a clock
 *
 * Return: milliseconds since some time.
 */
u64 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/**
 * con_init() - before the first connection
 *
 * Asking for the devices is what makes the provider known.
 */
void con_init(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list || !*list)
		die("no RDMA device");
	ibv_free_device_list(list);
}

/* The next CM event, NULL if none comes in time. */
static struct rdma_cm_event *next_event(struct con *con, u32 ms)
{
	struct pollfd fd = { .fd = con->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&fd, 1, ms) <= 0)
		return NULL;
	if (rdma_get_cm_event(con->channel, &event))
		die("no event");
	return event;
}

static void expect_event(struct con *con, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = next_event(con, RESOLVE_MS);

	if (!event || event->event != type)
		die("%s instead of %s", event ? rdma_event_str(event->event) :
		    "nothing", rdma_event_str(type));
	rdma_ack_cm_event(event);
}

/**
 * con_resolve() - make a connection's CM id, with its route
 * @con: connection, all zero
 * @addr: address of the server
 * @port: its port
 */
void con_resolve(struct con *con, const char *addr, const char *port)
{
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
	};
	struct addrinfo *info;

	con->gone = false;
	con->channel = rdma_create_event_channel();
	if (!con->channel ||
	    rdma_create_id(con->channel, &con->id, con, RDMA_PS_TCP))
		die("no CM id");
	if (getaddrinfo(addr, port, &hints, &info))
		die("%s:%s is no address", addr, port);
	if (rdma_resolve_addr(con->id, NULL, info->ai_addr, RESOLVE_MS))
		die("cannot resolve %s", addr);
	freeaddrinfo(info);
	expect_event(con, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(con->id, RESOLVE_MS))
		die("no route to %s", addr);
	expect_event(con, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void post_recv(struct con *con, u32 nr)
{
	struct ibv_sge sge = {
		.addr = (unsigned long)con->recvs + (u64)nr * RECV_SIZE,
		.length = RECV_SIZE,
		.lkey = con->recvs_mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = nr,
		.sg_list = &sge,
		.num_sge = 1,
	}, *bad;

	if (ibv_post_recv(con->id->qp, &wr, &bad))
		die("cannot post a receive");
}

/**
 * con_create_qp() - give a connection its queue pair, with all receives
 * @con: connection whose CM id has a device
 * @pd: protection domain
 */
void con_create_qp(struct con *con, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = SENDS,
			.max_recv_wr = RECVS,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	u32 i;

	con->pd = pd;
	con->cq = ibv_create_cq(con->id->verbs, SENDS + RECVS, NULL, NULL, 0);
	con->recvs = calloc(RECVS, RECV_SIZE);
	if (!con->cq || !con->recvs)
		die("no completion queue");
	con->recvs_mr = ibv_reg_mr(pd, con->recvs, RECVS * RECV_SIZE,
				   IBV_ACCESS_LOCAL_WRITE);
	attr.send_cq = con->cq;
	attr.recv_cq = con->cq;
	if (!con->recvs_mr || rdma_create_qp(con->id, pd, &attr))
		die("no queue pair");
	for (i = 0; i < RECVS; i++)
		post_recv(con, i);
}

/* The errno of the answer; a reject that is not of the peer's program is a number. */
static int read_answer(struct con *con, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;

	if (event->event == RDMA_CM_EVENT_REJECTED &&
	    event->status != REJ_CONSUMER)
		return -1000 - event->status;
	if (event->event != RDMA_CM_EVENT_REJECTED &&
	    event->event != RDMA_CM_EVENT_ESTABLISHED)
		return -2000 - (int)event->event;
	if (param->private_data_len < sizeof(con->rsp))
		return -3000;
	memcpy(&con->rsp, param->private_data, sizeof(con->rsp));
	return (short)le16toh(con->rsp.err);
}

/**
 * con_connect() - ask for a connection and wait for the answer
 * @con: connection with a queue pair
 * @data: private data
 * @len: its length
 *
 * Return: 0 when it is established, or the errno of the reject.
 */
int con_connect(struct con *con, const void *data, u8 len)
{
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = len,
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = RTRS_RETRY_COUNT,
		.rnr_retry_count = RTRS_RETRY_COUNT,
	};
	struct rdma_cm_event *event;
	int err;

	if (rdma_connect(con->id, &param))
		die("cannot connect");
	event = next_event(con, CONNECT_MS);
	if (!event)
		die("no answer to a connection request");
	err = read_answer(con, event);
	rdma_ack_cm_event(event);
	con->gone = err;
	return err;
}

/**
 * con_alive() - look for the end of a connection
 * @con: connection
 *
 * Return: false when the peer has ended it.
 */
bool con_alive(struct con *con)
{
	struct rdma_cm_event *event;

	if (con->gone)
		return false;
	event = next_event(con, 0);
	if (!event)
		return true;
	/* Nothing but ends comes for a connection that is established. */
	con->gone = true;
	rdma_ack_cm_event(event);
	return false;
}

/**
 * con_post() - post a chain of work requests
 * @con: connection
 * @mr: registration of what is sent
 * @wrs: work requests
 * @nr: their number, at most SENDS
 */
void con_post(struct con *con, struct ibv_mr *mr, const struct wr *wrs, u32 nr)
{
	struct ibv_send_wr send[SENDS], *bad;
	struct ibv_sge sge[SENDS];
	u32 i;

	memset(send, 0, sizeof(send));
	for (i = 0; i < nr; i++) {
		sge[i].addr = (unsigned long)wrs[i].local;
		sge[i].length = wrs[i].len;
		sge[i].lkey = mr->lkey;
		send[i].sg_list = &sge[i];
		send[i].num_sge = wrs[i].len > 0;
		send[i].opcode = wrs[i].opcode;
		send[i].next = i + 1 < nr ? &send[i + 1] : NULL;
		if (wrs[i].opcode == IBV_WR_SEND_WITH_INV)
			send[i].invalidate_rkey = wrs[i].remote.rkey;
		else
			send[i].imm_data = htobe32(wrs[i].imm);
		send[i].wr.rdma.remote_addr = wrs[i].remote.addr;
		send[i].wr.rdma.rkey = wrs[i].remote.rkey;
	}
	if (ibv_post_send(con->id->qp, send, &bad) && con_alive(con))
		die("cannot post");
}

/**
 * con_recv() - wait for a message
 * @con: connection
 * @ms: for how long
 * @wc: set to its completion
 *
 * Return: false if there is none, for whatever reason.
 */
bool con_recv(struct con *con, u32 ms, struct ibv_wc *wc)
{
	u64 end = now_ms() + ms;

	do {
		while (ibv_poll_cq(con->cq, 1, wc) > 0) {
			if (wc->status == IBV_WC_SUCCESS &&
			    wc->opcode & IBV_WC_RECV)
				return true;
			con->gone |= wc->status != IBV_WC_SUCCESS;
		}
		if (!con_alive(con))
			return false;
		usleep(200);
	} while (now_ms() < end);
	return false;
}

const void *con_data(struct con *con, const struct ibv_wc *wc)
{
	return con->recvs + wc->wr_id * RECV_SIZE;
}

void con_repost(struct con *con, const struct ibv_wc *wc)
{
	post_recv(con, wc->wr_id);
}

/**
 * con_close() - end a connection
 * @con: connection, in whatever state; all zero afterwards
 */
void con_close(struct con *con)
{
	if (!con->channel)
		return;
	if (con->id->qp) {
		rdma_disconnect(con->id);
		rdma_destroy_qp(con->id);
	}
	if (con->recvs_mr)
		ibv_dereg_mr(con->recvs_mr);
	free(con->recvs);
	if (con->cq)
		ibv_destroy_cq(con->cq);
	rdma_destroy_id(con->id);
	rdma_destroy_event_channel(con->channel);
	memset(con, 0, sizeof(*con));
}
