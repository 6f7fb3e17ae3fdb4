/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RTRS server: trace points.
 *
 * An operation is followed by session and chunk: the number of the chunk is
 * what the client's trace points call mem_id.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rtrs_srv

#if !defined(RTRS_SRV_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RTRS_SRV_TRACE_H

#include <linux/string.h>
#include <linux/tracepoint.h>

#include "rtrs-srv.h"

TRACE_DEFINE_ENUM(RTRS_SRV_CONNECTING);
TRACE_DEFINE_ENUM(RTRS_SRV_CONNECTED);
TRACE_DEFINE_ENUM(RTRS_SRV_CLOSING);
TRACE_DEFINE_ENUM(RTRS_SRV_CLOSED);

#define RTRS_SRV_TRACE_NAME 64

TRACE_EVENT(rtrs_srv_path_state,
	TP_PROTO(struct rtrs_srv_path *path, int state),
	TP_ARGS(path, state),
	TP_STRUCT__entry(
		__array(char, sess, RTRS_SRV_TRACE_NAME)
		__array(char, path, RTRS_SRV_TRACE_NAME)
		__field(int, state)
	),
	TP_fast_assign(
		strscpy(__entry->sess, rtrs_srv_sess_name(path->sess),
			RTRS_SRV_TRACE_NAME);
		strscpy(__entry->path, path->str, RTRS_SRV_TRACE_NAME);
		__entry->state = state;
	),
	TP_printk("%s %s: %s", __entry->sess, __entry->path,
		  __print_symbolic(__entry->state,
				   { RTRS_SRV_CONNECTING, "CONNECTING" },
				   { RTRS_SRV_CONNECTED, "CONNECTED" },
				   { RTRS_SRV_CLOSING, "CLOSING" },
				   { RTRS_SRV_CLOSED, "CLOSED" }))
);

TRACE_EVENT(rtrs_srv_cm_event,
	TP_PROTO(const struct rtrs_srv_con *con, int event, int status),
	TP_ARGS(con, event, status),
	TP_STRUCT__entry(
		__array(char, path, RTRS_SRV_TRACE_NAME)
		__field(u32, cid)
		__field(int, event)
		__field(int, status)
	),
	TP_fast_assign(
		strscpy(__entry->path, con->path->str, RTRS_SRV_TRACE_NAME);
		__entry->cid = con->c.cid;
		__entry->event = event;
		__entry->status = status;
	),
	TP_printk("%s: cid %u event %d status %d", __entry->path, __entry->cid,
		  __entry->event, __entry->status)
);

DECLARE_EVENT_CLASS(rtrs_srv_op,
	TP_PROTO(const struct rtrs_srv_op *op),
	TP_ARGS(op),
	TP_STRUCT__entry(
		__array(char, sess, RTRS_SRV_TRACE_NAME)
		__field(u32, cid)
		__field(u32, chunk)
		__field(u32, off)
		__field(bool, write)
		__field(u32, data_len)
		__field(u32, usr_len)
		__field(int, status)
	),
	TP_fast_assign(
		strscpy(__entry->sess, rtrs_srv_sess_name(op->path->sess),
			RTRS_SRV_TRACE_NAME);
		__entry->cid = op->cid;
		__entry->chunk = op->id;
		__entry->off = op->off;
		__entry->write = op->req.write;
		__entry->data_len = op->req.data_len;
		__entry->usr_len = op->req.usr_len;
		__entry->status = op->status;
	),
	TP_printk("%s: cid %u chunk %u offset %u %s data %u user message %u status %d",
		  __entry->sess, __entry->cid, __entry->chunk, __entry->off,
		  __entry->write ? "WRITE" : "READ", __entry->data_len,
		  __entry->usr_len, __entry->status)
);

#define DEFINE_RTRS_SRV_OP_EVENT(name)					\
	DEFINE_EVENT(rtrs_srv_op, name,					\
		TP_PROTO(const struct rtrs_srv_op *op), TP_ARGS(op))

/* In the order in which an operation comes by; only offset is valid at first */
DEFINE_RTRS_SRV_OP_EVENT(rtrs_srv_op_receive);
DEFINE_RTRS_SRV_OP_EVENT(rtrs_srv_op_invalidated);
DEFINE_RTRS_SRV_OP_EVENT(rtrs_srv_op_deliver);
DEFINE_RTRS_SRV_OP_EVENT(rtrs_srv_op_finish);
DEFINE_RTRS_SRV_OP_EVENT(rtrs_srv_op_wait_for_slots);
DEFINE_RTRS_SRV_OP_EVENT(rtrs_srv_op_answer);

#endif /* RTRS_SRV_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE rtrs-srv-trace
#include <trace/define_trace.h>
