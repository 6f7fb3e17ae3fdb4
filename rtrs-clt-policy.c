// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS client: which path carries the next request.
 *
 * Three policies, each a rank: the connected path with the lowest number gets
 * the request.  Round-robin ranks by the distance from the place where this
 * CPU went last, min-inflight by the requests in flight, min-latency by the
 * time that the peer took for the last heartbeat.  Of equals the first wins.
 *
 * With a single path, by far the most common case, nothing is compared.
 *
 * Context: any, under the RCU read lock.  The list may change meanwhile; a
 * link that breaks after it was picked is the sweep's business.
 */
#include "rtrs-clt.h"

static struct rtrs_clt_link *usable_link(struct rtrs_clt_path *path)
{
	struct rtrs_clt_link *link = rcu_dereference(path->link);

	return link && !READ_ONCE(link->err) ? link : NULL;
}

static u64 rank(const struct rtrs_clt_link *link, enum rtrs_clt_policy policy,
		u32 pos, u32 next)
{
	switch (policy) {
	case RTRS_CLT_ROUND_ROBIN:
		/* Wraps for those before @next: they come last. */
		return (u32)(pos - next);
	case RTRS_CLT_MIN_INFLIGHT:
		return atomic_read(&link->path->inflight);
	case RTRS_CLT_MIN_LATENCY:
		return READ_ONCE(link->hb.latency_ns);
	}
	return 0;
}

/**
 * rtrs_clt_pick_link() - choose the link for the next request
 * @sess: session
 *
 * Context: Any; the caller holds the RCU read lock as long as it uses the link.
 * Return: link of a connected path, or NULL if there is none.
 */
struct rtrs_clt_link *rtrs_clt_pick_link(struct rtrs_clt_sess *sess)
{
	enum rtrs_clt_policy policy = READ_ONCE(sess->policy);
	u32 pos = 0, best_pos = 0, next = raw_cpu_read(*sess->rr_next);
	struct rtrs_clt_link *link, *best = NULL;
	struct rtrs_clt_path *path;
	u64 this, lowest = U64_MAX;

	list_for_each_entry_rcu(path, &sess->paths, entry) {
		link = usable_link(path);
		if (link) {
			this = rank(link, policy, pos, next);
			if (this < lowest) {
				best = link;
				best_pos = pos;
				lowest = this;
			}
		}
		pos++;
	}
	if (pos > 1 && policy == RTRS_CLT_ROUND_ROBIN)
		raw_cpu_write(*sess->rr_next, best_pos + 1);
	return best;
}
