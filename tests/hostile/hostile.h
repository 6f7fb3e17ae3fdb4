/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A peer in user space that keeps the protocol, until it breaks one rule.
 *
 * A connection is an RC queue pair of librdmacm with an event channel of its
 * own; a path is the client's end of the protocol over some of them.  Each
 * attack gets a path that has come up as far as the attack's table says,
 * honestly, and breaks its rule with the functions below.  What must happen
 * stands in the table as well, and is judged by main.c.
 *
 * One thread, no clean-up on a fault of our own: die() ends the process, and
 * the kernel takes the rest down.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdnoreturn.h>
#include <endian.h>
#include <linux/types.h>

/* The one provider that a static program needs for rxe. */
#define RDMA_STATIC_PROVIDERS rxe
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "rtrs-pri.h"

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))

enum hostile_sizes {
	CONS_MAX	= 8,	/* of a path, really connected */
	RECVS		= 16,	/* posted on a connection */
	RECV_SIZE	= 2048,	/* bytes of each: info_rsp, keys */
	SENDS		= 64,	/* work requests in the send queue */
	BUF_SIZE	= 262144, /* bytes to send from, and to read into */
	REPLY_MS	= 5000,	/* an honest peer answers within that */
};

/**
 * struct con - a connection
 * @channel: its CM events
 * @id: CM id
 * @pd: protection domain of its path
 * @cq: completions of both queues
 * @recvs: memory of the receives
 * @recvs_mr: its registration
 * @rsp: what the peer has answered to the connection request
 * @gone: the peer has ended it, or the queue pair is in error
 */
struct con {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	u8 *recvs;
	struct ibv_mr *recvs_mr;
	struct rtrs_msg_conn_rsp rsp;
	bool gone;
};

/**
 * struct chunk - where a request may be written to
 * @addr: address at the server
 * @rkey: its key
 */
struct chunk {
	u64 addr;
	u32 rkey;
};

/**
 * struct path - a client's path
 * @addr: address of the server
 * @port: its port
 * @cons: connections by cid
 * @nr_cons: connections that are used
 * @req: the connection request, but for the cid
 * @name: name of the session
 * @depth: chunks
 * @chunk_size: bytes of each
 * @hdr_size: of these, for user message and header
 * @secure: the server invalidates keys
 * @chunks: table of the chunks
 * @pd: protection domain
 * @buf: memory to send from and to receive data into
 * @buf_mr: its registration, which the peer may write to
 * @seq: number of the last honest request
 */
struct path {
	const char *addr;
	const char *port;
	struct con cons[CONS_MAX];
	u32 nr_cons;
	struct rtrs_msg_conn_req req;
	char name[RTRS_MAX_NAME];
	u32 depth;
	u32 chunk_size;
	u32 hdr_size;
	bool secure;
	struct chunk *chunks;
	struct ibv_pd *pd;
	u8 *buf;
	struct ibv_mr *buf_mr;
	u32 seq;
};

/**
 * struct wr - a work request
 * @opcode: what to do
 * @local: bytes to send; within the buffer of the path
 * @len: their number
 * @remote: where to, or the key to invalidate
 * @imm: immediate data, in host order
 */
struct wr {
	enum ibv_wr_opcode opcode;
	u8 *local;
	u32 len;
	struct chunk remote;
	u32 imm;
};

/**
 * enum stage - how far the path comes up before the attack
 * @NOTHING: it is prepared
 * @ACCEPTED: connection 0 is established
 * @CONNECTED: all are
 * @UP: info_rsp has come
 */
enum stage { NOTHING, ACCEPTED, CONNECTED, UP };

/**
 * enum outcome - what must happen
 * @REFUSED: the connection request is rejected, with an errno
 * @CLOSED: the peer closes the path
 * @HARMLESS: the path goes on: honest requests are answered
 * @EITHER: that, or the peer closes the path
 */
enum outcome { REFUSED, CLOSED, HARMLESS, EITHER };

/**
 * struct attack - a row of the table
 * @name: for the command line
 * @stage: honest until here
 * @run: breaks the rule; returns what the peer has answered, if anything
 * @arg: for @run
 * @text: for @run
 * @outcome: what must happen
 * @err: with REFUSED: what @run returns
 * @rule: what the peer's log says, NULL for nothing
 * @ms: time that it may take, 0 for REPLY_MS
 */
struct attack {
	const char *name;
	enum stage stage;
	int (*run)(struct path *path, const struct attack *attack);
	u64 arg;
	const char *text;
	enum outcome outcome;
	int err;
	const char *rule;
	u32 ms;
};

extern const struct attack connect_attacks[];
extern const struct attack info_attacks[];
extern const struct attack silent_attacks[];
extern const struct attack message_attacks[];
extern const struct attack request_attacks[];
extern const struct attack secure_attacks[];
extern const struct attack plain_attacks[];

/* con.c */
noreturn void die(const char *fmt, ...);
u64 now_ms(void);
void con_init(void);
void con_resolve(struct con *con, const char *addr, const char *port);
void con_create_qp(struct con *con, struct ibv_pd *pd);
int con_connect(struct con *con, const void *data, u8 len);
bool con_alive(struct con *con);
void con_post(struct con *con, struct ibv_mr *mr, const struct wr *wrs, u32 nr);
bool con_recv(struct con *con, u32 ms, struct ibv_wc *wc);
const void *con_data(struct con *con, const struct ibv_wc *wc);
void con_repost(struct con *con, const struct ibv_wc *wc);
void con_close(struct con *con);

/* path.c */
void path_init(struct path *path, const char *addr, const char *port);
int path_connect(struct path *path, u32 cid);
int path_connect_as(struct path *path, u32 slot,
		    const struct rtrs_msg_conn_req *req);
void path_connect_from(struct path *path, u32 cid);
void path_send(struct path *path, u32 cid, const void *data, u32 len);
void path_send_info(struct path *path);
void path_get_info(struct path *path);
bool path_try_info(struct path *path);
void path_bring_up(struct path *path, enum stage stage);
void path_post(struct path *path, u32 cid, const struct wr *wr);
bool path_gone(struct path *path, u32 ms);
void path_close(struct path *path);

/* fill.c */
int fill(const char *addr, const char *port, const char *stage);

/* request.c */
u32 request_imm(struct path *path, u32 id, u32 off);
void request_post(struct path *path, u32 cid, u32 id, const void *usr,
		  u32 usr_len, u32 data_len, const void *hdr, u32 hdr_len);
int request_answer(struct path *path, u32 cid, u32 id, u32 ms);
int request_honest(struct path *path, u32 cid, u32 id, u32 read_len);
u32 request_usr(struct path *path, void *usr, u32 read_len, u8 mode,
		u32 delay_us);

/* log.c */
void log_open(void);
void log_mark(void);
u32 log_count(const char *rule, const char *peer);
void log_pace(void);

#endif /* HOSTILE_H */
