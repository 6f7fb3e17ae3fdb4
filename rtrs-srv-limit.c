// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS server: what clients may take, before anybody knows whether they are
 * honest.
 *
 * Each context counts its sessions, and its connections that are half open,
 * that is, those of paths that have not become CONNECTED, until they are gone
 * from the device.  For each address that clients come from it counts the
 * paths and the half-open connections.  Chunks are counted for the whole
 * module, since memory is one.
 *
 * Who is refused gets an errno with the reject: -EBUSY where it is worth while
 * to try again soon, -EPERM where somebody has to go first; without memory the
 * path that was to get the chunks is closed.
 *
 * The limits can be changed at any time, and hold for what comes then.
 *
 * Everything but the chunks is counted under the context's lock.  Nothing here
 * can fail later on: what is counted belongs to a path, which gives it back.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/in6.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <rdma/ib.h>

#include "rtrs-srv.h"

static unsigned int max_sessions = 1024;
static unsigned int max_client_paths = 256;
static unsigned int max_half_open = 4096;
static unsigned int max_client_half_open = 1024;
static unsigned int max_memory_mb;

module_param(max_sessions, uint, 0644);
MODULE_PARM_DESC(max_sessions, "sessions of a port (default: 1024)");
module_param(max_client_paths, uint, 0644);
MODULE_PARM_DESC(max_client_paths,
		 "paths of a port from one address (default: 256)");
module_param(max_half_open, uint, 0644);
MODULE_PARM_DESC(max_half_open,
		 "connections of a port whose paths are not connected yet (default: 4096)");
module_param(max_client_half_open, uint, 0644);
MODULE_PARM_DESC(max_client_half_open,
		 "those of them from one address (default: 1024)");
module_param(max_memory_mb, uint, 0644);
MODULE_PARM_DESC(max_memory_mb,
		 "MiB of buffers for all sessions (default: 0, half of the memory)");

/**
 * struct rtrs_srv_client - an address that paths of a context come from
 * @entry: in the context's list
 * @addr: the address; its port means nothing
 * @nr_paths: paths
 * @nr_half_open: their connections that are half open
 *
 * Lifetime: exists as long as it has paths; all under the context's lock.
 */
struct rtrs_srv_client {
	struct list_head entry;
	struct sockaddr_storage addr;
	unsigned int nr_paths;
	unsigned int nr_half_open;
};

static DEFINE_SPINLOCK(rtrs_srv_mem_lock);	/* Protects rtrs_srv_mem. */
static u64 rtrs_srv_mem;			/* bytes of all chunks */

static const void *host_of(const struct sockaddr_storage *addr, size_t *len)
{
	switch (addr->ss_family) {
	case AF_INET:
		*len = sizeof(struct in_addr);
		return &((const struct sockaddr_in *)addr)->sin_addr;
	case AF_INET6:
		*len = sizeof(struct in6_addr);
		return &((const struct sockaddr_in6 *)addr)->sin6_addr;
	default:
		*len = sizeof(struct ib_addr);
		return &((const struct sockaddr_ib *)addr)->sib_addr;
	}
}

static bool same_host(const struct sockaddr_storage *a,
		      const struct sockaddr_storage *b)
{
	size_t len;
	const void *host = host_of(a, &len);

	return a->ss_family == b->ss_family &&
	       !memcmp(host, host_of(b, &len), len);
}

static struct rtrs_srv_client *
rtrs_srv_find_client(struct rtrs_srv_ctx *ctx,
		     const struct sockaddr_storage *addr)
{
	struct rtrs_srv_client *client;

	list_for_each_entry(client, &ctx->clients, entry)
		if (same_host(&client->addr, addr))
			return client;
	return NULL;
}

/**
 * rtrs_srv_limit_add_path() - count a path, if it may come
 * @ctx: context; the caller holds its lock
 * @path: new path, with the client's address
 * @new_sess: it brings a session
 * @rule: set to the limit that is reached
 *
 * Context: Process; sleeps.
 * Return: 0; then rtrs_srv_limit_del_path() gives it back.  -EPERM, -ENOMEM.
 */
int rtrs_srv_limit_add_path(struct rtrs_srv_ctx *ctx,
			    struct rtrs_srv_path *path, bool new_sess,
			    const char **rule)
{
	struct rtrs_srv_client *client;

	lockdep_assert_held(&ctx->lock);
	*rule = "max_sessions is reached";
	if (new_sess && ctx->nr_sessions >= READ_ONCE(max_sessions))
		return -EPERM;
	client = rtrs_srv_find_client(ctx, &path->src);
	*rule = "max_client_paths is reached";
	if ((client ? client->nr_paths : 0) >= READ_ONCE(max_client_paths))
		return -EPERM;
	if (!client) {
		*rule = "no memory";
		client = kzalloc(sizeof(*client), GFP_KERNEL);
		if (!client)
			return -ENOMEM;
		client->addr = path->src;
		list_add_tail(&client->entry, &ctx->clients);
	}
	client->nr_paths++;
	path->client = client;
	return 0;
}

