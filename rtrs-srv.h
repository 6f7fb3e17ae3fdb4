/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RTRS server: what its files share.
 *
 * Objects: a context for each rtrs_srv_open(), a session for each paths_uuid
 * that a client came with, a path for each sess_uuid, its connections, and
 * one operation for each chunk and path.  The chunks belong to the session;
 * each of its paths registers them on a device of its own.
 *
 * Locks, outermost first: the CM's handler lock, a context's lock, a
 * connection's early_lock, its sq_lock, a path's lock.  A session's lock is
 * held while the ULP is called and is taken by works alone, with no other one
 * held; likewise the lock of sysfs.  The locks of chunks and names are
 * innermost.
 *
 * Stock rnbd includes this header to trace the direction of an operation.
 */
#ifndef RTRS_SRV_H
#define RTRS_SRV_H

#include <linux/completion.h>
#include <linux/device.h>
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/printk.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "rtrs.h"
#include "rtrs-core.h"

struct seq_file;

enum rtrs_srv_limits {
	RTRS_SRV_HDR_SIZE	= 4096,	/* of each chunk, behind the data */
	RTRS_SRV_MAX_CONS	= 16384, /* of a path: CPUs and poll queues */
	RTRS_SRV_EARLY_MAX	= 16,	/* messages before the RTU */
	RTRS_SRV_HANDSHAKE_S	= 35,	/* for a path's set-up; a client's: 30 */
	RTRS_SRV_NAME_WAIT_S	= 10,	/* for a session that is going */

	/* work requests of one operation */
	RTRS_SRV_INV_WR		= 1,	/* LOCAL_INV of the chunk's key */
	RTRS_SRV_DATA_WR	= 1,	/* RDMA_WRITE of a read's data */
	RTRS_SRV_REG_WR		= 1,	/* REG_MR of the chunk's next key */
	RTRS_SRV_PEER_INV_WR	= 1,	/* SEND_WITH_INV of the read's key */
	RTRS_SRV_RSP_WR		= 1,	/* the answer itself */
	RTRS_SRV_ANSWER_WR	= RTRS_SRV_DATA_WR + RTRS_SRV_REG_WR +
				  RTRS_SRV_PEER_INV_WR + RTRS_SRV_RSP_WR,
	RTRS_SRV_OP_WR		= RTRS_SRV_INV_WR + RTRS_SRV_ANSWER_WR,

	RTRS_SRV_INFO_WR	= 1,	/* info_rsp */
	RTRS_SRV_SQ_MAX		= 8192,	/* beyond it answers wait their turn */
	RTRS_SRV_QUIET_MAX	= 32,	/* slots without a sign of progress */
	RTRS_SRV_REG_BATCH	= 64,	/* first registrations in one post */
};

/* What the client may do to the chunks. */
#define RTRS_SRV_MR_ACCESS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

/**
 * struct rtrs_srv_ctx - what one rtrs_srv_open() listens for
 * @ops: callbacks of the ULP
 * @ip_id: listens on the port, IPv4 and IPv6
 * @ib_id: listens for AF_IB addresses; NULL if that was not possible
 * @lock: Protects what follows up to @nr_half_open, and the list of paths of
 *	each session.  Taken by CM handlers; nobody sleeps for a ULP or a CM event under it
 * @sessions: list of struct rtrs_srv_sess
 * @nr_sessions: their number
 * @clients: addresses that their paths come from
 * @nr_half_open: connections of paths that are not connected yet
 * @ref: the opener and each session
 * @gone: completed with the last reference
 * @port: in host order
 * @debugfs: its file there
 * @id: for the log
 *
 * Lifetime: created by rtrs_srv_open(); freed by rtrs_srv_close(), which waits
 * for the end of all sessions.
 */
