// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS client: counters of a path.
 *
 * Each CPU counts for itself; readers add up.  A reset sets the counters of
 * all CPUs to zero while they count on, so what is counted at that moment may
 * be lost or kept.  The number of requests in flight is none of these: it is
 * exact, decides between paths, and no reset touches it.
 *
 * Context: any, but the resets and sums, which are for sysfs.
 */
#include <linux/ktime.h>
#include <linux/log2.h>

#include "rtrs-clt.h"

/**
 * rtrs_clt_stats_start() - a request is about to be sent
 * @path: path
 * @req: request, with its direction and length
 */
void rtrs_clt_stats_start(struct rtrs_clt_path *path, struct rtrs_clt_req *req)
{
	bool write = req->dir == WRITE;

	req->cpu = raw_smp_processor_id();
	req->start = ktime_get();
	this_cpu_inc(path->stats->requests[write]);
	this_cpu_add(path->stats->bytes[write], req->data_len);
}

/**
 * rtrs_clt_stats_end() - a request was answered
 * @path: path
 * @req: request
 */
void rtrs_clt_stats_end(struct rtrs_clt_path *path,
			const struct rtrs_clt_req *req)
{
	u64 us = ktime_us_delta(ktime_get(), req->start);
	u32 bucket = us ? ilog2(us) + 1 : 0;

	bucket = min_t(u32, bucket, RTRS_CLT_LATENCY_BUCKETS - 1);
	this_cpu_inc(path->stats->latency[bucket]);
	if (req->cpu == raw_smp_processor_id())
		return;
	this_cpu_inc(path->stats->migrated_to);
	atomic_long_inc(&per_cpu_ptr(path->stats, req->cpu)->migrated_from);
}

/**
 * rtrs_clt_stats_failed_over() - a request leaves for another path
 * @path: path that it leaves
 */
void rtrs_clt_stats_failed_over(struct rtrs_clt_path *path)
{
	this_cpu_inc(path->stats->failed_over);
}

/**
 * rtrs_clt_stats_sum() - add the counters of all CPUs up
 * @path: path
 * @sum: filled in, but for the migrations, which are told CPU by CPU
 */
void rtrs_clt_stats_sum(const struct rtrs_clt_path *path,
			struct rtrs_clt_pcpu_stats *sum)
{
	const struct rtrs_clt_pcpu_stats *one;
	int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		one = per_cpu_ptr(path->stats, cpu);
		for (i = 0; i < 2; i++) {
			sum->requests[i] += READ_ONCE(one->requests[i]);
			sum->bytes[i] += READ_ONCE(one->bytes[i]);
		}
		sum->failed_over += READ_ONCE(one->failed_over);
		for (i = 0; i < RTRS_CLT_LATENCY_BUCKETS; i++)
			sum->latency[i] += READ_ONCE(one->latency[i]);
	}
}

void rtrs_clt_stats_reset_rdma(struct rtrs_clt_path *path)
{
	struct rtrs_clt_pcpu_stats *one;
	int cpu;

	for_each_possible_cpu(cpu) {
		one = per_cpu_ptr(path->stats, cpu);
		memset(one->requests, 0, sizeof(one->requests));
		memset(one->bytes, 0, sizeof(one->bytes));
		WRITE_ONCE(one->failed_over, 0);
	}
}

void rtrs_clt_stats_reset_migration(struct rtrs_clt_path *path)
{
	struct rtrs_clt_pcpu_stats *one;
	int cpu;

	for_each_possible_cpu(cpu) {
		one = per_cpu_ptr(path->stats, cpu);
		WRITE_ONCE(one->migrated_to, 0);
		atomic_long_set(&one->migrated_from, 0);
	}
}

void rtrs_clt_stats_reset_latency(struct rtrs_clt_path *path)
{
	struct rtrs_clt_pcpu_stats *one;
	int cpu;

	for_each_possible_cpu(cpu) {
		one = per_cpu_ptr(path->stats, cpu);
		memset(one->latency, 0, sizeof(one->latency));
	}
}

void rtrs_clt_stats_reset_reconnects(struct rtrs_clt_path *path)
{
	atomic_set(&path->nr_reconnects[0], 0);
	atomic_set(&path->nr_reconnects[1], 0);
}
