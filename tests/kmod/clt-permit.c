// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The test client: permits, who has them, and crowds that want them.
 *
 * Each permit that RTRS hands out is entered into a table under its address
 * and gets an owner; a permit that has one already was given to two.  The
 * bytes that come with a permit are zero at first, then filled with a pattern
 * of their own, and must keep it, whoever has the permit in between.  The table
 * is written with cmpxchg alone, since permits are put in any context.
 *
 * The crowd is a number of threads that all start at once, take permits, hold
 * them for a moment and put them back.  Afterwards exactly queue_depth permits
 * must be there.
 */
#define pr_fmt(fmt) "rtrs-test-client: " fmt

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "clt.h"

/**
 * tclt_permits_init() - start to follow the permits of a new session
 * @permits: what to initialize
 * @depth: queue depth of the session
 * @pdu_sz: bytes that come with each permit
 *
 * Return: 0 or -ENOMEM.
 */
int tclt_permits_init(struct tclt_permits *permits, u32 depth, u32 pdu_sz)
{
	memset(permits, 0, sizeof(*permits));
	permits->pdu_sz = pdu_sz;
	permits->nr = roundup_pow_of_two(4 * depth);
	permits->owners = kvcalloc(permits->nr, sizeof(*permits->owners),
				   GFP_KERNEL);
	return permits->owners ? 0 : -ENOMEM;
}

/**
 * tclt_permits_free() - forget them
 * @permits: what tclt_permits_init() was called with
 */
void tclt_permits_free(struct tclt_permits *permits)
{
	kvfree(permits->owners);
	permits->owners = NULL;
}

/* The entry of a permit, made when it is not there; NULL if all are in use. */
static struct tclt_owner *tclt_find_owner(struct tclt_permits *permits,
					  struct rtrs_permit *permit,
					  bool *is_new)
{
	u32 start = hash_ptr(permit, ilog2(permits->nr)), i;

	*is_new = false;
	for (i = 0; i < permits->nr; i++) {
		struct tclt_owner *owner =
			&permits->owners[(start + i) & (permits->nr - 1)];
		struct rtrs_permit *old = cmpxchg(&owner->permit, NULL, permit);

		*is_new = !old;
		if (!old || old == permit)
			return owner;
	}
	return NULL;
}

#ifdef RTRS_TEST_PDU
static void tclt_check_pdu(struct tclt_permits *permits,
			   struct rtrs_permit *permit, bool is_new)
{
	void *pdu = rtrs_permit_to_pdu(permit);
	u64 key = (uintptr_t)permit;
	bool good;

	if (!permits->pdu_sz)
		return;
	if (is_new)
		good = !memchr_inv(pdu, 0, permits->pdu_sz);
	else
		good = rtest_check(pdu, permits->pdu_sz, key, 0) ==
			permits->pdu_sz;
	rtest_fill(pdu, permits->pdu_sz, key, 0);
	if (!good)
		atomic_inc(&permits->pdu_mismatches);
}
#else
static void tclt_check_pdu(struct tclt_permits *permits,
			   struct rtrs_permit *permit, bool is_new)
{
}
#endif

static void tclt_set_max(atomic_t *max, int value)
{
	int old = atomic_read(max);

	while (value > old && !atomic_try_cmpxchg(max, &old, value))
		;
}

/**
 * tclt_permit_taken() - somebody has got a permit
 * @permits: of the session
 * @permit: the permit
 * @owner: who; not NULL
 */
void tclt_permit_taken(struct tclt_permits *permits,
		       struct rtrs_permit *permit, void *owner)
{
	bool is_new;
	struct tclt_owner *entry = tclt_find_owner(permits, permit, &is_new);

	if (is_new)
		atomic_inc(&permits->seen);
	if (!entry || cmpxchg(&entry->owner, NULL, owner)) {
		atomic_inc(&permits->duplicates);
		pr_err_ratelimited("permit %p given twice\n", permit);
	}
	tclt_set_max(&permits->max_out, atomic_inc_return(&permits->out));
	tclt_check_pdu(permits, permit, is_new);
}

