/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The test client: private to its files.
 */
#ifndef RTRS_TEST_CLT_H
#define RTRS_TEST_CLT_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/wait.h>

#include "rtrs.h"
#include "rtrs-test.h"

struct tclt_slot;
struct tclt_run;

/* clt-permit.c */

/**
 * struct tclt_owner - who has a permit
 * @permit: permit, NULL in an unused entry
 * @owner: whoever has taken it, NULL when it is put
 */
struct tclt_owner {
	struct rtrs_permit *permit;
	void *owner;
};

/**
 * struct tclt_permits - follows the permits of a session
 * @owners: hash table of all permits that were ever taken
 * @nr: its size, a power of two
 * @pdu_sz: bytes that come with each permit
 * @seen: entries in use: different permits
 * @out: permits that are taken now
 * @max_out: most that were at one time
 * @duplicates: permits that were taken while somebody had them
 * @pdu_mismatches: permits whose own bytes were not as they were left
 */
struct tclt_permits {
	struct tclt_owner *owners;
	u32 nr;
	u32 pdu_sz;
	atomic_t seen;
	atomic_t out;
	atomic_t max_out;
	atomic_t duplicates;
	atomic_t pdu_mismatches;
};

/**
 * struct tclt_take_result - how the takers fared
 * @takers: threads
 * @takes: permits that each of them asked for
 * @granted: permits they got
 * @refused: times that RTRS_PERMIT_NOWAIT got none
 * @available: permits that could be taken at the end
 * @depth: what @available should be
 * @max_overtaken: most permits that others got while one waited
 * @max_wait_ms: longest wait
 * @ms: duration of all
 * @err: 0, or why it ended early
 * @good: all was as it should be
 */
struct tclt_take_result {
	u32 takers;
	u32 takes;
	atomic_t granted;
	atomic_t refused;
	u32 available;
	u32 depth;
	atomic_t max_overtaken;
	atomic_t max_wait_ms;
	u32 ms;
	int err;
	bool good;
};

int tclt_permits_init(struct tclt_permits *permits, u32 depth, u32 pdu_sz);
void tclt_permits_free(struct tclt_permits *permits);
void tclt_permit_taken(struct tclt_permits *permits,
		       struct rtrs_permit *permit, void *owner);
void tclt_permit_given(struct tclt_permits *permits,
		       struct rtrs_permit *permit, void *owner);
int tclt_take_line(void *priv, char *line);
void tclt_take_show(struct seq_file *s, struct tclt_slot *slot);

/* clt-buf.c */

/**
 * struct tclt_seg - a segment of a buffer
 * @page: first page of the block it lies in
 * @offset: in the block
 * @len: bytes
 */
struct tclt_seg {
	struct page *page;
	u32 offset;
	u32 len;
};

/**
 * struct tclt_buf - memory for the data of a request
 * @blocks: pages of equal order
 * @nr_blocks: their number
 * @order: see there
 * @segs: where the data lies; one segment at most in each block
 * @nr_segs: their number
 * @sgl: the same for RTRS
 */
struct tclt_buf {
	struct page **blocks;
	u32 nr_blocks;
	u32 order;
	struct tclt_seg *segs;
	u32 nr_segs;
	struct scatterlist *sgl;
};

/**
 * enum tclt_layout - how data lies in memory
 * @TCLT_PAGES: without gaps, as one area of memory that starts anywhere
 * @TCLT_GAPS: each segment anywhere in its block
 */
enum tclt_layout {
	TCLT_PAGES,
	TCLT_GAPS,
};

int tclt_buf_init(struct tclt_buf *buf, u32 nr_blocks, u32 order);
void tclt_buf_free(struct tclt_buf *buf);
void tclt_buf_lay_pages(struct tclt_buf *buf, u32 offset, u32 size);
void tclt_buf_lay_gaps(struct tclt_buf *buf, u32 nr_segs, u32 size, u32 align,
		       struct rtest_rnd *rnd);
void tclt_buf_prepare(struct tclt_buf *buf, bool data, u64 key);
bool tclt_buf_check_data(const struct tclt_buf *buf, u64 key, size_t *good);
bool tclt_buf_check_blank(const struct tclt_buf *buf);
bool tclt_buf_check_guard(const struct tclt_buf *buf);
void tclt_buf_spoil(struct tclt_buf *buf, u32 where, bool guard);

/* clt-io.c */

/**
 * enum tclt_state - of a request
 * @TCLT_IDLE: none, or it was refused, or the thread has dealt with its end
 * @TCLT_SENT: handed over to RTRS
 * @TCLT_CONFIRMED: conf_fn was called
 */
enum tclt_state {
	TCLT_IDLE,
	TCLT_SENT,
	TCLT_CONFIRMED,
};

