// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attacks on a server while a path comes up: connection requests, info_req.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "hostile.h"

#define DEADLINE_MS 37000	/* the server's 35 s for a handshake */

/* Connection requests */

static int send_bytes(struct path *path, const struct attack *attack)
{
	struct rtrs_msg_conn_req req = path->req;
	u32 len = attack->arg;
	struct con *con = &path->cons[0];

	con_resolve(con, path->addr, path->port);
	path->pd = ibv_alloc_pd(con->id->verbs);
	con_create_qp(con, path->pd);
	return con_connect(con, &req, len);
}

static int send_random(struct path *path, const struct attack *attack)
{
	struct rtrs_msg_conn_req req;

	if (getrandom(&req, sizeof(req), 0) != sizeof(req))
		die("no random bytes");
	req.magic = htole16(RTRS_MAGIC + 1);
	return path_connect_as(path, 0, &req);
}

/* A field of the request: its offset in the upper half, its value. */
#define FIELD(field, value) \
	((u64)offsetof(struct rtrs_msg_conn_req, field) << 32 | (value))

static void set_field(struct rtrs_msg_conn_req *req, u64 arg)
{
	__le16 value = htole16(arg);

	memcpy((u8 *)req + (arg >> 32), &value, sizeof(value));
}

static int send_field(struct path *path, const struct attack *attack)
{
	struct rtrs_msg_conn_req req = path->req;

	set_field(&req, attack->arg);
	return path_connect_as(path, 0, &req);
}

/* The first connection is honest, the second is not. */
static int second_field(struct path *path, const struct attack *attack)
{
	struct rtrs_msg_conn_req req = path->req;

	req.cid = htole16(1);
	set_field(&req, attack->arg);
	return path_connect_as(path, 1, &req);
}

static int unknown_session(struct path *path, const struct attack *attack)
{
	path->req.first_conn = 0;
	return path_connect(path, 0);
}

/* Another path of the session, between the same addresses. */
static int same_addresses(struct path *path, const struct attack *attack)
{
	struct rtrs_msg_conn_req req = path->req;

	req.sess_uuid[0] ^= 1;
	return path_connect_as(path, CONS_MAX - 1, &req);
}

/* A connection more, on a path that is complete. */
static int late_connection(struct path *path, const struct attack *attack)
{
	struct rtrs_msg_conn_req req = path->req;

	req.cid = htole16(1);
	return path_connect_as(path, CONS_MAX - 1, &req);
}

static int other_minor(struct path *path, const struct attack *attack)
{
	path->req.version = htole16(RTRS_PROTO_VER_MAJOR << 8 | 0xff);
	path_bring_up(path, UP);
	return 0;
}

static int reserved_bits(struct path *path, const struct attack *attack)
{
	path->req.first_conn = 0xff;
	memset(path->req.reserved, 0xff, sizeof(path->req.reserved));
	path_bring_up(path, UP);
	return 0;
}

#define REFUSES(name, run, arg, err, rule) \
	{ name, NOTHING, run, arg, NULL, REFUSED, err, rule, 0 }
#define REFUSES_AT(stage, name, run, arg, err, rule) \
	{ name, stage, run, arg, NULL, REFUSED, err, rule, 0 }