/**
 * tclt_permit_given() - a permit is about to be put
 * @permits: of the session
 * @permit: the permit
 * @owner: who had it
 */
void tclt_permit_given(struct tclt_permits *permits,
		       struct rtrs_permit *permit, void *owner)
{
	bool is_new;
	struct tclt_owner *entry = tclt_find_owner(permits, permit, &is_new);

	atomic_dec(&permits->out);
	if (entry && cmpxchg(&entry->owner, owner, NULL) != owner) {
		atomic_inc(&permits->duplicates);
		pr_err_ratelimited("permit %p has another owner\n", permit);
	}
}

/* The crowd */

/**
 * struct tclt_take_params - what the crowd does
 * @threads: how many
 * @takes: how often each takes a permit
 * @hold: microseconds that each holds it
 * @con: admin, io, any
 * @wait: wait, nowait (again until there is one), mixed
 * @overtake: of how many others, times @threads, one may be overtaken
 * @timeout: seconds for all
 */
struct tclt_take_params {
	u32 threads;
	u32 takes;
	struct rtest_range hold;
	u32 con;
	u32 wait;
	u32 overtake;
	u32 timeout;
};

enum { TCLT_TAKE_WAIT, TCLT_TAKE_NOWAIT, TCLT_TAKE_MIXED };

static const char *const tclt_take_cons[] = { "admin", "io", "any", NULL };
static const char *const tclt_take_waits[] = {
	"wait", "nowait", "mixed", NULL
};

static const struct rtest_param tclt_take_params[] = {
	RTEST_PARAM(tclt_take_params, threads, U32),
	RTEST_PARAM(tclt_take_params, takes, U32),
	RTEST_PARAM(tclt_take_params, hold, RANGE),
	RTEST_PARAM_WORDS(tclt_take_params, con, tclt_take_cons),
	RTEST_PARAM_WORDS(tclt_take_params, wait, tclt_take_waits),
	RTEST_PARAM(tclt_take_params, overtake, U32),
	RTEST_PARAM(tclt_take_params, timeout, U32),
	{ }
};

/**
 * struct tclt_crowd - the threads
 * @slot: session
 * @params: what they do
 * @tasks: all of them, with a reference
 * @nr: their number
 * @start: they wait for this before the first take
 * @left: those that are not through yet
 * @ended: none is left
 */
struct tclt_crowd {
	struct tclt_slot *slot;
	struct tclt_take_params params;
	struct task_struct **tasks;
	u32 nr;
	struct completion start;
	atomic_t left;
	struct completion ended;
};

static struct rtrs_permit *tclt_take(struct tclt_crowd *crowd,
				     struct rtest_rnd *rnd)
{
	struct tclt_take_params *p = &crowd->params;
	struct tclt_slot *slot = crowd->slot;
	u32 con = p->con == TCLT_CON_ANY ? rtest_rnd(rnd) % 2 : p->con;
	u32 wait = p->wait == TCLT_TAKE_MIXED ? rtest_rnd(rnd) % 2 : p->wait;
	struct rtrs_permit *permit;

	if (wait == TCLT_TAKE_WAIT)
		return rtrs_clt_get_permit(slot->clt, con, RTRS_PERMIT_WAIT);
	while (!(permit = rtrs_clt_get_permit(slot->clt, con,
					      RTRS_PERMIT_NOWAIT))) {
		atomic_inc(&slot->take.refused);
		usleep_range(100, 1000);
	}
	return permit;
}

static void tclt_take_once(struct tclt_crowd *crowd, struct rtest_rnd *rnd)
{
	struct tclt_slot *slot = crowd->slot;
	struct tclt_take_result *result = &slot->take;
	int before = atomic_read(&result->granted);
	ktime_t since = ktime_get();
	struct rtrs_permit *permit = tclt_take(crowd, rnd);
	u32 hold = rtest_pick(&crowd->params.hold, rnd, 0);

	if (!permit)
		return;
	tclt_permit_taken(&slot->permits, permit, rnd);
	tclt_set_max(&result->max_overtaken,
		     atomic_inc_return(&result->granted) - 1 - before);
	tclt_set_max(&result->max_wait_ms, ktime_ms_delta(ktime_get(), since));
	if (hold)
		usleep_range(hold, 2 * hold);
	tclt_permit_given(&slot->permits, permit, rnd);
	rtrs_clt_put_permit(slot->clt, permit);
}

