// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The test client: runs.
 *
 * A run is a number of threads, each with its share of the requests in flight.
 * A thread sends as long as it has free requests and something is left to do,
 * looks at what was confirmed, and ends when nothing is in flight any more.
 * If nothing is confirmed for a while although requests are in flight, it
 * gives up: these are lost.
 *
 * A session may be closed under a run.  The threads then stop to call RTRS,
 * which is the ULP's duty, rtrs_clt_close() is called with requests in flight,
 * and after it every one of them must have been confirmed.
 *
 * The memory of a run stays until the next one starts, for its results, and as
 * long as a request that was given up may still be confirmed.
 */
#define pr_fmt(fmt) "rtrs-test-client: " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "clt.h"

#define TCLT_BYTES_MAX (16 * 1024 * 1024)
#define TCLT_QUIESCE_SECONDS 120

static const char *const tclt_dirs[] = {
	"read", "write", "none", "mixed", "any", NULL
};

static const char *const tclt_modes[] = {
	"inline", "return", "work", "reorder", "irq", "never", "any", NULL
};

static const char *const tclt_cons[] = { "admin", "io", "any", NULL };
static const char *const tclt_layouts[] = { "pages", "gaps", NULL };
static const char *const tclt_fakes[] = {
	"none", "data", "usr", "read", "guard", "double", "lost", NULL
};

static const struct rtest_param tclt_params[] = {
	RTEST_PARAM(tclt_params, count, U32),
	RTEST_PARAM(tclt_params, depth, U32),
	RTEST_PARAM(tclt_params, threads, U32),
	RTEST_PARAM_WORDS(tclt_params, dir, tclt_dirs),
	RTEST_PARAM_WORDS(tclt_params, mode, tclt_modes),
	RTEST_PARAM_WORDS(tclt_params, con, tclt_cons),
	RTEST_PARAM(tclt_params, nowait, U32),
	RTEST_PARAM(tclt_params, bh, U32),
	RTEST_PARAM_WORDS(tclt_params, layout, tclt_layouts),
	RTEST_PARAM(tclt_params, align, U32),
	RTEST_PARAM(tclt_params, order, U32),
	RTEST_PARAM(tclt_params, timeout, U32),
	RTEST_PARAM(tclt_params, seed, U32),
	RTEST_PARAM(tclt_params, abort, U32),
	RTEST_PARAM(tclt_params, refusal, U32),
	RTEST_PARAM(tclt_params, late_put, U32),
	RTEST_PARAM_WORDS(tclt_params, fake, tclt_fakes),
	RTEST_PARAM(tclt_params, size, RANGE),
	RTEST_PARAM(tclt_params, offset, RANGE),
	RTEST_PARAM(tclt_params, segs, RANGE),
	RTEST_PARAM(tclt_params, kvecs, RANGE),
	RTEST_PARAM(tclt_params, usr, RANGE),
	RTEST_PARAM(tclt_params, err, RANGE),
	RTEST_PARAM(tclt_params, delay, RANGE),
	RTEST_PARAM(tclt_params, poll, RANGE),
	{ }
};

static const struct tclt_params tclt_defaults = {
	.count = 100,
	.depth = 1,
	.threads = 1,
	.dir = TCLT_DIR_MIXED,
	.con = RTRS_IO_CON,
	.align = 1,
	.timeout = 60,
	.kvecs = { 1, 1 },
	.usr = { sizeof(struct rtest_msg), sizeof(struct rtest_msg) },
	.poll = { 1, 0 },
};

static struct tclt_run *tclt_run_of(struct tclt_slot *slot)
{
	return rcu_dereference_protected(slot->run,
					 lockdep_is_held(&slot->lock));
}

/**
 * tclt_run_wrong() - note the first thing that went wrong in a run
 * @run: run
 * @fmt: what
 *
 * Context: Process.
 */
