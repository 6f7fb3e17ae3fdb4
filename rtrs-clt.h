/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RTRS client: its objects, and what its files offer to each other.
 *
 * A session has paths; a connected path has a link; a link has connections,
 * requests and the table of the server's chunks.  A link is made whole by one
 * attempt to connect, and thrown away whole when anything on it fails: nothing
 * is ever repaired.
 */
#ifndef RTRS_CLT_H
#define RTRS_CLT_H

#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sbitmap.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "rtrs.h"
#include "rtrs-core.h"

enum rtrs_clt_limits {
	RTRS_CLT_CONNECT_MS	= 30000,	/* one attempt, all its steps */
	RTRS_CLT_BUSY_MS	= 50,		/* before asking a busy server again */
	RTRS_CLT_RESOLVE_MS	= 5000,		/* an address or a route */
	RTRS_CLT_MAX_WRITE_WR	= 8,		/* WRs of one write request */
	RTRS_CLT_READ_WR	= 3,		/* REG_MR, message, LOCAL_INV */
	RTRS_CLT_SERVICE_REQS	= 512,		/* in flight on cid 0 */
	RTRS_CLT_SERVICE_WR	= RTRS_CLT_SERVICE_REQS * RTRS_CLT_READ_WR,
	RTRS_CLT_MAX_RECONNECTS	= 9999,
	RTRS_CLT_TRACE_NAME	= 64,		/* of a name in a trace point */
	RTRS_CLT_HDR_SIZE	= 4096,		/* most that we fill of a header */
};

/**
 * enum rtrs_clt_path_state - where a path stands
 * @RTRS_CLT_CONNECTING: one thread is building a link
 * @RTRS_CLT_CONNECTED: @link is published and carries requests
 * @RTRS_CLT_RECOVERING: the recovery work takes the broken link down
 * @RTRS_CLT_WAITING: no link; the connect work runs after the delay
 * @RTRS_CLT_CLOSING: somebody takes the path down for good
 * @RTRS_CLT_CLOSED: no link, no work
 */
enum rtrs_clt_path_state {
	RTRS_CLT_CONNECTING,
	RTRS_CLT_CONNECTED,
	RTRS_CLT_RECOVERING,
	RTRS_CLT_WAITING,
	RTRS_CLT_CLOSING,
	RTRS_CLT_CLOSED,
};

/**
 * enum rtrs_clt_policy - which connected path gets the next request
 * @RTRS_CLT_ROUND_ROBIN: the one after the last
 * @RTRS_CLT_MIN_INFLIGHT: the one with the fewest requests in flight
 * @RTRS_CLT_MIN_LATENCY: the one whose last heartbeat was answered fastest
 */
enum rtrs_clt_policy {
	RTRS_CLT_ROUND_ROBIN,
	RTRS_CLT_MIN_INFLIGHT,
	RTRS_CLT_MIN_LATENCY,
};

enum { RTRS_CLT_LATENCY_BUCKETS = 24 };

/**
 * struct rtrs_clt_pcpu_stats - what one CPU has counted on a path
 * @requests: requests sent, by direction
 * @bytes: their data, by direction
 * @failed_over: requests that another path had to take over
 * @migrated_to: completions here of requests that another CPU had sent
 * @latency: completed requests; bucket n counts those that took less than 2^n
 *	microseconds, the last one all others
 * @migrated_from: requests sent here whose completion ran on another CPU,
 *	which counts them
 */
struct rtrs_clt_pcpu_stats {
	u64 requests[2];
	u64 bytes[2];
	u64 failed_over;
	u64 migrated_to;
	u64 latency[RTRS_CLT_LATENCY_BUCKETS];
	atomic_long_t migrated_from;
};

/**
 * struct rtrs_permit - the right to use one chunk
 * @mem_id: number of the chunk, and of the request on every link
 * @cpu: CPU that took it
 * @con_type: which connection carries the request
 * @pdu: the ULP's own bytes
 *
 * Lifetime: as long as the session.
 */
struct rtrs_permit {
	u32 mem_id;
	u32 cpu;
	enum rtrs_clt_con_type con_type;
	u8 pdu[] __aligned(sizeof(u64));
};

