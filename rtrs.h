/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RTRS, the RDMA transport for requests between kernel modules: public API.
 *
 * A client ULP opens a session, takes a permit and hands over a READ or a
 * WRITE of a scatterlist together with a few bytes of its own, the user
 * message.  The server ULP finds data and user message in a preallocated
 * chunk and answers with an errno; for a READ the chunk's content goes back.
 *
 * Names, types and argument order are those of the interface that rnbd uses
 * and do not change.
 */
#ifndef RTRS_H
#define RTRS_H

#include <linux/limits.h>
#include <linux/scatterlist.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <linux/uio.h>

struct rtrs_clt_sess;
struct rtrs_permit;
struct rtrs_srv_ctx;
struct rtrs_srv_op;
struct rtrs_srv_sess;

/* Addresses: implemented in rtrs-addr.c */

/**
 * struct rtrs_addr - one path: where it starts and where it ends
 * @src: source address; NULL lets the routing decide
 * @dst: destination address
 */
struct rtrs_addr {
	struct sockaddr_storage *src;
	struct sockaddr_storage *dst;
};

/**
 * rtrs_addr_to_sockaddr() - parse the address or pair of addresses of a path
 * @str: destination, or source and destination with '@' or ',' in between;
 *	each is ``ip:<v4 or v6>``, IPv6 link-local ones with their interface
 *	behind a '%', or ``gid:<gid>``
 * @len: length of @str in bytes, without a terminating NUL
 * @port: port of the destination, host order
 * @addr: storage to fill in; @addr->src is set to NULL if @str has no source
 *
 * Context: Any, but IPv6 scopes are looked up by interface name; may sleep.
 * Return: 0, or -EINVAL if @str has another form.
 */
int rtrs_addr_to_sockaddr(const char *str, size_t len, u16 port,
			  struct rtrs_addr *addr);

/**
 * sockaddr_to_str() - print an address as rtrs_addr_to_sockaddr() reads it
 * @addr: AF_INET, AF_INET6 or AF_IB address
 * @buf: destination
 * @len: size of @buf in bytes
 *
 * Context: Any.
 * Return: number of characters written, without the NUL.
 */
int sockaddr_to_str(const struct sockaddr *addr, char *buf, size_t len);

/**
 * rtrs_addr_to_str() - print a path as source '@' destination
 * @addr: the path; without a source only the destination is printed
 * @buf: destination
 * @len: size of @buf in bytes
 *
 * Context: Any.
 * Return: number of characters written, without the NUL.
 */
int rtrs_addr_to_str(const struct rtrs_addr *addr, char *buf, size_t len);

/* Client API: implemented in rtrs-clt.c and rtrs-clt-io.c */

/**
 * enum rtrs_clt_link_ev - what happened to the session as a whole
 * @RTRS_CLT_LINK_EV_RECONNECTED: the first path came back
 * @RTRS_CLT_LINK_EV_DISCONNECTED: the last connected path was lost
 */
enum rtrs_clt_link_ev {
	RTRS_CLT_LINK_EV_RECONNECTED,
	RTRS_CLT_LINK_EV_DISCONNECTED,
};

/**
 * struct rtrs_clt_ops - callbacks of a client ULP, copied by rtrs_clt_open()
 * @priv: handed to @link_ev
 * @link_ev: session lost or regained its last path.  Called in process
 *	context, one call at a time, never from within rtrs_clt_open(); may
 *	sleep, but must not wait for a request, since recovery waits for it
 */
struct rtrs_clt_ops {
	void *priv;
	void (*link_ev)(void *priv, enum rtrs_clt_link_ev ev);
};

/**
 * rtrs_clt_open() - open a session and connect all of its paths
 * @ops: callbacks
 * @pathname: name of the session, unique among the client's sessions, at most
 *	254 bytes of UTF-8 without control characters, '/' and '.'; becomes
 *	a sysfs directory on both sides
 * @paths: the paths
 * @path_cnt: number of @paths, 1..128
 * @port: port of the server, host order
 * @pdu_sz: bytes of the caller's own that come with each permit
 * @reconnect_delay_sec: seconds between two attempts to reconnect a path
 * @max_reconnect_attempts: how often, in a row; 0: never, -1: for ever
 * @nr_poll_queues: connections without interrupts, to be polled with
 *	rtrs_clt_rdma_cq_direct()
 *
 * Context: Process; sleeps until every path is connected.
 * Return: the session with every path connected, or ERR_PTR: -EINVAL for a bad
 *	name or number of paths, -EEXIST if the name is taken, -EBUSY if another
 *	client has a session of that name at the server, or the server has no
 *	room, -ENOMEM, or the error of the first path that could not be
 *	connected.  After an error
 *	nothing is left behind.
 */