/**
 * rtrs_srv_limit_del_path() - a path is gone
 * @ctx: context; the caller holds its lock
 * @path: path that was counted, without half-open connections
 *
 * Context: Process.
 */
void rtrs_srv_limit_del_path(struct rtrs_srv_ctx *ctx,
			     struct rtrs_srv_path *path)
{
	struct rtrs_srv_client *client = path->client;

	lockdep_assert_held(&ctx->lock);
	path->client = NULL;
	if (--client->nr_paths)
		return;
	list_del(&client->entry);
	kfree(client);
}

/**
 * rtrs_srv_limit_check_con() - may another half-open connection come
 * @ctx: context; the caller holds its lock
 * @path: path that it is for
 * @rule: set to the limit that is reached
 *
 * Context: Any.
 * Return: 0 or -EBUSY.
 */
int rtrs_srv_limit_check_con(struct rtrs_srv_ctx *ctx,
			     struct rtrs_srv_path *path, const char **rule)
{
	lockdep_assert_held(&ctx->lock);
	if (ctx->nr_half_open >= READ_ONCE(max_half_open)) {
		*rule = "max_half_open is reached";
		return -EBUSY;
	}
	if (path->client->nr_half_open >= READ_ONCE(max_client_half_open)) {
		*rule = "max_client_half_open is reached";
		return -EBUSY;
	}
	return 0;
}

/**
 * rtrs_srv_limit_add_con() - count a half-open connection
 * @ctx: context; the caller holds its lock
 * @path: its path
 *
 * Context: Any.
 */
void rtrs_srv_limit_add_con(struct rtrs_srv_ctx *ctx,
			    struct rtrs_srv_path *path)
{
	lockdep_assert_held(&ctx->lock);
	ctx->nr_half_open++;
	path->client->nr_half_open++;
	path->nr_half_open++;
}

/**
 * rtrs_srv_limit_del_cons() - a path's connections are not half open any more
 * @ctx: context; the caller holds its lock
 * @path: path that is connected, or whose connections are gone
 *
 * Context: Any.
 */
void rtrs_srv_limit_del_cons(struct rtrs_srv_ctx *ctx,
			     struct rtrs_srv_path *path)
{
	lockdep_assert_held(&ctx->lock);
	ctx->nr_half_open -= path->nr_half_open;
	path->client->nr_half_open -= path->nr_half_open;
	path->nr_half_open = 0;
}

/**
 * rtrs_srv_limit_show() - what a context's clients have taken, for debugfs
 * @ctx: context; the caller holds its lock
 * @m: where it is printed
 *
 * Context: Process.
 */
void rtrs_srv_limit_show(struct rtrs_srv_ctx *ctx, struct seq_file *m)
{
	struct rtrs_srv_client *client;
	char str[64];

	lockdep_assert_held(&ctx->lock);
	seq_printf(m, "%u sessions, %u connections half open\n",
		   ctx->nr_sessions, ctx->nr_half_open);
	list_for_each_entry(client, &ctx->clients, entry) {
		sockaddr_to_str((struct sockaddr *)&client->addr, str,
				sizeof(str));
		seq_printf(m, "client %s: %u paths, %u connections half open\n",
			   str, client->nr_paths, client->nr_half_open);
	}
}

/* A session's chunks with the places for their user messages. */
static u64 rtrs_srv_chunks_bytes(void)
{
	return (u64)rtrs_srv_geo.queue_depth *
	       (rtrs_srv_chunk_size() + RTRS_SRV_HDR_SIZE);
}

static u64 rtrs_srv_max_mem(void)
{
	u64 mb = READ_ONCE(max_memory_mb);

	return mb ? mb << 20 : (u64)totalram_pages() << (PAGE_SHIFT - 1);
}

/**
 * rtrs_srv_limit_take_mem() - count the memory of a session's chunks
 *
 * Context: Process.
 * Return: true if it may be allocated; rtrs_srv_limit_give_mem() gives it back.
 */
bool rtrs_srv_limit_take_mem(void)
{
	u64 bytes = rtrs_srv_chunks_bytes();
	bool fits;

	spin_lock(&rtrs_srv_mem_lock);
	fits = rtrs_srv_mem + bytes <= rtrs_srv_max_mem();
	if (fits)
		rtrs_srv_mem += bytes;
	spin_unlock(&rtrs_srv_mem_lock);
	return fits;
}

/**
 * rtrs_srv_limit_give_mem() - a session's chunks are freed
 *
 * Context: Process.
 */
void rtrs_srv_limit_give_mem(void)
{
	spin_lock(&rtrs_srv_mem_lock);
	rtrs_srv_mem -= rtrs_srv_chunks_bytes();
	spin_unlock(&rtrs_srv_mem_lock);
}