/**
 * struct rtrs_clt_sess - a session
 * @dev: directory in /sys/class/rtrs-client; its release frees the session
 * @paths_kobj: directory "paths" in it
 * @debugfs: file in debugfs
 * @entry: in the list of sessions
 * @name: unique among the sessions
 * @uuid: tells the server which paths belong together
 * @ops: callbacks of the ULP
 * @port: port of the server
 * @pdu_sz: bytes of the ULP's own in each permit
 * @nr_poll_queues: connections that are polled
 * @reconnect_delay: seconds
 * @max_reconnect_attempts: in a row; -1 for ever
 * @policy: enum rtrs_clt_policy
 * @rr_next: round-robin: where this CPU goes on
 * @attrs: limits; queue_depth is set by the first connected path for good
 * @permits: the permits, @permit_size bytes each
 * @permit_size: bytes from one permit to the next
 * @permit_map: bit set: permit is out
 * @permit_wait: those who wait for one, in order
 * @lock: protects changes of @paths, @closing
 * @paths: RCU list of paths; who takes one out of it owns its end
 * @nr_paths: paths that exist, in the list or not
 * @closing: no path is added any more
 * @wait: handshakes wait here for their steps, for an error, for an end;
 *	rtrs_clt_close() for @nr_paths
 * @link_lock: protects @nr_connected, @events; held while link_ev runs
 * @nr_connected: paths in state CONNECTED
 * @events: link_ev may be called
 *
 * Lifetime: created by rtrs_clt_open(), ended by rtrs_clt_close(); freed with
 * the last reference to @dev, which an open sysfs file may hold.
 */
struct rtrs_clt_sess {
	struct device dev;
	struct kobject *paths_kobj;
	struct dentry *debugfs;
	struct list_head entry;
	char name[RTRS_MAX_NAME];
	u8 uuid[RTRS_UUID_SIZE];
	struct rtrs_clt_ops ops;
	u16 port;
	size_t pdu_sz;
	u32 nr_poll_queues;
	u8 reconnect_delay;
	s16 max_reconnect_attempts;
	enum rtrs_clt_policy policy;
	u32 __percpu *rr_next;

	struct rtrs_attrs attrs;
	void *permits;
	size_t permit_size;
	struct sbitmap permit_map;
	wait_queue_head_t permit_wait;

	struct mutex lock;	/* Protects changes of paths, closing. */
	struct list_head paths;
	atomic_t nr_paths;
	bool closing;
	wait_queue_head_t wait;

	struct mutex link_lock;	/* Protects nr_connected, events. */
	u32 nr_connected;
	bool events;
};

/**
 * struct rtrs_clt_path - one route to the server
 * @kobj: directory in "paths"; its release frees the path
 * @sess: session
 * @entry: in the session's list of paths
 * @name: "src@dst" once it was connected, before that what was asked for
 * @uuid: identifies the path to the server
 * @src: source address; AF_UNSPEC lets the routing decide
 * @dst: destination address with port
 * @hca_name: device that it used last
 * @hca_port: port of the device that it used last
 * @first: first path of the session
 * @established: it was connected before
 * @recon_cnt: attempts to connect so far
 * @attempts: attempts that failed in a row
 * @last_err: why it was lost, or could not be connected, the last time
 * @changed: when @state changed last
 * @inflight: requests on its link
 * @stats: counters of requests
 * @nr_reconnects: attempts to reconnect that worked, and that failed
 * @admin: serializes reconnect and disconnect
 * @dying: the path is on its way out, a handshake shall be given up
 * @listed: in the session's list; under the session's link_lock
 * @counted: in the session's nr_connected; under the session's link_lock
 * @delay: jiffies from WAITING to the next attempt
 * @lock: protects @state, @changed
 * @state: see enum rtrs_clt_path_state
 * @link: the link while CONNECTED, else NULL
 * @recovery_work: takes a broken link down
 * @connect_work: builds a new one after the delay
 *
 * Lifetime: created by rtrs_clt_path_create(), closed and put by
 * rtrs_clt_path_destroy(); readers under RCU may see it until then.
 */
struct rtrs_clt_path {
	struct kobject kobj;
	struct rtrs_clt_sess *sess;
	struct list_head entry;
	char name[128];
	u8 uuid[RTRS_UUID_SIZE];
	struct sockaddr_storage src;
	struct sockaddr_storage dst;
	char hca_name[IB_DEVICE_NAME_MAX];
	u32 hca_port;
	bool first;
	bool established;
	u16 recon_cnt;
	int attempts;
	int last_err;
	time64_t changed;

	atomic_t inflight;
	struct rtrs_clt_pcpu_stats __percpu *stats;
	atomic_t nr_reconnects[2];

	struct mutex admin;	/* Serializes reconnect and disconnect. */
	bool dying;
	bool listed;
	bool counted;
	unsigned long delay;
	spinlock_t lock;	/* Protects state, changed. */
	enum rtrs_clt_path_state state;
	struct rtrs_clt_link __rcu *link;
	struct work_struct recovery_work;
	struct delayed_work connect_work;
};

/**
 * struct rtrs_clt_con - a connection of a link
 * @c: the core's part; c.cm_id's context is this structure
 * @link: link
 */
struct rtrs_clt_con {
	struct rtrs_con c;
	struct rtrs_clt_link *link;
};

/**
 * struct rtrs_clt_chunk - one chunk of the server, as this link reaches it
 * @addr: remote address
 * @rkey: remote key; with keys that change, the one for the next request
 */