static int tclt_take_fn(void *data)
{
	struct tclt_crowd *crowd = data;
	struct rtest_rnd rnd = { .state = (uintptr_t)current };
	u32 i;

	wait_for_completion(&crowd->start);
	for (i = 0; i < crowd->params.takes; i++)
		tclt_take_once(crowd, &rnd);
	if (atomic_dec_and_test(&crowd->left))
		complete(&crowd->ended);
	return 0;
}

static int tclt_crowd_start(struct tclt_crowd *crowd)
{
	struct task_struct *task;
	int err = 0;

	while (crowd->nr < crowd->params.threads) {
		task = kthread_create(tclt_take_fn, crowd, "rtrs-taker");
		if (IS_ERR(task)) {
			err = PTR_ERR(task);
			break;
		}
		get_task_struct(task);
		crowd->tasks[crowd->nr++] = task;
		atomic_inc(&crowd->left);
		wake_up_process(task);
	}
	crowd->slot->take.takers = crowd->nr;
	if (!crowd->nr)
		complete(&crowd->ended);
	complete_all(&crowd->start);
	return err;
}

static void tclt_crowd_join(struct tclt_crowd *crowd)
{
	while (crowd->nr) {
		struct task_struct *task = crowd->tasks[--crowd->nr];

		kthread_stop(task);
		put_task_struct(task);
	}
	kvfree(crowd->tasks);
	kfree(crowd);
}

/* Takes all that are there, without waiting, and puts them back. */
static u32 tclt_count_permits(struct tclt_slot *slot)
{
	u32 max = slot->attrs.queue_depth + 1, nr = 0;
	struct rtrs_permit **permits = kvcalloc(max, sizeof(*permits),
						GFP_KERNEL);
	u32 i;

	if (!permits)
		return 0;
	while (nr < max) {
		permits[nr] = rtrs_clt_get_permit(slot->clt, RTRS_IO_CON,
						  RTRS_PERMIT_NOWAIT);
		if (!permits[nr])
			break;
		tclt_permit_taken(&slot->permits, permits[nr], permits);
		nr++;
	}
	for (i = 0; i < nr; i++) {
		tclt_permit_given(&slot->permits, permits[i], permits);
		rtrs_clt_put_permit(slot->clt, permits[i]);
	}
	kvfree(permits);
	return nr;
}

static void tclt_take_judge(struct tclt_slot *slot,
			    const struct tclt_take_params *p)
{
	struct tclt_take_result *r = &slot->take;
	struct tclt_permits *permits = &slot->permits;

	r->good = !r->err && r->available == r->depth &&
		atomic_read(&r->granted) == p->threads * p->takes &&
		(!p->overtake ||
		 atomic_read(&r->max_overtaken) <= p->overtake * p->threads) &&
		atomic_read(&permits->seen) <= r->depth &&
		atomic_read(&permits->max_out) <= r->depth &&
		!atomic_read(&permits->out) &&
		!atomic_read(&permits->duplicates) &&
		!atomic_read(&permits->pdu_mismatches);
}

/*
 * Runs the crowd to its end.  One that does not end in time is left alone, for
 * its threads may come back later; the session cannot be closed any more.
 */