void tclt_run_wrong(struct tclt_run *run, const char *fmt, ...)
{
	va_list args;

	if (atomic_xchg(&run->first_taken, 1))
		return;
	va_start(args, fmt);
	vsnprintf(run->first, sizeof(run->first), fmt, args);
	va_end(args);
	pr_err("%s: %s\n", run->slot->name, run->first);
}

/* The threads */

static void tclt_reap(struct tclt_thread *thread)
{
	struct llist_node *list = llist_del_all(&thread->done);
	struct tclt_io *io, *next;

	llist_for_each_entry_safe(io, next, list, done) {
		tclt_io_end(io);
		list_add_tail(&io->entry, &thread->idle);
		thread->nr_idle++;
		thread->progress = jiffies;
	}
}

/* Number of the next request of the run, U32_MAX if there is none. */
static u32 tclt_next(struct tclt_run *run)
{
	u32 n = atomic_inc_return(&run->next) - 1;

	return run->params.count && n >= run->params.count ? U32_MAX : n;
}

static void tclt_idle(struct tclt_thread *thread, struct tclt_io *io)
{
	list_add(&io->entry, &thread->idle);
	thread->nr_idle++;
}

/* Makes the next request; false if there is none. */
static bool tclt_build_next(struct tclt_thread *thread)
{
	struct tclt_io *io;
	u32 n = READ_ONCE(thread->run->stop) ? U32_MAX : tclt_next(thread->run);

	if (n == U32_MAX)
		return false;
	io = list_first_entry(&thread->idle, struct tclt_io, entry);
	list_del(&io->entry);
	thread->nr_idle--;
	tclt_io_build(io, n);
	thread->built = io;
	return true;
}

/* Sends one request; true if it went, or was refused for good. */
static bool tclt_send_one(struct tclt_thread *thread)
{
	struct tclt_io *io = thread->built;
	bool sent;

	if (!io) {
		if (!thread->nr_idle)
			return false;
		thread->sending = tclt_build_next(thread);
		if (!thread->sending)
			return false;
		io = thread->built;
	}
	if (!tclt_io_send(io, &sent))
		return false;
	thread->built = NULL;
	if (!sent) {
		tclt_idle(thread, io);
		if (thread->run->params.abort)
			usleep_range(1000, 2000);
	}
	return true;
}

static void tclt_use_no_more(struct tclt_thread *thread)
{
	struct tclt_slot *slot = thread->run->slot;

	if (!thread->using)
		return;
	thread->using = false;
	thread->sending = false;
	if (thread->built) {
		tclt_idle(thread, thread->built);
		thread->built = NULL;
	}
	if (atomic_dec_and_test(&slot->users))
		wake_up_all(&slot->wq);
}

static bool tclt_polls(const struct tclt_params *params)
{
	return params->poll.lo <= params->poll.hi;
}

static void tclt_poll(struct tclt_run *run)
{
	u32 i;

	for (i = run->params.poll.lo; i <= run->params.poll.hi; i++) {
		int nr = rtrs_clt_rdma_cq_direct(run->clt, i);

		if (nr > 0)
			atomic_add(nr, &run->stats.polled);
	}
}

static void tclt_wait_for_some(struct tclt_thread *thread)
{
	struct tclt_run *run = thread->run;

	if (thread->using && tclt_polls(&run->params)) {
		tclt_poll(run);
		if (llist_empty(&thread->done))
			usleep_range(20, 100);
		return;
	}
	wait_event_idle_timeout(thread->wq,
				!llist_empty(&thread->done) ||
				READ_ONCE(run->closed) ||
				(thread->using && READ_ONCE(run->closing)),
				thread->built ? 1 : HZ / 10);
}

static bool tclt_gives_up(struct tclt_thread *thread)
{
	unsigned long timeout = thread->run->params.timeout * HZ;

	if (thread->nr_idle + !!thread->built == thread->nr)
		thread->progress = jiffies;
	if (!time_after(jiffies, thread->progress + timeout))
		return false;
	tclt_run_wrong(thread->run, "no confirmation for %u s, %u in flight",
		       thread->run->params.timeout,
		       thread->nr - thread->nr_idle);
	return true;
}