struct rtrs_clt_chunk {
	u64 addr;
	u32 rkey;
};

/**
 * enum rtrs_clt_req_state - where a request stands
 * @RTRS_REQ_IDLE: not in use
 * @RTRS_REQ_SENT: its message may have left
 * @RTRS_REQ_ANSWERED: status is the server's; a completion is still missing
 */
enum rtrs_clt_req_state {
	RTRS_REQ_IDLE,
	RTRS_REQ_SENT,
	RTRS_REQ_ANSWERED,
};

/**
 * struct rtrs_clt_req - a request on a link
 * @con: connection that carries it
 * @permit: its permit
 * @ops: the ULP's confirmation
 * @state: enum rtrs_clt_req_state
 * @pending: events that are missing: the answer, and the completion of the
 *	last work request, which proves that the device is done with the memory
 * @status: 0 or negative errno of the answer
 * @dir: READ or WRITE
 * @cpu: CPU that sent it
 * @start: when
 * @usr_len: bytes of the user message in @msg
 * @data_len: bytes of data
 * @sg: the ULP's scatterlist
 * @sg_cnt: its elements
 * @map: scatterlist that is mapped for DMA: @sg, or @bounce_sg
 * @map_cnt: its elements; 0 if nothing is mapped
 * @map_used: its elements after mapping
 * @nr_sge: elements of @sge that a write's data takes
 * @bounce: intermediate buffer of a read with gaps, or NULL
 * @bounce_sg: @bounce as a scatterlist
 * @mr: memory region of a read
 * @key_valid: @mr is or may be registered
 * @msg: user message and header
 * @msg_dma: its address
 * @sge: elements of a write
 * @cqe: completion of the last work request
 *
 * Lifetime: as long as the link.  Owned by the submitter until its message is
 * posted, then by the completions; what the completions have not finished
 * when the link is drained, the sweep finishes.
 */
struct rtrs_clt_req {
	struct rtrs_clt_con *con;
	struct rtrs_permit *permit;
	struct rtrs_clt_req_ops ops;
	atomic_t state;
	atomic_t pending;
	int status;
	int dir;
	u32 cpu;
	ktime_t start;
	u32 usr_len;
	u32 data_len;
	struct scatterlist *sg;
	u32 sg_cnt;
	struct scatterlist *map;
	u32 map_cnt;
	u32 map_used;
	void *bounce;
	struct scatterlist bounce_sg;
	struct ib_mr *mr;
	bool key_valid;
	void *msg;
	dma_addr_t msg_dma;
	struct ib_sge *sge;
	u32 nr_sge;
	struct ib_cqe cqe;
};

/**
 * struct rtrs_clt_link - one attempt of a path to be connected
 * @path: path
 * @dev: device
 * @err: first error; 0 while all is well
 * @steps: answers of the CM or the server that the handshake waits for
 * @deadline: jiffies when the handshake must be over
 * @geo: what the server said about its chunks
 * @off_bits: bits of a request's immediate data that hold the offset
 * @hdr_size: largest user message and header together, bytes
 * @max_io_size: largest data of a request, bytes
 * @max_segments: largest number of elements of a request
 * @req_wr: send work requests of a request at most
 * @service_reqs: permits below this number may use cid 0
 * @nr_io: connections of CPUs
 * @info_len: bytes of the server's info_rsp
 * @info_req: our info_req, during the handshake
 * @info_rsp: the server's info_rsp, during the handshake
 * @hb: heartbeat
 * @chunks: the server's chunks
 * @reqs: the requests, indexed by mem_id
 * @sges: memory of all rtrs_clt_req.sge
 * @nr_cons: number of @cons
 * @cons: cid 0, the CPUs', the poll queues'
 *
 * Lifetime: built by rtrs_clt_link_create(), published in rtrs_clt_path.link
 * while the path is CONNECTED, taken down by rtrs_clt_link_destroy() after it
 * was unpublished and an RCU grace period has passed.
 */
struct rtrs_clt_link {
	struct rtrs_clt_path *path;
	struct rtrs_dev *dev;
	int err;
	atomic_t steps;
	unsigned long deadline;

	struct rtrs_conn_rsp geo;
	u32 off_bits;
	u32 hdr_size;
	u32 max_io_size;
	u32 max_segments;
	u32 req_wr;
	u32 service_reqs;
	u32 nr_io;
	u32 info_len;
	struct rtrs_buf *info_req;
	struct rtrs_buf *info_rsp;
	struct rtrs_hb hb;

	struct rtrs_clt_chunk *chunks;
	struct rtrs_clt_req *reqs;
	struct ib_sge *sges;
	u32 nr_cons;
	struct rtrs_clt_con cons[];
};