static int tclt_crowd_run(struct tclt_slot *slot, struct tclt_crowd *crowd)
{
	struct tclt_take_params params = crowd->params;
	struct tclt_take_result *r = &slot->take;
	ktime_t since = ktime_get();

	memset(r, 0, sizeof(*r));
	r->takes = params.takes;
	r->depth = slot->attrs.queue_depth;
	atomic_set(&slot->permits.max_out, 0);
	r->err = tclt_crowd_start(crowd);
	if (!wait_for_completion_timeout(&crowd->ended, params.timeout * HZ)) {
		pr_err("%s: %d of %u takers wait for ever\n", slot->name,
		       atomic_read(&crowd->left), crowd->nr);
		slot->take_stuck = true;
		r->err = -ETIMEDOUT;
		return r->err;
	}
	r->ms = ktime_ms_delta(ktime_get(), since);
	tclt_crowd_join(crowd);
	r->available = tclt_count_permits(slot);
	tclt_take_judge(slot, &params);
	return r->good ? 0 : -EBADMSG;
}

static struct tclt_crowd *tclt_crowd_alloc(struct tclt_slot *slot,
					   const struct tclt_take_params *p)
{
	struct tclt_crowd *crowd = kzalloc(sizeof(*crowd), GFP_KERNEL);

	if (!crowd)
		return NULL;
	crowd->tasks = kvcalloc(p->threads, sizeof(*crowd->tasks), GFP_KERNEL);
	if (!crowd->tasks) {
		kfree(crowd);
		return NULL;
	}
	crowd->slot = slot;
	crowd->params = *p;
	init_completion(&crowd->start);
	init_completion(&crowd->ended);
	return crowd;
}

/**
 * tclt_take_line() - let a crowd take permits, and wait for its end
 * @priv: slot
 * @line: parameters
 *
 * Return: 0 if all was as it should be, -EBADMSG if not, another errno if the
 *	crowd could not start or did not end.
 */
int tclt_take_line(void *priv, char *line)
{
	struct tclt_take_params params = {
		.threads = 16, .takes = 1, .con = TCLT_CON_ANY, .timeout = 60,
	};
	struct tclt_slot *slot = priv;
	struct tclt_crowd *crowd;
	int err = rtest_parse(line, tclt_take_params, &params);

	if (err)
		return err;
	if (!params.threads || params.threads > 20000 || !params.takes)
		return -EINVAL;
	crowd = tclt_crowd_alloc(slot, &params);
	if (!crowd)
		return -ENOMEM;
	mutex_lock(&slot->lock);
	if (slot->clt && !slot->take_stuck) {
		err = tclt_crowd_run(slot, crowd);
	} else {
		kvfree(crowd->tasks);
		kfree(crowd);
		err = -ENOTCONN;
	}
	mutex_unlock(&slot->lock);
	return err;
}

/**
 * tclt_take_show() - print how the last crowd fared
 * @s: where to
 * @slot: session
 */
void tclt_take_show(struct seq_file *s, struct tclt_slot *slot)
{
	struct tclt_take_result *r = &slot->take;
	struct tclt_permits *p = &slot->permits;

	seq_printf(s, "verdict: %s\n", r->good ? "pass" : "fail");
	seq_printf(s, "errno: %d\n", r->err);
	seq_printf(s, "takers: %u\n", r->takers);
	seq_printf(s, "takes: %u\n", r->takes);
	seq_printf(s, "granted: %d\n", atomic_read(&r->granted));
	seq_printf(s, "refused: %d\n", atomic_read(&r->refused));
	seq_printf(s, "depth: %u\n", r->depth);
	seq_printf(s, "available: %u\n", r->available);
	seq_printf(s, "seen: %d\n", atomic_read(&p->seen));
	seq_printf(s, "out: %d\n", atomic_read(&p->out));
	seq_printf(s, "max_out: %d\n", atomic_read(&p->max_out));
	seq_printf(s, "duplicates: %d\n", atomic_read(&p->duplicates));
	seq_printf(s, "pdu_mismatches: %d\n", atomic_read(&p->pdu_mismatches));
	seq_printf(s, "max_overtaken: %d\n", atomic_read(&r->max_overtaken));
	seq_printf(s, "max_wait_ms: %d\n", atomic_read(&r->max_wait_ms));
	seq_printf(s, "ms: %u\n", r->ms);
}