/* One round of a thread; false if it was the last. */
static bool tclt_step(struct tclt_thread *thread)
{
	struct tclt_run *run = thread->run;
	bool closed = READ_ONCE(run->closed);

	tclt_reap(thread);
	cond_resched();
	if (READ_ONCE(run->closing))
		tclt_use_no_more(thread);
	if (thread->sending && tclt_send_one(thread))
		return true;
	if (!thread->sending && thread->nr_idle == thread->nr)
		return false;
	if (closed || tclt_gives_up(thread))
		return false;
	tclt_wait_for_some(thread);
	return true;
}

static int tclt_thread_fn(void *data)
{
	struct tclt_thread *thread = data;
	struct tclt_run *run = thread->run;
	struct tclt_slot *slot = run->slot;

	thread->progress = jiffies;
	while (tclt_step(thread))
		;
	tclt_use_no_more(thread);
	run->ended = ktime_get();
	if (atomic_dec_and_test(&slot->active))
		wake_up_all(&slot->wq);
	return 0;
}

/* Start and end of a run */

static void tclt_free(struct tclt_run *run)
{
	u32 i;

	if (run->ios) {
		for (i = 0; i < run->params.depth; i++)
			tclt_io_free(&run->ios[i]);
	}
	kvfree(run->ios);
	kvfree(run->threads);
	kvfree(run);
}

/**
 * tclt_run_free() - forget the last run of a session
 * @slot: session, locked; the run has ended
 */
void tclt_run_free(struct tclt_slot *slot)
{
	struct tclt_run *run = tclt_run_of(slot);

	if (!run)
		return;
	RCU_INIT_POINTER(slot->run, NULL);
	synchronize_rcu();
	tclt_free(run);
}

static int tclt_init_ios(struct tclt_run *run)
{
	u32 i;

	for (i = 0; i < run->params.depth; i++) {
		struct tclt_thread *thread =
			&run->threads[i % run->params.threads];
		int err = tclt_io_init(&run->ios[i], thread, i);

		if (err)
			return err;
		tclt_idle(thread, &run->ios[i]);
		thread->nr++;
	}
	return 0;
}

static struct tclt_run *tclt_alloc(struct tclt_slot *slot,
				   const struct tclt_params *params)
{
	struct tclt_run *run = kvzalloc(sizeof(*run), GFP_KERNEL);
	u32 i;

	if (!run)
		return NULL;
	run->slot = slot;
	run->clt = slot->clt;
	run->params = *params;
	run->threads = kvcalloc(params->threads, sizeof(*run->threads),
				GFP_KERNEL);
	run->ios = kvcalloc(params->depth, sizeof(*run->ios), GFP_KERNEL);
	if (!run->threads || !run->ios)
		goto free_run;
	for (i = 0; i < params->threads; i++) {
		struct tclt_thread *thread = &run->threads[i];

		thread->run = run;
		thread->index = i;
		init_waitqueue_head(&thread->wq);
		init_llist_head(&thread->done);
		INIT_LIST_HEAD(&thread->idle);
	}
	if (tclt_init_ios(run))
		goto free_run;
	return run;

free_run:
	tclt_free(run);
	return NULL;
}

static int tclt_create_threads(struct tclt_run *run)
{
	u32 i;

	for (i = 0; i < run->params.threads; i++) {
		struct tclt_thread *thread = &run->threads[i];
		struct task_struct *task = kthread_create(tclt_thread_fn,
							  thread,
							  "rtrs-test/%u", i);

		if (IS_ERR(task))
			return PTR_ERR(task);
		get_task_struct(task);
		thread->task = task;
		thread->sending = true;
		thread->using = true;
	}
	return 0;
}

