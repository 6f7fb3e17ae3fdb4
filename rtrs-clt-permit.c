// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS client: permits, the right to have one request in flight each.
 *
 * A permit is a bit in a map with hints for each CPU.  Its number is that of
 * the chunk on the server and of the request on every link, so a permit in
 * hand means that both are free.
 *
 * Those who wait for one stand in line, first come, first served.  Who does not
 * wait may pass them by; each permit that is put wakes the first in line.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include "rtrs-clt.h"
#include "rtrs-clt-trace.h"

int rtrs_clt_permits_alloc(struct rtrs_clt_sess *sess)
{
	u32 i, nr = sess->attrs.queue_depth;
	struct rtrs_permit *permit;
	int err;

	sess->permit_size = ALIGN(sizeof(*permit) + sess->pdu_sz,
				  __alignof__(*permit));
	sess->permits = kvcalloc(nr, sess->permit_size, GFP_KERNEL);
	if (!sess->permits)
		return -ENOMEM;
	err = sbitmap_init_node(&sess->permit_map, nr, -1, GFP_KERNEL,
				NUMA_NO_NODE, false, true);
	if (err) {
		kvfree(sess->permits);
		sess->permits = NULL;
		return err;
	}
	for (i = 0; i < nr; i++) {
		permit = sess->permits + i * sess->permit_size;
		permit->mem_id = i;
	}
	return 0;
}

void rtrs_clt_permits_free(struct rtrs_clt_sess *sess)
{
	if (!sess->permits)
		return;
	sbitmap_free(&sess->permit_map);
	kvfree(sess->permits);
}

static struct rtrs_permit *permit_try(struct rtrs_clt_sess *sess)
{
	int bit = sbitmap_get(&sess->permit_map);

	return bit < 0 ? NULL : sess->permits + bit * sess->permit_size;
}

static bool permit_is_first(struct rtrs_clt_sess *sess,
			    const struct wait_queue_entry *wait)
{
	bool first;

	spin_lock_irq(&sess->permit_wait.lock);
	first = sess->permit_wait.head.next == &wait->entry;
	spin_unlock_irq(&sess->permit_wait.lock);
	return first;
}

/*
 * A waiter keeps its place until it has a permit, even if somebody who does
 * not wait was faster.  Only the first in line tries: otherwise those who are
 * running pass by those who are still waking up, again and again.  The first
 * wakes the next when it leaves, so a wake-up that reached it twice, or one
 * who was not first, is not lost.
 */
static struct rtrs_permit *permit_wait(struct rtrs_clt_sess *sess)
{
	DEFINE_WAIT_FUNC(wait, default_wake_function);
	struct rtrs_permit *permit;

	might_sleep();
	trace_rtrs_clt_permit_wait(sess, true);
	for (;;) {
		/* Its barrier pairs with the one in wq_has_sleeper(). */
		prepare_to_wait_exclusive(&sess->permit_wait, &wait,
					  TASK_UNINTERRUPTIBLE);
		permit = permit_is_first(sess, &wait) ? permit_try(sess) : NULL;
		if (permit)
			break;
		io_schedule();
	}
	finish_wait(&sess->permit_wait, &wait);
	trace_rtrs_clt_permit_wait(sess, false);
	wake_up(&sess->permit_wait);
	return permit;
}

struct rtrs_permit *rtrs_clt_get_permit(struct rtrs_clt_sess *clt,
					enum rtrs_clt_con_type con_type,
					enum wait_type wait)
{
	struct rtrs_permit *permit = NULL;

	/* Those who wait stand in line; a stale view only delays one of them. */
	if (wait == RTRS_PERMIT_NOWAIT || !waitqueue_active(&clt->permit_wait))
		permit = permit_try(clt);
	if (!permit && wait == RTRS_PERMIT_WAIT)
		permit = permit_wait(clt);
	if (permit) {
		permit->cpu = raw_smp_processor_id();
		permit->con_type = con_type;
	}
	return permit;
}
EXPORT_SYMBOL_GPL(rtrs_clt_get_permit);

void rtrs_clt_put_permit(struct rtrs_clt_sess *clt, struct rtrs_permit *permit)
{
	sbitmap_put(&clt->permit_map, permit->mem_id);
	if (wq_has_sleeper(&clt->permit_wait))
		wake_up(&clt->permit_wait);
}
EXPORT_SYMBOL_GPL(rtrs_clt_put_permit);

void *rtrs_permit_to_pdu(struct rtrs_permit *permit)
{
	return permit->pdu;
}
EXPORT_SYMBOL_GPL(rtrs_permit_to_pdu);