struct rtrs_clt_sess *rtrs_clt_open(struct rtrs_clt_ops *ops,
				    const char *pathname,
				    const struct rtrs_addr *paths,
				    size_t path_cnt, u16 port,
				    size_t pdu_sz, u8 reconnect_delay_sec,
				    s16 max_reconnect_attempts,
				    u32 nr_poll_queues);

/**
 * rtrs_clt_close() - close a session
 * @clt: the session; gone on return
 *
 * Requests in flight end with -ECONNABORTED before it returns.  No callback
 * runs afterwards.  The caller makes sure that nobody uses @clt any more.
 *
 * Context: Process; sleeps.
 */
void rtrs_clt_close(struct rtrs_clt_sess *clt);

/**
 * enum wait_type - what rtrs_clt_get_permit() does when no permit is free
 * @RTRS_PERMIT_NOWAIT: return NULL
 * @RTRS_PERMIT_WAIT: sleep until one is put
 */
enum wait_type {
	RTRS_PERMIT_NOWAIT = 0,
	RTRS_PERMIT_WAIT = 1,
};

/**
 * enum rtrs_clt_con_type - which connection carries a request
 * @RTRS_ADMIN_CON: the service connection, cid 0
 * @RTRS_IO_CON: the connection of the CPU that took the permit
 */
enum rtrs_clt_con_type {
	RTRS_ADMIN_CON,
	RTRS_IO_CON,
};

/**
 * rtrs_clt_get_permit() - take the right to have one request in flight
 * @clt: session
 * @con_type: connection that the request will use
 * @wait: what to do when all queue_depth permits are out
 *
 * Waiters are served in the order in which they came.
 *
 * Context: Any with RTRS_PERMIT_NOWAIT; process with RTRS_PERMIT_WAIT.
 * Return: a permit, or NULL if none is free and @wait is RTRS_PERMIT_NOWAIT.
 */
struct rtrs_permit *rtrs_clt_get_permit(struct rtrs_clt_sess *clt,
					enum rtrs_clt_con_type con_type,
					enum wait_type wait);

/**
 * rtrs_clt_put_permit() - give a permit back
 * @clt: session
 * @permit: permit without a request in flight
 *
 * Context: Any.
 */
void rtrs_clt_put_permit(struct rtrs_clt_sess *clt,
			 struct rtrs_permit *permit);

/**
 * rtrs_permit_to_pdu() - the caller's own bytes that come with a permit
 * @permit: permit
 *
 * Context: Any.
 * Return: pointer to the pdu_sz bytes asked for in rtrs_clt_open(), aligned
 *	for any type; zero at first and never touched by RTRS.
 */
void *rtrs_permit_to_pdu(struct rtrs_permit *permit);

/**
 * struct rtrs_clt_req_ops - how a request ends, copied by rtrs_clt_request()
 * @priv: handed to @conf_fn
 * @conf_fn: confirmation; called exactly once for a request that was accepted,
 *	in any context, with 0 or the negative errno of the server or of the
 *	transport.  From then on permit and scatterlist are the caller's again
 */
struct rtrs_clt_req_ops {
	void *priv;
	void (*conf_fn)(void *priv, int errno);
};

/**
 * rtrs_clt_request() - send a request
 * @dir: READ or WRITE
 * @ops: confirmation
 * @clt: session
 * @permit: permit without a request in flight
 * @vec: pieces of the user message; copied
 * @nr: number of pieces
 * @data_len: bytes to read or write, 0 for a request without data
 * @sg: scatterlist of @data_len bytes or more; RTRS's until the confirmation
 * @sg_cnt: number of elements, at most max_segments of rtrs_clt_query()
 *
 * Elements may start and end anywhere.  A READ whose elements leave gaps
 * inside pages, on a device whose memory regions cannot map them, goes through
 * an intermediate buffer that is allocated for it.
 *
 * A request in flight on a path that breaks moves to another connected path.
 *
 * Context: Any context in which the caller may map memory for DMA; does not
 *	sleep.
 * Return: 0 if conf_fn will be called.  Otherwise it will not be:
 *	-ECONNABORTED without a connected path, -EMSGSIZE if user message, data
 *	or scatterlist are larger than the server's chunk or the device allows,
 *	-EINVAL for arguments that contradict each other, -ENOMEM without memory
 *	for the intermediate buffer or for the DMA mapping.
 */
int rtrs_clt_request(int dir, struct rtrs_clt_req_ops *ops,
		     struct rtrs_clt_sess *clt, struct rtrs_permit *permit,
		     const struct kvec *vec, size_t nr, size_t data_len,
		     struct scatterlist *sg, unsigned int sg_cnt);

/**
 * rtrs_clt_rdma_cq_direct() - poll for completions of a poll queue
 * @clt: session
 * @index: number of the connection less one: the poll queues follow the
 *	connections of the possible CPUs, so num_possible_cpus() is the first.
 *	Where there is no poll queue, nothing is polled
 *
 * Context: Any.
 * Return: number of completions handled, -1 without a connected path.
 */