/* Waits for the end of each thread that exists. */
static void tclt_join(struct tclt_run *run)
{
	u32 i;

	for (i = 0; i < run->params.threads; i++) {
		struct tclt_thread *thread = &run->threads[i];

		if (!thread->task)
			continue;
		kthread_stop(thread->task);
		put_task_struct(thread->task);
		thread->task = NULL;
	}
	run->joined = true;
}

static u32 tclt_count_lost(struct tclt_run *run)
{
	u32 i, lost = 0;

	for (i = 0; i < run->params.depth; i++)
		lost += atomic_read(&run->ios[i].state) == TCLT_SENT;
	return lost;
}

/* The last run has ended, and nothing of it is in flight. */
static bool tclt_is_over(struct tclt_slot *slot)
{
	struct tclt_run *run = tclt_run_of(slot);

	return !run || (run->joined && (run->closed || !tclt_count_lost(run)));
}

static int tclt_start(struct tclt_slot *slot, const struct tclt_params *params)
{
	struct tclt_run *run;
	u32 i;
	int err;

	if (!slot->clt)
		return -ENOTCONN;
	if (!tclt_is_over(slot))
		return -EBUSY;
	tclt_run_free(slot);
	run = tclt_alloc(slot, params);
	if (!run)
		return -ENOMEM;
	err = tclt_create_threads(run);
	if (err) {
		tclt_join(run);
		tclt_free(run);
		return err;
	}
	atomic_set(&slot->active, params->threads);
	atomic_set(&slot->users, params->threads);
	run->started = ktime_get();
	rcu_assign_pointer(slot->run, run);
	for (i = 0; i < params->threads; i++)
		wake_up_process(run->threads[i].task);
	return 0;
}

static int tclt_check_params(struct tclt_params *p)
{
	u32 block = PAGE_SIZE << p->order;

	if (!p->size.hi && !p->segs.hi)
		p->size = (struct rtest_range){ PAGE_SIZE, PAGE_SIZE };
	if (!p->depth || p->depth > U16_MAX || !p->threads ||
	    p->threads > p->depth || p->order > 8 || !p->align ||
	    block % p->align || p->size.hi > TCLT_BYTES_MAX ||
	    p->segs.hi > 4096 || p->usr.hi > TCLT_BYTES_MAX ||
	    p->kvecs.hi > 4096 || p->err.hi >= TCLT_ERRNOS || !p->timeout) {
		pr_err("parameters out of range\n");
		return -EINVAL;
	}
	return 0;
}

/**
 * tclt_start_line() - start a run
 * @priv: slot
 * @line: parameters
 *
 * Return: 0 or -errno, -EBUSY if the last run has not ended.
 */
int tclt_start_line(void *priv, char *line)
{
	struct tclt_params params = tclt_defaults;
	struct tclt_slot *slot = priv;
	int err = rtest_parse(line, tclt_params, &params);

	err = err ?: tclt_check_params(&params);
	if (err)
		return err;
	mutex_lock(&slot->lock);
	err = tclt_start(slot, &params);
	mutex_unlock(&slot->lock);
	return err;
}

/* Complaints, one word each; nothing if all is well. */
static bool tclt_judge(struct tclt_slot *slot, struct tclt_run *run,
		       struct seq_file *s)
{
	struct tclt_stats *st = &run->stats;
	const struct {
		const char *word;
		bool bad;
	} verdicts[] = {
		{ "lost", run->lost },
		{ "double", atomic_read(&slot->doubles) },
		{ "errno", atomic_read(&st->unexpected) },
		{ "data", atomic_read(&st->data_mismatches) },
		{ "guard", atomic_read(&st->guard_mismatches) },
		{ "permit", atomic_read(&slot->permits.duplicates) ||
			atomic_read(&slot->permits.out) ||
			atomic_read(&slot->permits.pdu_mismatches) ||
			atomic_read(&slot->permits.max_out) >
			slot->attrs.queue_depth },
		{ "unconfirmed", atomic_read(&st->confirmed) !=
			atomic_read(&st->accepted) },
		{ "incomplete", run->params.count && !run->stop &&
			!run->closing && atomic_read(&st->started) !=
			run->params.count },
	};
	bool good = true;
	int i;