/**
 * struct tclt_io - one of the requests in flight at a time
 * @thread: that it belongs to
 * @index: in the run's array
 * @state: enum tclt_state; changes with cmpxchg, a confirmation wins once
 * @seq: number of the request in the session
 * @done: in the thread's list of confirmed requests
 * @entry: in the thread's list of free ones
 * @rc: what conf_fn got
 * @expect: what it should get
 * @con: RTRS_ADMIN_CON or RTRS_IO_CON
 * @dir: enum rtest_dir
 * @rdma_dir: READ or WRITE
 * @size: bytes of data
 * @key: of the pattern
 * @buf: memory of the data
 * @msg: head of the user message
 * @usr: user message in one piece
 * @pieces: space for its pieces
 * @usr_len: bytes of the user message
 * @vec: the pieces
 * @nr_vec: their number
 * @permit: permit while in flight
 * @since: when it was handed over to RTRS
 */
struct tclt_io {
	struct tclt_thread *thread;
	u32 index;
	atomic_t state;
	u32 seq;
	struct llist_node done;
	struct list_head entry;
	int rc;
	int expect;
	u32 con;
	u32 dir;
	int rdma_dir;
	u32 size;
	u64 key;
	struct tclt_buf buf;
	struct rtest_msg msg;
	u8 *usr;
	u8 *pieces;
	u32 usr_len;
	struct kvec *vec;
	u32 nr_vec;
	struct rtrs_permit *permit;
	ktime_t since;
};

int tclt_io_init(struct tclt_io *io, struct tclt_thread *thread, u32 index);
void tclt_io_free(struct tclt_io *io);
void tclt_io_build(struct tclt_io *io, u32 n);
bool tclt_io_send(struct tclt_io *io, bool *sent);
void tclt_io_end(struct tclt_io *io);

/* clt-run.c */

/**
 * struct tclt_params - what a run does
 * @count: requests; 0: until it is stopped
 * @depth: requests in flight
 * @threads: threads that send them
 * @dir: read, write, none, mixed (both), any (all)
 * @mode: enum rtest_mode, or RTEST_MODES for any but never
 * @con: admin, io, any
 * @nowait: take permits without waiting
 * @bh: send with bottom halves disabled, where nobody may sleep
 * @layout: enum tclt_layout
 * @align: what offsets and lengths are a multiple of
 * @order: of the blocks of memory
 * @timeout: seconds without a confirmation after which requests are lost
 * @seed: of all choices
 * @abort: -ECONNABORTED is a good end, too
 * @refusal: errno that rtrs_clt_request() must return, 0 for none
 * @late_put: permits are put by the thread in place of conf_fn
 * @fake: fault of this client, to see that it is found: see tclt_fakes
 * @size: bytes of data
 * @offset: of the data in its first block
 * @segs: number of segments, 0: as many as it takes
 * @kvecs: pieces of the user message
 * @usr: bytes of the user message
 * @err: errno that the server answers
 * @delay: microseconds that the server keeps the answer back
 * @poll: poll queues to look after
 */
struct tclt_params {
	u32 count;
	u32 depth;
	u32 threads;
	u32 dir;
	u32 mode;
	u32 con;
	u32 nowait;
	u32 bh;
	u32 layout;
	u32 align;
	u32 order;
	u32 timeout;
	u32 seed;
	u32 abort;
	u32 refusal;
	u32 late_put;
	u32 fake;
	struct rtest_range size;
	struct rtest_range offset;
	struct rtest_range segs;
	struct rtest_range kvecs;
	struct rtest_range usr;
	struct rtest_range err;
	struct rtest_range delay;
	struct rtest_range poll;
};

enum tclt_fake {
	TCLT_FAKE_NONE,
	TCLT_FAKE_DATA,		/* a wrong byte in the data of a WRITE */
	TCLT_FAKE_USR,		/* a wrong byte in the user message */
	TCLT_FAKE_READ,		/* a wrong byte in the data of a READ */
	TCLT_FAKE_GUARD,	/* a wrong byte around the data */
	TCLT_FAKE_DOUBLE,	/* a second confirmation */
	TCLT_FAKE_LOST,		/* a confirmation swallowed */
};

#define TCLT_DIR_MIXED (RTEST_NONE + 1)
#define TCLT_DIR_ANY (RTEST_NONE + 2)
#define TCLT_CON_ANY (RTRS_IO_CON + 1)

#define TCLT_ERRNOS 4096

/**
 * struct tclt_stats - what has happened in a run
 * @started: requests made up
 * @accepted: rtrs_clt_request() returned 0
 * @refused: it returned the errno asked for
 * @confirmed: conf_fn was called
 * @as_wanted: the errno that the server was asked for came back
 * @aborted: -ECONNABORTED, by either way
 * @unexpected: another errno
 * @no_permit: times that there was no permit
 * @polled: completions found by polling
 * @read_bytes: bytes read and compared
 * @written_bytes: bytes written
 * @data_mismatches: requests with wrong data
 * @guard_mismatches: requests with changes around the data
 * @longest_us: longest time from sending a request to its confirmation
 * @pause_us: the same since somebody has asked for it
 * @errnos: confirmations by errno
 */
