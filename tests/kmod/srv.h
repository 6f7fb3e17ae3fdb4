/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The test server: private to its files.
 */
#ifndef RTRS_TEST_SRV_H
#define RTRS_TEST_SRV_H

#include <linux/atomic.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "rtrs.h"
#include "rtrs-test.h"

/**
 * struct tsrv_knobs - what a test can change while a port is open
 * @refuse: errno with which link_ev refuses sessions, 0: none
 * @corrupt: every so many successful READs one byte of the answer is wrong
 * @drop: every so many requests one is answered as late as with RTEST_NEVER
 */
struct tsrv_knobs {
	u32 refuse;
	u32 corrupt;
	u32 drop;
};

/**
 * struct tsrv_stats - what has happened on a port since it was opened
 * @connected: sessions that came
 * @disconnected: sessions that went
 * @refused: sessions that were refused
 * @requests: calls of rdma_ev
 * @answered: calls of rtrs_srv_resp_rdma, and errors returned from rdma_ev
 * @queued: answers that found the send queue full
 * @tiny: requests whose user message has no head
 * @data_bytes: bytes of data that were compared or filled in
 * @usr_bytes: bytes of user messages that were compared
 * @data_mismatches: WRITEs with wrong data
 * @usr_mismatches: requests with a wrong user message
 * @usr_changed: those whose user message was another one when they were answered
 * @late: calls of rdma_ev outside of the life of their session
 * @pending: requests without an answer yet
 * @unfinished: requests that were pending when their session went
 */
struct tsrv_stats {
	atomic_t connected;
	atomic_t disconnected;
	atomic_t refused;
	atomic_t requests;
	atomic_t answered;
	atomic_t queued;
	atomic_t tiny;
	atomic64_t data_bytes;
	atomic64_t usr_bytes;
	atomic_t data_mismatches;
	atomic_t usr_mismatches;
	atomic_t usr_changed;
	atomic_t late;
	atomic_t pending;
	atomic_t unfinished;
};

/**
 * struct tsrv_ctx - a port
 * @index: number of the slot, tells the callbacks apart
 * @port: its number; 0 in a slot that was never used
 * @dir: in debugfs
 * @lock: held while it is opened and closed
 * @ctx: what rtrs_srv_open() returned, NULL when closed
 * @knobs: see there
 * @stats: see there
 * @list_lock: protects what follows; taken from hard interrupts
 * @closing: nothing is withheld any more
 * @withheld: operations to be answered when told to
 * @reorder: operations to be answered in reverse order
 * @nr_reorder: their number
 * @sessions: all since the port was opened; they are freed when it is closed
 * @reorder_work: answers what waits in @reorder for company that never comes
 */
struct tsrv_ctx {
	unsigned int index;
	u16 port;
	struct dentry *dir;
	struct mutex lock; /* opening and closing */
	struct rtrs_srv_ctx *ctx;
	struct tsrv_knobs knobs;
	struct tsrv_stats stats;
	spinlock_t list_lock; /* protects what follows */
	bool closing;
	struct list_head withheld;
	struct list_head reorder;
	unsigned int nr_reorder;
	struct list_head sessions;
	struct delayed_work reorder_work;
};

/**
 * struct tsrv_sess - a session
 * @entry: in the list of the context
 * @ctx: port
 * @connected: between the two calls of link_ev
 * @id: random number that came with its first request
 * @requests: calls of rdma_ev
 * @pending: those without an answer yet
 * @depth: its queue depth
 * @name: its name
 */
struct tsrv_sess {
	struct list_head entry;
	struct tsrv_ctx *ctx;
	bool connected;
	u64 id;
	atomic_t requests;
	atomic_t pending;
	int depth;
	char name[NAME_MAX + 1];
};

/* srv-main.c */
extern struct workqueue_struct *tsrv_wq;

/* srv-req.c */
int tsrv_rdma_ev(void *priv, struct rtrs_srv_op *id, void *data,
		 size_t datalen, const void *usr, size_t usrlen);
void tsrv_flush(struct tsrv_ctx *ctx);
void tsrv_reorder_timeout(struct work_struct *work);

#endif /* RTRS_TEST_SRV_H */
