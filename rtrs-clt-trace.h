/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RTRS client: trace points.
 *
 * A request is followed by session and mem_id: the client's mem_id is the
 * number of the chunk, which the server's trace points print as well.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rtrs_clt

#if !defined(RTRS_CLT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RTRS_CLT_TRACE_H

#include <linux/tracepoint.h>

#include "rtrs-clt.h"

TRACE_DEFINE_ENUM(RTRS_CLT_CONNECTING);
TRACE_DEFINE_ENUM(RTRS_CLT_CONNECTED);
TRACE_DEFINE_ENUM(RTRS_CLT_RECOVERING);
TRACE_DEFINE_ENUM(RTRS_CLT_WAITING);
TRACE_DEFINE_ENUM(RTRS_CLT_CLOSING);
TRACE_DEFINE_ENUM(RTRS_CLT_CLOSED);

#define show_rtrs_clt_state(state)				\
	__print_symbolic(state,					\
			 { RTRS_CLT_CONNECTING, "CONNECTING" },	\
			 { RTRS_CLT_CONNECTED, "CONNECTED" },	\
			 { RTRS_CLT_RECOVERING, "RECOVERING" },	\
			 { RTRS_CLT_WAITING, "WAITING" },	\
			 { RTRS_CLT_CLOSING, "CLOSING" },	\
			 { RTRS_CLT_CLOSED, "CLOSED" })

TRACE_EVENT(rtrs_clt_path_state,
	TP_PROTO(const struct rtrs_clt_path *path, int old, int new),
	TP_ARGS(path, old, new),
	TP_STRUCT__entry(
		__array(char, sess, RTRS_CLT_TRACE_NAME)
		__array(char, path, RTRS_CLT_TRACE_NAME)
		__field(int, old)
		__field(int, new)
	),
	TP_fast_assign(
		strscpy(__entry->sess, path->sess->name, sizeof(__entry->sess));
		strscpy(__entry->path, path->name, sizeof(__entry->path));
		__entry->old = old;
		__entry->new = new;
	),
	TP_printk("%s %s: %s -> %s", __entry->sess, __entry->path,
		  show_rtrs_clt_state(__entry->old),
		  show_rtrs_clt_state(__entry->new))
);

TRACE_EVENT(rtrs_clt_link_error,
	TP_PROTO(const struct rtrs_clt_path *path, int err, const char *what),
	TP_ARGS(path, err, what),
	TP_STRUCT__entry(
		__array(char, sess, RTRS_CLT_TRACE_NAME)
		__array(char, path, RTRS_CLT_TRACE_NAME)
		__array(char, what, RTRS_CLT_TRACE_NAME)
		__field(int, err)
	),
	TP_fast_assign(
		strscpy(__entry->sess, path->sess->name, sizeof(__entry->sess));
		strscpy(__entry->path, path->name, sizeof(__entry->path));
		strscpy(__entry->what, what, sizeof(__entry->what));
		__entry->err = err;
	),
	TP_printk("%s %s: %s: %d", __entry->sess, __entry->path,
		  __entry->what, __entry->err)
);

TRACE_EVENT(rtrs_clt_cm_event,
	TP_PROTO(const struct rtrs_clt_path *path, u16 cid, int event,
		 int status),
	TP_ARGS(path, cid, event, status),
	TP_STRUCT__entry(
		__array(char, sess, RTRS_CLT_TRACE_NAME)
		__array(char, path, RTRS_CLT_TRACE_NAME)
		__field(u16, cid)
		__field(int, event)
		__field(int, status)
	),
	TP_fast_assign(
		strscpy(__entry->sess, path->sess->name, sizeof(__entry->sess));
		strscpy(__entry->path, path->name, sizeof(__entry->path));
		__entry->cid = cid;
		__entry->event = event;
		__entry->status = status;
	),
	TP_printk("%s %s: cid %u: event %d status %d", __entry->sess,
		  __entry->path, __entry->cid, __entry->event, __entry->status)
);

DECLARE_EVENT_CLASS(rtrs_clt_req,
	TP_PROTO(const struct rtrs_clt_req *req, int status),
	TP_ARGS(req, status),
	TP_STRUCT__entry(
		__array(char, sess, RTRS_CLT_TRACE_NAME)
		__array(char, path, RTRS_CLT_TRACE_NAME)
		__field(u16, cid)
		__field(u32, mem_id)
		__field(int, dir)
		__field(u32, usr_len)
		__field(u32, data_len)
		__field(u32, key)
		__field(int, status)
	),
	TP_fast_assign(
		strscpy(__entry->sess, req->con->link->path->sess->name,
			sizeof(__entry->sess));
		strscpy(__entry->path, req->con->link->path->name,
			sizeof(__entry->path));
		__entry->cid = req->con->c.cid;
		__entry->mem_id = req->permit->mem_id;
		__entry->dir = req->dir;
		__entry->usr_len = req->usr_len;
		__entry->data_len = req->data_len;
		__entry->key = req->key_valid ? req->mr->rkey : 0;
		__entry->status = status;
	),
	TP_printk("%s %s: cid %u: mem_id %u %s usr_len %u data_len %u key 0x%x status %d",
		  __entry->sess, __entry->path, __entry->cid, __entry->mem_id,
		  __entry->dir ? "WRITE" : "READ", __entry->usr_len,
		  __entry->data_len, __entry->key, __entry->status)
);

#define DEFINE_RTRS_CLT_REQ_EVENT(name)					\
	DEFINE_EVENT(rtrs_clt_req, name,				\
		TP_PROTO(const struct rtrs_clt_req *req, int status),	\
		TP_ARGS(req, status))

DEFINE_RTRS_CLT_REQ_EVENT(rtrs_clt_req_submit);
DEFINE_RTRS_CLT_REQ_EVENT(rtrs_clt_req_post);
DEFINE_RTRS_CLT_REQ_EVENT(rtrs_clt_req_invalidate);
DEFINE_RTRS_CLT_REQ_EVENT(rtrs_clt_req_complete);
DEFINE_RTRS_CLT_REQ_EVENT(rtrs_clt_req_fail_over);

TRACE_EVENT(rtrs_clt_permit_wait,
	TP_PROTO(const struct rtrs_clt_sess *sess, bool begin),
	TP_ARGS(sess, begin),
	TP_STRUCT__entry(
		__array(char, sess, RTRS_CLT_TRACE_NAME)
		__field(bool, begin)
	),
	TP_fast_assign(
		strscpy(__entry->sess, sess->name, sizeof(__entry->sess));
		__entry->begin = begin;
	),
	TP_printk("%s: %s", __entry->sess, __entry->begin ? "begin" : "end")
);

#endif /* RTRS_CLT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE rtrs-clt-trace
#include <trace/define_trace.h>