int rtrs_clt_rdma_cq_direct(struct rtrs_clt_sess *clt, unsigned int index);

/**
 * struct rtrs_attrs - limits of a session
 * @queue_depth: number of permits
 * @max_io_size: largest data_len of a request, bytes
 * @max_segments: largest sg_cnt of a request
 */
struct rtrs_attrs {
	u32 queue_depth;
	u32 max_io_size;
	u32 max_segments;
};

/**
 * rtrs_clt_query() - ask for the limits of a session
 * @clt: session
 * @attr: filled in
 *
 * Context: Any.
 * Return: 0, or -ECOMM without a connected path.
 */
int rtrs_clt_query(struct rtrs_clt_sess *clt, struct rtrs_attrs *attr);

/* Server API: implemented in rtrs-srv.c and rtrs-srv-io.c */

/**
 * enum rtrs_srv_link_ev - a session came or went
 * @RTRS_SRV_LINK_EV_CONNECTED: before its first request
 * @RTRS_SRV_LINK_EV_DISCONNECTED: after its last request was finished
 */
enum rtrs_srv_link_ev {
	RTRS_SRV_LINK_EV_CONNECTED,
	RTRS_SRV_LINK_EV_DISCONNECTED,
};

/**
 * struct rtrs_srv_ops - callbacks of a server ULP, copied by rtrs_srv_open()
 * @rdma_ev: one request.  @priv is the session's, @data the chunk: the data of
 *	a WRITE, or where to put the answer of a READ, @datalen bytes; @usr and
 *	@usrlen are the user message.  All of it stays until the request is
 *	finished.  Called in process context, may sleep, and may run for many
 *	requests at once.  A non-zero return finishes the request with that
 *	errno; after 0 the ULP finishes it with rtrs_srv_resp_rdma()
 * @link_ev: a session came or went.  Called in process context, may sleep.  A
 *	non-zero return to RTRS_SRV_LINK_EV_CONNECTED refuses the session
 */
struct rtrs_srv_ops {
	int (*rdma_ev)(void *priv, struct rtrs_srv_op *id, void *data,
		       size_t datalen, const void *usr, size_t usrlen);
	int (*link_ev)(struct rtrs_srv_sess *sess, enum rtrs_srv_link_ev ev,
		       void *priv);
};

/**
 * rtrs_srv_open() - listen for sessions
 * @ops: callbacks
 * @port: port to listen on, host order, for ip: and gid: addresses
 *
 * Context: Process; sleeps.
 * Return: the context, or ERR_PTR: -EADDRINUSE if the port is taken, -EINVAL,
 *	-ENOMEM.
 */
struct rtrs_srv_ctx *rtrs_srv_open(struct rtrs_srv_ops *ops, u16 port);

/**
 * rtrs_srv_close() - stop listening and close every session
 * @ctx: context; gone on return
 *
 * Waits for the requests that the ULP has not finished yet.  When it returns,
 * no callback runs or will run.
 *
 * Context: Process; sleeps.
 */
void rtrs_srv_close(struct rtrs_srv_ctx *ctx);

/**
 * rtrs_srv_resp_rdma() - finish a request
 * @id: operation that rdma_ev was called with; not the caller's afterwards
 * @status: 0 or a negative errno for the client; after 0 a READ's data is sent
 *
 * Context: Any, hard interrupts included.
 * Return: true if the operation is done with: the answer is posted, or its path
 *	is gone; false if the send queue was full: RTRS sends the answer itself
 *	as soon as there is room.
 */
bool rtrs_srv_resp_rdma(struct rtrs_srv_op *id, int status);

/**
 * rtrs_srv_set_sess_priv() - set what the session's callbacks are called with
 * @sess: session
 * @priv: pointer for rdma_ev and link_ev
 *
 * Context: Any; usually from link_ev.
 */
void rtrs_srv_set_sess_priv(struct rtrs_srv_sess *sess, void *priv);

/**
 * rtrs_srv_get_path_name() - name of a session as its client gave it
 * @sess: session
 * @pathname: destination
 * @len: size of @pathname in bytes
 *
 * Context: Any.
 * Return: 0, -ENOTCONN without a connected path, -EMSGSIZE if @len is too
 *	small.
 */
int rtrs_srv_get_path_name(struct rtrs_srv_sess *sess, char *pathname,
			   size_t len);

/**
 * rtrs_srv_get_queue_depth() - number of chunks of a session
 * @sess: session
 *
 * Context: Any.
 * Return: largest number of requests in flight.
 */
int rtrs_srv_get_queue_depth(struct rtrs_srv_sess *sess);

#endif /* RTRS_H */