struct rtrs_srv_ctx {
	struct rtrs_srv_ops ops;
	struct rdma_cm_id *ip_id;
	struct rdma_cm_id *ib_id;
	struct mutex lock;	/* Protects sessions, their paths, clients. */
	struct list_head sessions;
	unsigned int nr_sessions;
	struct list_head clients;
	unsigned int nr_half_open;
	struct kref ref;
	struct completion gone;
	u16 port;
	struct dentry *debugfs;
	unsigned int id;
};

/**
 * struct rtrs_srv_chunk - a buffer that requests arrive in
 * @data: physically contiguous memory
 * @usr: the user message of @owner: a copy, RTRS_SRV_HDR_SIZE bytes
 * @lock: Protects @owner and @waiters.  Innermost, irqs off
 * @owner: operation that the ULP works on
 * @waiters: operations of other paths for this chunk: the client gave up on
 *	the path of @owner and came again
 */
struct rtrs_srv_chunk {
	void *data;
	void *usr;
	spinlock_t lock;	/* Protects owner and waiters. */
	struct rtrs_srv_op *owner;
	struct list_head waiters;
};

/**
 * struct rtrs_srv_sess - a client's session
 * @ctx: context that it came to
 * @entry: in @ctx->sessions
 * @uuid: paths_uuid
 * @paths: list of struct rtrs_srv_path; under @ctx->lock
 * @nr_paths: their number, and that of those which are closed but whose
 *	operations the ULP still holds; under @ctx->lock
 * @nr_live: paths that are not closing
 * @name: given by the client with its first info_req
 * @named: @name is valid; read with acquire semantics
 * @name_entry: in the list of names
 * @lock: Protects @chunks until they are there, and @nr_linked; held while
 *	link_ev runs, so that its calls come in order
 * @chunks: one for each of the queue's depth; NULL until a path has shown a
 *	valid request
 * @nr_linked: paths that the ULP counts as connected
 * @priv: the ULP's
 * @dev: directory in sysfs; with @paths_dir and @nr_dirs under the lock of
 *	rtrs-srv-sysfs.c
 * @paths_dir: the directory "paths" in it
 * @nr_dirs: path directories in there
 * @id: for the log
 *
 * Lifetime: created by the first connection request that names it; exists as
 * long as it has paths, and is freed by the work that ends the last of them.
 */
struct rtrs_srv_sess {
	struct rtrs_srv_ctx *ctx;
	struct list_head entry;
	u8 uuid[RTRS_UUID_SIZE];
	struct list_head paths;
	unsigned int nr_paths;
	atomic_t nr_live;
	char name[RTRS_MAX_NAME];
	bool named;
	struct list_head name_entry;
	struct mutex lock;	/* Protects chunks and nr_linked. */
	struct rtrs_srv_chunk *chunks;
	unsigned int nr_linked;
	void *priv;
	struct device *dev;
	struct kobject *paths_dir;
	unsigned int nr_dirs;
	unsigned int id;
};

/**
 * enum rtrs_srv_path_state - states of a path; it only moves forward
 * @RTRS_SRV_CONNECTING: connections come up; no request is accepted
 * @RTRS_SRV_CONNECTED: the client knows the chunks' keys; requests flow
 * @RTRS_SRV_CLOSING: the close work is queued or runs; nothing is posted
 * @RTRS_SRV_CLOSED: nothing of it is left on the device; the ULP may still
 *	hold operations
 */
enum rtrs_srv_path_state {
	RTRS_SRV_CONNECTING,
	RTRS_SRV_CONNECTED,
	RTRS_SRV_CLOSING,
	RTRS_SRV_CLOSED,
};

