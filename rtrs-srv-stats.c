// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS server: counters of a path.
 *
 * Each CPU counts the requests that it hands to the ULP; readers add up.  A
 * reset sets the counters of all CPUs to zero while they count on.
 */
#include "rtrs-srv.h"

/**
 * rtrs_srv_stats_count() - a request goes to the ULP
 * @op: operation with a checked request
 *
 * Context: Process or softirq.
 */
void rtrs_srv_stats_count(const struct rtrs_srv_op *op)
{
	struct rtrs_srv_stats __percpu *stats = op->path->stats;
	bool write = op->dir == WRITE;

	this_cpu_inc(stats->requests[write]);
	this_cpu_add(stats->bytes[write], op->req.data_len);
}

/**
 * rtrs_srv_stats_sum() - add the counters of all CPUs up
 * @path: path
 * @sum: filled in
 *
 * Context: Any.
 */
void rtrs_srv_stats_sum(const struct rtrs_srv_path *path,
			struct rtrs_srv_stats *sum)
{
	const struct rtrs_srv_stats *one;
	int cpu, dir;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		one = per_cpu_ptr(path->stats, cpu);
		for (dir = READ; dir <= WRITE; dir++) {
			sum->requests[dir] += READ_ONCE(one->requests[dir]);
			sum->bytes[dir] += READ_ONCE(one->bytes[dir]);
		}
	}
}

void rtrs_srv_stats_reset(struct rtrs_srv_path *path)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(path->stats, cpu), 0,
		       sizeof(struct rtrs_srv_stats));
}