const struct attack connect_attacks[] = {
	REFUSES("conn-empty", send_bytes, 0, -ECONNRESET, "wrong magic"),
	REFUSES("conn-short", send_bytes, 4, -ECONNRESET,
		"another major version"),
	REFUSES("conn-short-cid", send_bytes, 8, -ECONNRESET,
		"cid is not below cid_num"),
	REFUSES("conn-random", send_random, 0, -ECONNRESET, "wrong magic"),
	REFUSES("magic", send_field, FIELD(magic, 0xBD1B), -ECONNRESET,
		"wrong magic"),
	REFUSES("major-1", send_field, FIELD(version, 0x0100), -ECONNRESET,
		"another major version"),
	REFUSES("major-3", send_field, FIELD(version, 0x0300), -ECONNRESET,
		"another major version"),
	REFUSES("cid-is-num", send_field, FIELD(cid, 2), -ECONNRESET,
		"cid is not below cid_num"),
	REFUSES("cid-highest", send_field, FIELD(cid, 0xffff), -ECONNRESET,
		"cid is not below cid_num"),
	REFUSES("cid-num-0", send_field, FIELD(cid_num, 0), -ECONNRESET,
		"cid is not below cid_num"),
	REFUSES("cid-num-16385", send_field, FIELD(cid_num, 16385), -EPERM,
		"more connections than a path may have"),
	REFUSES("cid-num-highest", send_field, FIELD(cid_num, 0xffff), -EPERM,
		"more connections than a path may have"),
	REFUSES("no-session", unknown_session, 0, -ENXIO,
		"there is no such session"),
	REFUSES_AT(ACCEPTED, "cid-num-differs", second_field,
		   FIELD(cid_num, 3), -ECONNRESET, "cid_num differs"),
	REFUSES_AT(ACCEPTED, "cid-twice", second_field, FIELD(cid, 0),
		   -ECONNRESET, "cid is in use"),
	REFUSES_AT(ACCEPTED, "recon-cnt-back", second_field,
		   FIELD(recon_cnt, 0), -ECONNRESET, "of an older attempt"),
	REFUSES_AT(ACCEPTED, "recon-cnt-far-back", second_field,
		   FIELD(recon_cnt, 0x8002), -ECONNRESET,
		   "of an older attempt"),
	REFUSES_AT(ACCEPTED, "recon-cnt-forward", second_field,
		   FIELD(recon_cnt, 2), -EBUSY,
		   "previous incarnation is closing"),
	REFUSES_AT(UP, "cid-late", late_connection, 0, -ECONNRESET,
		   "the path is connected already"),
	REFUSES_AT(UP, "same-addresses", same_addresses, 0, -EEXIST,
		   "there is a path between these addresses"),
	{ "minor", NOTHING, other_minor, 0, NULL, HARMLESS, 0, NULL, 0 },
	{ "reserved", NOTHING, reserved_bits, 0, NULL, HARMLESS, 0, NULL, 0 },
	{ }
};

/* info_req */

static void put_info(struct path *path, struct rtrs_msg_info_req *req)
{
	memset(req, 0, sizeof(*req));
	req->type = htole16(RTRS_MSG_INFO_REQ);
	memcpy(req->pathname, path->name, sizeof(req->pathname));
}

static int info_length(struct path *path, const struct attack *attack)
{
	struct {
		struct rtrs_msg_info_req req;
		u8 more[64];
	} msg = { };

	put_info(path, &msg.req);
	path_send(path, 0, &msg, attack->arg);
	return 0;
}

static int info_type(struct path *path, const struct attack *attack)
{
	struct rtrs_msg_info_req req;

	put_info(path, &req);
	req.type = htole16(attack->arg);
	path_send(path, 0, &req, sizeof(req));
	return 0;
}

static int info_name(struct path *path, const struct attack *attack)
{
	struct rtrs_msg_info_req req = { .type = htole16(RTRS_MSG_INFO_REQ) };

	memcpy(req.pathname, attack->text, strlen(attack->text));
	path_send(path, 0, &req, sizeof(req));
	return 0;
}

static int info_endless_name(struct path *path, const struct attack *attack)
{
	struct rtrs_msg_info_req req = { .type = htole16(RTRS_MSG_INFO_REQ) };

	memset(req.pathname, 'a', sizeof(req.pathname));
	memset(req.reserved, 'a', sizeof(req.reserved));
	path_send(path, 0, &req, sizeof(req));
	return 0;
}

/* Before the other connections exist: allowed, it is kept. */
static int info_early(struct path *path, const struct attack *attack)
{
	path_send_info(path);
	usleep(50000);
	path_connect_from(path, 1);
	path_get_info(path);
	return 0;
}