/**
 * struct rtrs_srv_op - one request
 * @path: path that it came over
 * @con: connection that it came over and is answered on; gone once the path
 *	is CLOSED
 * @cid: its number
 * @id: number of the chunk
 * @dir: READ or WRITE, from the client's point of view
 * @off: offset of the message header in the chunk
 * @status: what the ULP finished it with
 * @answered: the ULP has finished it
 * @busy: bit 0: in use, from the receive until its answer is about to be posted
 * @since: when it was received, in jiffies
 * @req: the request, checked
 * @inv_cqe: completion of LOCAL_INV
 * @work: calls the ULP
 * @entry: in the backlog of @con or among the waiters for its chunk
 *
 * Lifetime: one for each chunk, allocated and freed with the path.  While busy
 * it holds a reference to @path->ops_ref and is in exactly one place: the send
 * queue (LOCAL_INV), a backlog, the workqueue, the waiters of its chunk, or the
 * ULP.  It stops being busy before its answer is posted: once the answer is on
 * its way, the client may use the chunk again.
 */
struct rtrs_srv_op {
	struct rtrs_srv_path *path;
	struct rtrs_srv_con *con;
	u16 cid;
	u32 id;
	int dir;
	u32 off;
	int status;
	bool answered;
	unsigned long busy;
	unsigned long since;
	struct rtrs_io_req req;
	struct ib_cqe inv_cqe;
	struct work_struct work;
	struct list_head entry;
};

/**
 * struct rtrs_srv_con - a connection of a path
 * @c: what the core knows of it
 * @path: its path
 * @sq_lock: Protects the send queue's accounting and @backlog, and keeps posts
 *	and accounting in the same order.  Irqs off; outside a path's lock
 * @sq_size: slots
 * @sq_used: slots whose work requests may still be in the queue
 * @sq_quiet: of these, the ones posted after the last signalled work request
 * @sq_signal: value of @sq_quiet at which the next work request is signalled
 * @sq_counts: for each signalled work request the slots it gives back; a ring
 * @sq_head: next free entry of @sq_counts
 * @sq_tail: oldest entry in use
 * @backlog: operations that wait for slots, in order
 * @signal_cqe: completion of signalled answers
 * @quiet_cqe: completion of what is not signalled, that is, of failures
 * @early_lock: Protects the following three.  Outside @sq_lock
 * @established: the CM has said so
 * @nr_early: messages that came before
 * @early: their immediate data
 * @id: for the log
 *
 * Lifetime: created by the handler of a connection request; freed, with its
 * cm_id, by the close work of the path.
 */
struct rtrs_srv_con {
	struct rtrs_con c;
	struct rtrs_srv_path *path;
	spinlock_t sq_lock;	/* Protects sq_... and backlog. */
	u32 sq_size;
	u32 sq_used;
	u32 sq_quiet;
	u32 sq_signal;
	u16 *sq_counts;
	u32 sq_head;
	u32 sq_tail;
	struct list_head backlog;
	struct ib_cqe signal_cqe;
	struct ib_cqe quiet_cqe;
	spinlock_t early_lock;	/* Protects the next three. */
	bool established;
	u32 nr_early;
	u32 early[RTRS_SRV_EARLY_MAX];
	unsigned int id;
};

/**
 * struct rtrs_srv_stats - what one CPU has counted on a path
 * @requests: requests handed to the ULP, by direction
 * @bytes: their data, by direction
 */
struct rtrs_srv_stats {
	u64 requests[2];
	u64 bytes[2];
};

/**
 * struct rtrs_srv_file - a file of a path in sysfs
 * @attr: the attribute
 * @path: the path that it belongs to
 *
 * Lifetime: part of the path.
 */
struct rtrs_srv_file {
	struct kobj_attribute attr;
	struct rtrs_srv_path *path;
};