struct tclt_stats {
	atomic_t started;
	atomic_t accepted;
	atomic_t refused;
	atomic_t confirmed;
	atomic_t as_wanted;
	atomic_t aborted;
	atomic_t unexpected;
	atomic_t no_permit;
	atomic_t polled;
	atomic64_t read_bytes;
	atomic64_t written_bytes;
	atomic_t data_mismatches;
	atomic_t guard_mismatches;
	atomic_t longest_us;
	atomic_t pause_us;
	atomic_t errnos[TCLT_ERRNOS];
};

/**
 * struct tclt_thread - sends requests and looks at their ends
 * @run: its run
 * @task: the thread, with a reference
 * @index: its number
 * @wq: it waits here
 * @done: confirmed requests
 * @idle: requests that are free
 * @nr: all of its requests
 * @nr_idle: those in @idle
 * @built: a request that is ready but has no permit yet
 * @progress: jiffies when the last request ended
 * @sending: has not come to its last request yet
 * @using: may call RTRS still
 */
struct tclt_thread {
	struct tclt_run *run;
	struct task_struct *task;
	u32 index;
	wait_queue_head_t wq;
	struct llist_head done;
	struct list_head idle;
	u32 nr;
	u32 nr_idle;
	struct tclt_io *built;
	unsigned long progress;
	bool sending;
	bool using;
};

/**
 * struct tclt_run - a run
 * @slot: its session
 * @clt: same as the slot's
 * @params: what to do
 * @stats: what happened
 * @threads: the threads
 * @ios: all requests in flight
 * @next: number of the next request
 * @stop: send no more
 * @closing: call RTRS no more
 * @closed: the session is closed, nothing will be confirmed any more
 * @joined: all threads have ended
 * @started: when
 * @ended: when the last thread ended
 * @lost: requests that were never confirmed; counted when @joined
 * @first: the first thing that went wrong
 * @first_taken: somebody has written @first
 */
struct tclt_run {
	struct tclt_slot *slot;
	struct rtrs_clt_sess *clt;
	struct tclt_params params;
	struct tclt_stats stats;
	struct tclt_thread *threads;
	struct tclt_io *ios;
	atomic_t next;
	bool stop;
	bool closing;
	bool closed;
	bool joined;
	ktime_t started;
	ktime_t ended;
	u32 lost;
	char first[160];
	atomic_t first_taken;
};

int tclt_start_line(void *priv, char *line);
int tclt_run_line(void *priv, char *line);
int tclt_wait_line(void *priv, char *line);
int tclt_stop_line(void *priv, char *line);
int tclt_run_quiesce(struct tclt_slot *slot);
void tclt_run_closed(struct tclt_slot *slot);
void tclt_run_free(struct tclt_slot *slot);
void tclt_run_show(struct seq_file *s, struct tclt_slot *slot);
void tclt_run_show_pause(struct seq_file *s, struct tclt_slot *slot);
__printf(2, 3) void tclt_run_wrong(struct tclt_run *run, const char *fmt, ...);

/* clt-main.c */

#define TCLT_SLOTS 64

/**
 * struct tclt_slot - place for a session; stays when the session is closed
 * @index: number
 * @name: name of its directory
 * @dir: the directory
 * @lock: held while the session is opened and closed, a run starts or ends
 * @clt: the session, NULL when it is closed
 * @session: random number that all of its messages hold
 * @attrs: limits
 * @open_errno: result of rtrs_clt_open()
 * @open_ms: how long it took
 * @close_ms: how long rtrs_clt_close() took
 * @link_down: link_ev said disconnected
 * @link_up: link_ev said reconnected
 * @late_events: link_ev was called outside of the session's life
 * @doubles: confirmations of what was not in flight
 * @seq: number of the last request
 * @permits: followed here
 * @take: result of the last takers
 * @take_stuck: takers that never came back
 * @run: the last run
 * @active: threads of the run
 * @users: those that may call RTRS still
 * @wq: woken when @active or @users get zero
 */
struct tclt_slot {
	u32 index;
	char name[32];
	struct dentry *dir;
	struct mutex lock; /* opening, closing, start and end of a run */
	struct rtrs_clt_sess *clt;
	u64 session;
	struct rtrs_attrs attrs;
	int open_errno;
	u32 open_ms;
	u32 close_ms;
	atomic_t link_down;
	atomic_t link_up;
	atomic_t late_events;
	atomic_t doubles;
	atomic_t seq;
	struct tclt_permits permits;
	struct tclt_take_result take;
	bool take_stuck;
	struct tclt_run __rcu *run;
	atomic_t active;
	atomic_t users;
	wait_queue_head_t wq;
};

struct tclt_slot *tclt_slot(u32 index);

#endif /* RTRS_TEST_CLT_H */