static int info_twice(struct path *path, const struct attack *attack)
{
	path_send_info(path);
	return 0;
}

static int info_other_cid(struct path *path, const struct attack *attack)
{
	struct rtrs_msg_info_req req;

	put_info(path, &req);
	path_send(path, 1, &req, sizeof(req));
	return 0;
}

/* A word of immediate data where info_req has to come first. */
static int imm_early(struct path *path, const struct attack *attack)
{
	struct wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm = RTRS_HB_MSG_IMM << RTRS_IMM_PAYLOAD_BITS,
	};

	path_post(path, attack->arg, &wr);
	return 0;
}

/* Nothing more is said. */
static int silence(struct path *path, const struct attack *attack)
{
	return 0;
}

/* info_req is there, a connection is not. */
static int info_alone(struct path *path, const struct attack *attack)
{
	path_send_info(path);
	return 0;
}

#define CLOSES(name, run, arg, text, rule) \
	{ name, CONNECTED, run, arg, text, CLOSED, 0, rule, 0 }
#define NAMED(name, text, rule) CLOSES(name, info_name, 0, text, rule)
#define NOT_UTF8(name, text) NAMED(name, text, "session name must be UTF-8")

const struct attack info_attacks[] = {
	CLOSES("info-empty", info_length, 0, NULL, "info_req has another length"),
	CLOSES("info-1", info_length, 1, NULL, "info_req has another length"),
	CLOSES("info-271", info_length, 271, NULL, "info_req has another length"),
	CLOSES("info-273", info_length, 273, NULL, "receive of info_req: "),
	CLOSES("info-type-1", info_type, 1, NULL, "info_req has another type"),
	CLOSES("info-type-high", info_type, 0x0100, NULL, "info_req has another type"),
	CLOSES("name-endless", info_endless_name, 0, NULL, "session name is not terminated"),
	NAMED("name-empty", "", "session name must not be empty"),
	NAMED("name-dot", ".", "must not contain '/' or '.'"),
	NAMED("name-dots", "..", "must not contain '/' or '.'"),
	NAMED("name-slash", "a/b", "must not contain '/' or '.'"),
	NAMED("name-newline", "a\nb", "control characters"),
	NAMED("name-del", "a\177b", "control characters"),
	NAMED("name-csi", "a\xc2\x9b[1m", "control characters"),
	NOT_UTF8("name-latin-1", "M\xf6hre"),
	NOT_UTF8("name-overlong", "a\xc0\xafz"),
	NOT_UTF8("name-surrogate", "\xed\xa0\x80"),
	NOT_UTF8("name-cut", "a\xe2\x82"),
	NAMED("name-taken", "honest", "there is another session \"honest\""),
	CLOSES("info-other-cid", info_other_cid, 0, NULL, "receive: "),
	CLOSES("imm-early-0", imm_early, 0, NULL, "the first message is not info_req"),
	CLOSES("imm-early-1", imm_early, 1, NULL, "message before info_rsp"),
	{ "info-twice", UP, info_twice, 0, NULL, CLOSED, 0, "receive: ", 0 },
	{ "info-early", ACCEPTED, info_early, 0, NULL, HARMLESS, 0, NULL, 0 },
	{ }
};

/* Run together: each takes as long as the server waits. */
const struct attack silent_attacks[] = {
	{ "silent-accepted", ACCEPTED, silence, 0, NULL, CLOSED, 0,
	  "not connected within 35 seconds", DEADLINE_MS },
	{ "silent-connected", CONNECTED, silence, 0, NULL, CLOSED, 0,
	  "not connected within 35 seconds", DEADLINE_MS },
	{ "silent-info", ACCEPTED, info_alone, 0, NULL, CLOSED, 0,
	  "not connected within 35 seconds", DEADLINE_MS },
	{ "silent-up", UP, silence, 0, NULL, CLOSED, 0,
	  "no sign of life", DEADLINE_MS },
	{ }
};