/**
 * struct rtrs_srv_path - a path of a session
 * @sess: its session
 * @entry: in @sess->paths
 * @client: what is counted for the client's address
 * @nr_half_open: connections that are counted there
 * @uuid: sess_uuid
 * @recon_cnt: the client's attempt that it belongs to
 * @cid_num: number of connections
 * @src: the client's address
 * @dst: our address
 * @str: both, as the directory in sysfs is called
 * @dev: the device
 * @port_num: port of the device
 * @lock: Protects @state, @cons, and the following four.  Irqs off
 * @state: changed by rtrs_srv_path_set_state() alone; read with acquire
 *	semantics by those who do not hold @lock
 * @cons: connections by cid
 * @nr_pending: handlers of connection requests that work on an entry of @cons
 * @nr_up: connections that are established
 * @info_len: length of the info_req that has arrived, -1 before
 * @up_queued: @up_work was queued
 * @wait: woken when @state, @nr_pending or @reg_err changes
 * @up_work: from the last connection to the state CONNECTED
 * @close_work: takes everything off the device
 * @end_work: after the ULP's last operation: frees the path
 * @deadline: closes a path whose handshake takes too long
 * @ops_ref: one reference for each operation that is busy
 * @ops: operations by chunk
 * @rkeys: rkey_rsp messages by chunk, mapped for DMA as one
 * @rkeys_dma: their address
 * @chunk_dma: addresses of the chunks on @dev
 * @nr_mapped: number of valid entries of @chunk_dma
 * @mrs: memory regions
 * @nr_mrs: their number; a divisor of the queue's depth
 * @reg_cqe: completion of the first registrations
 * @reg_quiet_cqe: of those that are not signalled
 * @reg_err: 1 while a batch of them is in the send queue, else its result
 * @info_req: receives info_req
 * @info_rsp: holds info_rsp
 * @hb: heartbeat
 * @linked: counted in @sess->nr_linked
 * @stats: counters of requests
 * @dir: directory in sysfs
 * @stats_dir: the directory "stats" in it
 * @files: its files
 * @id: for the log
 *
 * Lifetime: created by the handler of its first connection request, under the
 * context's lock.  The first who moves it to CLOSING queues @close_work; that
 * one ends with the death of @ops_ref, whose last put queues @end_work, which
 * frees the path.  Nobody else needs a reference: those who find the path in
 * the list hold the context's lock or are counted in @nr_pending, completions
 * and CM events have ended when @close_work frees the connections, and
 * operations hold @ops_ref.
 *
 * An operation that the ULP finishes late touches connections and device only
 * within an RCU read section that began with a look at @state; the close work
 * waits for these sections.
 */
struct rtrs_srv_path {
	struct rtrs_srv_sess *sess;
	struct list_head entry;
	struct rtrs_srv_client *client;
	unsigned int nr_half_open;
	u8 uuid[RTRS_UUID_SIZE];
	u16 recon_cnt;
	u16 cid_num;
	struct sockaddr_storage src;
	struct sockaddr_storage dst;
	char str[128];
	struct rtrs_dev *dev;
	u32 port_num;
	spinlock_t lock;	/* Protects state to up_queued. */
	enum rtrs_srv_path_state state;
	struct rtrs_srv_con **cons;
	unsigned int nr_pending;
	unsigned int nr_up;
	int info_len;
	bool up_queued;
	wait_queue_head_t wait;
	struct work_struct up_work;
	struct work_struct close_work;
	struct work_struct end_work;
	struct delayed_work deadline;
	struct percpu_ref ops_ref;
	struct rtrs_srv_op *ops;
	struct rtrs_msg_rkey_rsp *rkeys;
	dma_addr_t rkeys_dma;
	dma_addr_t *chunk_dma;
	u32 nr_mapped;
	struct ib_mr **mrs;
	u32 nr_mrs;
	struct ib_cqe reg_cqe;
	struct ib_cqe reg_quiet_cqe;
	int reg_err;
	struct rtrs_buf *info_req;
	struct rtrs_buf *info_rsp;
	struct rtrs_hb hb;
	bool linked;
	struct rtrs_srv_stats __percpu *stats;
	struct kobject *dir;
	struct kobject *stats_dir;
	struct rtrs_srv_file files[6];
	unsigned int id;
};