#define rtrs_clt_log(level, path, fmt, ...) do {			\
	const struct rtrs_clt_path *__path = (path);			\
									\
	pr_##level("%s %s: " fmt, __path->sess->name, __path->name,	\
		   ##__VA_ARGS__);					\
} while (0)
#define rtrs_clt_err(path, fmt, ...) \
	rtrs_clt_log(err, path, fmt, ##__VA_ARGS__)
#define rtrs_clt_warn(path, fmt, ...) \
	rtrs_clt_log(warn, path, fmt, ##__VA_ARGS__)
#define rtrs_clt_info(path, fmt, ...) \
	rtrs_clt_log(info, path, fmt, ##__VA_ARGS__)

static inline struct rtrs_clt_con *to_clt_con(struct rtrs_con *con)
{
	return container_of(con, struct rtrs_clt_con, c);
}

/* rtrs-clt.c */
int __must_check rtrs_clt_add_path(struct rtrs_clt_sess *sess,
				   const struct rtrs_addr *addr);
bool rtrs_clt_claim_path(struct rtrs_clt_path *path);

/* rtrs-clt-path.c */
int rtrs_clt_path_module_init(void);
void rtrs_clt_path_module_exit(void);
struct rtrs_clt_path *rtrs_clt_path_create(struct rtrs_clt_sess *sess,
					   const struct rtrs_addr *addr,
					   bool first);
bool rtrs_clt_path_claim_locked(struct rtrs_clt_path *path);
void rtrs_clt_path_listed(struct rtrs_clt_path *path);
void rtrs_clt_path_destroy(struct rtrs_clt_path *path);
int __must_check rtrs_clt_path_connect(struct rtrs_clt_path *path);
int __must_check rtrs_clt_path_reconnect(struct rtrs_clt_path *path);
void rtrs_clt_path_disconnect(struct rtrs_clt_path *path);
bool rtrs_clt_path_ending(struct rtrs_clt_path *path);
void rtrs_clt_path_recover(struct rtrs_clt_path *path);

/* rtrs-clt-policy.c */
struct rtrs_clt_link *rtrs_clt_pick_link(struct rtrs_clt_sess *sess);

/* rtrs-clt-stats.c */
void rtrs_clt_stats_start(struct rtrs_clt_path *path, struct rtrs_clt_req *req);
void rtrs_clt_stats_end(struct rtrs_clt_path *path,
			const struct rtrs_clt_req *req);
void rtrs_clt_stats_failed_over(struct rtrs_clt_path *path);
void rtrs_clt_stats_sum(const struct rtrs_clt_path *path,
			struct rtrs_clt_pcpu_stats *sum);
void rtrs_clt_stats_reset_rdma(struct rtrs_clt_path *path);
void rtrs_clt_stats_reset_migration(struct rtrs_clt_path *path);
void rtrs_clt_stats_reset_latency(struct rtrs_clt_path *path);
void rtrs_clt_stats_reset_reconnects(struct rtrs_clt_path *path);

/* rtrs-clt-con.c */
struct rtrs_clt_link *rtrs_clt_link_create(struct rtrs_clt_path *path);
void rtrs_clt_link_destroy(struct rtrs_clt_link *link);
void rtrs_clt_link_error(struct rtrs_clt_link *link, int err,
			 const char *what);

/* rtrs-clt-permit.c */
int __must_check rtrs_clt_permits_alloc(struct rtrs_clt_sess *sess);
void rtrs_clt_permits_free(struct rtrs_clt_sess *sess);

/* rtrs-clt-io.c */
int __must_check rtrs_clt_reqs_alloc(struct rtrs_clt_link *link);
void rtrs_clt_reqs_free(struct rtrs_clt_link *link);
void rtrs_clt_reqs_sweep(struct rtrs_clt_link *link);
void rtrs_clt_recv_done(struct ib_cq *cq, struct ib_wc *wc);

/* rtrs-clt-debugfs.c */
void rtrs_clt_debugfs_module_init(void);
void rtrs_clt_debugfs_module_exit(void);
void rtrs_clt_debugfs_add_sess(struct rtrs_clt_sess *sess);
void rtrs_clt_debugfs_del_sess(struct rtrs_clt_sess *sess);

/* rtrs-clt-sysfs.c */
int rtrs_clt_sysfs_module_init(void);
void rtrs_clt_sysfs_module_exit(void);
void rtrs_clt_sysfs_init_sess(struct rtrs_clt_sess *sess);
int __must_check rtrs_clt_sysfs_add_sess(struct rtrs_clt_sess *sess);
void rtrs_clt_sysfs_del_sess(struct rtrs_clt_sess *sess);
void rtrs_clt_sysfs_init_path(struct rtrs_clt_path *path);
int __must_check rtrs_clt_sysfs_add_path(struct rtrs_clt_path *path);
void rtrs_clt_sysfs_del_path(struct rtrs_clt_path *path);

#endif /* RTRS_CLT_H */