	for (i = 0; i < ARRAY_SIZE(verdicts); i++) {
		good = good && !verdicts[i].bad;
		if (verdicts[i].bad && s)
			seq_printf(s, " %s", verdicts[i].word);
	}
	return good;
}

static void tclt_finish(struct tclt_run *run)
{
	if (run->joined)
		return;
	tclt_join(run);
	run->lost = tclt_count_lost(run);
	if (run->lost)
		tclt_run_wrong(run, "%u requests were never confirmed",
			       run->lost);
}

/**
 * tclt_wait_line() - wait for the end of a run
 * @priv: slot
 * @line: anything
 *
 * Return: 0 if all was as it should be, -EBADMSG if not, -ENOENT if there is no
 *	run, -ERESTARTSYS.
 */
int tclt_wait_line(void *priv, char *line)
{
	struct tclt_slot *slot = priv;
	struct tclt_run *run;
	int err;

	err = wait_event_interruptible(slot->wq, !atomic_read(&slot->active));
	if (err)
		return err;
	mutex_lock(&slot->lock);
	run = tclt_run_of(slot);
	if (run && !atomic_read(&slot->active)) {
		tclt_finish(run);
		err = tclt_judge(slot, run, NULL) ? 0 : -EBADMSG;
	} else {
		err = -ENOENT;
	}
	mutex_unlock(&slot->lock);
	return err;
}

/**
 * tclt_run_line() - start a run and wait for its end
 * @priv: slot
 * @line: parameters
 *
 * Return: as tclt_start_line() and tclt_wait_line().
 */
int tclt_run_line(void *priv, char *line)
{
	return tclt_start_line(priv, line) ?: tclt_wait_line(priv, line);
}

/**
 * tclt_stop_line() - let a run send no more, and wait for its end
 * @priv: slot
 * @line: anything
 *
 * Return: as tclt_wait_line().
 */
int tclt_stop_line(void *priv, char *line)
{
	struct tclt_slot *slot = priv;
	struct tclt_run *run;

	mutex_lock(&slot->lock);
	run = tclt_run_of(slot);
	if (run)
		WRITE_ONCE(run->stop, true);
	mutex_unlock(&slot->lock);
	return tclt_wait_line(priv, line);
}

static void tclt_wake_threads(struct tclt_run *run)
{
	u32 i;

	for (i = 0; i < run->params.threads; i++)
		wake_up(&run->threads[i].wq);
}

/**
 * tclt_run_quiesce() - keep the run from calling RTRS
 * @slot: session that is about to be closed, locked
 *
 * Return: 0, or -ETIMEDOUT if a thread does not come back.
 */
int tclt_run_quiesce(struct tclt_slot *slot)
{
	struct tclt_run *run = tclt_run_of(slot);

	if (!run || run->joined)
		return 0;
	WRITE_ONCE(run->closing, true);
	tclt_wake_threads(run);
	if (wait_event_timeout(slot->wq, !atomic_read(&slot->users),
			       TCLT_QUIESCE_SECONDS * HZ))
		return 0;
	pr_err("%s: a thread does not come back from RTRS\n", slot->name);
	return -ETIMEDOUT;
}

/**
 * tclt_run_closed() - end the run after its session is closed
 * @slot: session, locked
 */
void tclt_run_closed(struct tclt_slot *slot)
{
	struct tclt_run *run = tclt_run_of(slot);

	if (!run)
		return;
	WRITE_ONCE(run->closed, true);
	tclt_wake_threads(run);
	wait_event(slot->wq, !atomic_read(&slot->active));
	tclt_finish(run);
}

/* Results */