/*
 * Log lines of a path say which session and which addresses.  Those that a
 * peer can cause are rate limited.  Formats come without the end of the line.
 */
#define rtrs_srv_log(level, path, fmt, ...) do {			\
	struct rtrs_srv_path *_log = (path);				\
									\
	pr_##level("%s %s: " fmt "\n",					\
		   rtrs_srv_sess_name(_log->sess), _log->str,		\
		   ##__VA_ARGS__);					\
} while (0)

#define rtrs_srv_err(path, fmt, ...) \
	rtrs_srv_log(err_ratelimited, path, fmt, ##__VA_ARGS__)
#define rtrs_srv_info(path, fmt, ...) \
	rtrs_srv_log(info_ratelimited, path, fmt, ##__VA_ARGS__)
#define rtrs_srv_dbg(path, fmt, ...) \
	rtrs_srv_log(debug, path, fmt, ##__VA_ARGS__)

/*
 * Closes a path because of an error, which is printed if it is the first one
 * of the path.  Context: any, while the path is sure to exist; it may be gone
 * afterwards.
 */
#define rtrs_srv_path_fail(path, fmt, ...) do {				\
	struct rtrs_srv_path *_path = (path);				\
									\
	rcu_read_lock();						\
	if (rtrs_srv_path_close(_path))					\
		rtrs_srv_err(_path, fmt, ##__VA_ARGS__);		\
	rcu_read_unlock();						\
} while (0)

/* rtrs-srv.c: parameters and what follows from them */
extern bool rtrs_srv_secure;
extern struct rtrs_conn_rsp rtrs_srv_geo;
extern struct workqueue_struct *rtrs_srv_wq;
extern struct workqueue_struct *rtrs_srv_up_wq;
u32 rtrs_srv_chunk_size(void);
unsigned int rtrs_srv_new_id(void);

/* rtrs-srv.c: sessions */
struct rtrs_srv_sess *rtrs_srv_sess_find(struct rtrs_srv_ctx *ctx,
					 const u8 *uuid);
struct rtrs_srv_sess *rtrs_srv_sess_create(struct rtrs_srv_ctx *ctx,
					   const u8 *uuid);
void rtrs_srv_sess_path_connected(struct rtrs_srv_path *path);
void rtrs_srv_sess_hide_path(struct rtrs_srv_path *path);
void rtrs_srv_sess_del_path(struct rtrs_srv_path *path);
const char *rtrs_srv_sess_name(struct rtrs_srv_sess *sess);
int __must_check rtrs_srv_sess_set_name(struct rtrs_srv_path *path,
					const char *name);
void rtrs_srv_wake_up_works(void);
int __must_check rtrs_srv_sess_get_chunks(struct rtrs_srv_path *path);
int __must_check rtrs_srv_sess_wait_orphans(struct rtrs_srv_path *path);
int __must_check rtrs_srv_sess_link(struct rtrs_srv_path *path);
void rtrs_srv_sess_unlink(struct rtrs_srv_path *path);

/* rtrs-srv-path.c */
int __must_check rtrs_srv_path_join(struct rtrs_srv_ctx *ctx,
				    struct rtrs_srv_con *con,
				    const struct rtrs_conn_req *req,
				    const char **rule);
void rtrs_srv_path_joined(struct rtrs_srv_path *path);
bool rtrs_srv_path_set_state(struct rtrs_srv_path *path,
			     enum rtrs_srv_path_state state);
bool rtrs_srv_path_close(struct rtrs_srv_path *path);
void rtrs_srv_path_con_up(struct rtrs_srv_path *path);
void rtrs_srv_path_got_info(struct rtrs_srv_path *path, u32 len);

/**
 * rtrs_srv_path_state() - state of a path, for those who do not hold its lock
 * @path: path
 *
 * What was set up before the state was changed is seen after this.
 *
 * Context: Any.
 * Return: the state.
 */
static inline enum rtrs_srv_path_state
rtrs_srv_path_state(struct rtrs_srv_path *path)
{
	/* Pairs with smp_store_release() in rtrs_srv_path_set_state(). */
	return smp_load_acquire(&path->state);
}

/* rtrs-srv-con.c */
int rtrs_srv_listen_event(struct rdma_cm_id *cm_id,
			  struct rdma_cm_event *event);
void rtrs_srv_con_peer_talks(struct rtrs_srv_con *con);
bool rtrs_srv_con_keep_early(struct rtrs_srv_con *con, u32 imm);
void rtrs_srv_con_destroy(struct rtrs_srv_con *con);

/* rtrs-srv-io.c: requests and answers */
void rtrs_srv_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void rtrs_srv_recv_imm(struct rtrs_srv_con *con, u32 imm);
void rtrs_srv_wc_failed(struct rtrs_srv_path *path, const struct ib_wc *wc,
			const char *what);
void rtrs_srv_con_init_sq(struct rtrs_srv_con *con);
void rtrs_srv_con_purge(struct rtrs_srv_con *con);
void rtrs_srv_op_init(struct rtrs_srv_op *op, struct rtrs_srv_path *path,
		      u32 id);
bool rtrs_srv_sess_has_orphans(struct rtrs_srv_sess *sess);
int rtrs_srv_io_init(void);
void rtrs_srv_io_exit(void);

/* rtrs-srv-limit.c */
int __must_check rtrs_srv_limit_add_path(struct rtrs_srv_ctx *ctx,
					 struct rtrs_srv_path *path,
					 bool new_sess, const char **rule);
void rtrs_srv_limit_del_path(struct rtrs_srv_ctx *ctx,
			     struct rtrs_srv_path *path);
int __must_check rtrs_srv_limit_check_con(struct rtrs_srv_ctx *ctx,
					  struct rtrs_srv_path *path,
					  const char **rule);
void rtrs_srv_limit_add_con(struct rtrs_srv_ctx *ctx,
			    struct rtrs_srv_path *path);
void rtrs_srv_limit_del_cons(struct rtrs_srv_ctx *ctx,
			     struct rtrs_srv_path *path);
void rtrs_srv_limit_show(struct rtrs_srv_ctx *ctx, struct seq_file *m);
bool __must_check rtrs_srv_limit_take_mem(void);
void rtrs_srv_limit_give_mem(void);

/* rtrs-srv-mem.c: operations, chunks and keys of a path */
int __must_check rtrs_srv_path_alloc_mem(struct rtrs_srv_path *path);
void rtrs_srv_path_unmap_mem(struct rtrs_srv_path *path);
void rtrs_srv_path_free_mem(struct rtrs_srv_path *path);
int __must_check rtrs_srv_path_register(struct rtrs_srv_path *path);

/* rtrs-srv-stats.c */
void rtrs_srv_stats_count(const struct rtrs_srv_op *op);
void rtrs_srv_stats_sum(const struct rtrs_srv_path *path,
			struct rtrs_srv_stats *sum);
void rtrs_srv_stats_reset(struct rtrs_srv_path *path);

/* rtrs-srv-debugfs.c */
extern u32 rtrs_srv_max_slots;
extern u32 rtrs_srv_established_delay_ms;
void rtrs_srv_debugfs_add_ctx(struct rtrs_srv_ctx *ctx);
void rtrs_srv_debugfs_del_ctx(struct rtrs_srv_ctx *ctx);
void rtrs_srv_debugfs_init(void);
void rtrs_srv_debugfs_exit(void);

/* rtrs-srv-sysfs.c */
int rtrs_srv_sysfs_init(void);
void rtrs_srv_sysfs_exit(void);
int __must_check rtrs_srv_sysfs_add_path(struct rtrs_srv_path *path);
void rtrs_srv_sysfs_del_path(struct rtrs_srv_path *path);

#endif /* RTRS_SRV_H */
