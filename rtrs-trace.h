/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RTRS core: trace points of the heartbeat, by the QP that it runs on.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rtrs

#if !defined(RTRS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RTRS_TRACE_H

#include <linux/tracepoint.h>

#include "rtrs-core.h"

DECLARE_EVENT_CLASS(rtrs_hb,
	TP_PROTO(const struct rtrs_hb *hb, int value),
	TP_ARGS(hb, value),
	TP_STRUCT__entry(
		__field(u32, qp_num)
		__field(u32, missed)
		__field(int, value)
	),
	TP_fast_assign(
		__entry->qp_num = hb->con->qp->qp_num;
		__entry->missed = hb->missed;
		__entry->value = value;
	),
	TP_printk("qp %u: missed %u: %d", __entry->qp_num, __entry->missed,
		  __entry->value)
);

/* value: 0 for a question, 1 for an answer */
DEFINE_EVENT(rtrs_hb, rtrs_hb_send,
	TP_PROTO(const struct rtrs_hb *hb, int value), TP_ARGS(hb, value));
/* value: type of the immediate data */
DEFINE_EVENT(rtrs_hb, rtrs_hb_recv,
	TP_PROTO(const struct rtrs_hb *hb, int value), TP_ARGS(hb, value));
/* value: errno */
DEFINE_EVENT(rtrs_hb, rtrs_hb_dead,
	TP_PROTO(const struct rtrs_hb *hb, int value), TP_ARGS(hb, value));

#endif /* RTRS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE rtrs-trace
#include <trace/define_trace.h>