static void tclt_show_errnos(struct seq_file *s, struct tclt_stats *st)
{
	int i;

	for (i = 0; i < TCLT_ERRNOS; i++) {
		int nr = atomic_read(&st->errnos[i]);

		if (nr)
			seq_printf(s, "errno_%d: %d\n", i, nr);
	}
}

static void tclt_show_stats(struct seq_file *s, struct tclt_stats *st)
{
	seq_printf(s, "started: %d\n", atomic_read(&st->started));
	seq_printf(s, "accepted: %d\n", atomic_read(&st->accepted));
	seq_printf(s, "refused: %d\n", atomic_read(&st->refused));
	seq_printf(s, "confirmed: %d\n", atomic_read(&st->confirmed));
	seq_printf(s, "as_wanted: %d\n", atomic_read(&st->as_wanted));
	seq_printf(s, "aborted: %d\n", atomic_read(&st->aborted));
	seq_printf(s, "unexpected: %d\n", atomic_read(&st->unexpected));
	seq_printf(s, "no_permit: %d\n", atomic_read(&st->no_permit));
	seq_printf(s, "polled: %d\n", atomic_read(&st->polled));
	seq_printf(s, "read_bytes: %lld\n", atomic64_read(&st->read_bytes));
	seq_printf(s, "written_bytes: %lld\n",
		   atomic64_read(&st->written_bytes));
	seq_printf(s, "data_mismatches: %d\n",
		   atomic_read(&st->data_mismatches));
	seq_printf(s, "guard_mismatches: %d\n",
		   atomic_read(&st->guard_mismatches));
	seq_printf(s, "longest_ms: %d\n",
		   atomic_read(&st->longest_us) / 1000);
	tclt_show_errnos(s, st);
}

/**
 * tclt_run_show() - print the results of the last run, or how far it is
 * @s: where to
 * @slot: session
 */
void tclt_run_show(struct seq_file *s, struct tclt_slot *slot)
{
	struct tclt_permits *permits = &slot->permits;
	struct tclt_run *run;
	ktime_t end;

	mutex_lock(&slot->lock);
	run = tclt_run_of(slot);
	if (!run) {
		seq_puts(s, "verdict: none\n");
		goto unlock;
	}
	seq_puts(s, "verdict:");
	if (!run->joined)
		seq_puts(s, " running\n");
	else
		seq_puts(s, tclt_judge(slot, run, s) ? " pass\n" : " fail\n");
	if (run->first[0])
		seq_printf(s, "first: %s\n", run->first);
	end = run->joined ? run->ended : ktime_get();
	seq_printf(s, "ms: %lld\n", ktime_ms_delta(end, run->started));
	seq_printf(s, "lost: %u\n", run->lost);
	seq_printf(s, "doubles: %d\n", atomic_read(&slot->doubles));
	tclt_show_stats(s, &run->stats);
	seq_printf(s, "permits_seen: %d\n", atomic_read(&permits->seen));
	seq_printf(s, "permits_max_out: %d\n", atomic_read(&permits->max_out));
	seq_printf(s, "permits_out: %d\n", atomic_read(&permits->out));
	seq_printf(s, "permit_duplicates: %d\n",
		   atomic_read(&permits->duplicates));
	seq_printf(s, "pdu_mismatches: %d\n",
		   atomic_read(&permits->pdu_mismatches));
unlock:
	mutex_unlock(&slot->lock);
}

/**
 * tclt_run_show_pause() - print what the slowest request took since the last time
 * @s: where to
 * @slot: session
 */
void tclt_run_show_pause(struct seq_file *s, struct tclt_slot *slot)
{
	struct tclt_run *run;

	mutex_lock(&slot->lock);
	run = tclt_run_of(slot);
	if (run)
		seq_printf(s, "%d\n", atomic_xchg(&run->stats.pause_us, 0) / 1000);
	mutex_unlock(&slot->lock);
}
