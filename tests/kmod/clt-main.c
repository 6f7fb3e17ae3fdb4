// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The test client: sessions and debugfs.
 *
 * /sys/kernel/debug/rtrs-test-client/
 *	open		write "slot=S name=N path=A [path=A...] port=P pdu=BYTES
 *			delay=SECONDS attempts=N queues=N": opens a session;
 *			the writer gets the errno of rtrs_clt_open()
 *	S/close		write anything: closes it
 *	S/state		how open and close went, link events, rtrs_clt_query()
 *	S/run		write parameters (clt-run.c): runs requests, to the end;
 *	S/start		the same, but goes on at once
 *	S/wait		write anything: waits for the end
 *	S/stop		write anything: the same, but nothing new is sent
 *	S/result	what came out, key: value
 *	S/pause		read: milliseconds that the slowest request took since the
 *			last time that somebody read this
 *	S/permits	write parameters (clt-permit.c): a crowd takes permits;
 *			read: how it fared
 *
 * The place of a session, S, stays when the session is closed or could not be
 * opened, so that the results can be read; it can be used for another.
 * Writes to run, wait, stop, close and permits fail with EBADMSG if anything was
 * not as it should be.
 */
#define pr_fmt(fmt) "rtrs-test-client: " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "clt.h"

static struct tclt_slot *tclt_slots[TCLT_SLOTS];
static DEFINE_MUTEX(tclt_lock); /* protects tclt_slots */
static struct dentry *tclt_root;

/**
 * tclt_slot() - find a slot
 * @index: its number
 *
 * Context: Any; slots are never freed as long as a session is open.
 * Return: the slot.
 */
struct tclt_slot *tclt_slot(u32 index)
{
	return tclt_slots[index % TCLT_SLOTS];
}

/* Opening and closing */

struct tclt_open_params {
	char *slot;
	char *name;
	struct rtest_list path;
	u32 port;
	u32 pdu;
	u32 delay;
	s32 attempts;
	u32 queues;
};

static const struct rtest_param tclt_open_params[] = {
	RTEST_PARAM(tclt_open_params, slot, STRING),
	RTEST_PARAM(tclt_open_params, name, STRING),
	RTEST_PARAM(tclt_open_params, path, STRINGS),
	RTEST_PARAM(tclt_open_params, port, U32),
	RTEST_PARAM(tclt_open_params, pdu, U32),
	RTEST_PARAM(tclt_open_params, delay, U32),
	RTEST_PARAM(tclt_open_params, attempts, S32),
	RTEST_PARAM(tclt_open_params, queues, U32),
	{ }
};

static void tclt_link_ev(void *priv, enum rtrs_clt_link_ev ev)
{
	struct tclt_slot *slot = priv;

	might_sleep();
	if (!READ_ONCE(slot->clt))
		atomic_inc(&slot->late_events);
	switch (ev) {
	case RTRS_CLT_LINK_EV_RECONNECTED:
		atomic_inc(&slot->link_up);
		break;
	case RTRS_CLT_LINK_EV_DISCONNECTED:
		atomic_inc(&slot->link_down);
		break;
	}
}

/* Room for the addresses of all paths. */
struct tclt_addrs {
	struct rtrs_addr paths[RTEST_LIST_MAX];
	struct sockaddr_storage storage[2 * RTEST_LIST_MAX];
};

static int tclt_parse_paths(const struct tclt_open_params *p,
			    struct tclt_addrs *addrs)
{
	unsigned int i;
	int err;

	for (i = 0; i < p->path.nr; i++) {
		struct rtrs_addr *addr = &addrs->paths[i];

		addr->src = &addrs->storage[2 * i];
		addr->dst = &addrs->storage[2 * i + 1];
		err = rtrs_addr_to_sockaddr(p->path.item[i],
					    strlen(p->path.item[i]), p->port,
					    addr);
		if (err)
			return err;
	}
	return 0;
}

static struct rtrs_clt_sess *tclt_call_open(struct tclt_slot *slot,
					    const struct tclt_open_params *p,
					    const struct tclt_addrs *addrs)
{
	struct rtrs_clt_ops ops = { .priv = slot, .link_ev = tclt_link_ev };
	struct rtrs_clt_sess *clt;
	ktime_t since = ktime_get();

	clt = rtrs_clt_open(&ops, p->name ?: "", addrs->paths, p->path.nr,
			    p->port, p->pdu, p->delay, p->attempts, p->queues);
	slot->open_ms = ktime_ms_delta(ktime_get(), since);
	return clt;
}

static void tclt_reset(struct tclt_slot *slot)
{
	tclt_run_free(slot);
	tclt_permits_free(&slot->permits);
	memset(&slot->attrs, 0, sizeof(slot->attrs));
	memset(&slot->take, 0, sizeof(slot->take));
	atomic_set(&slot->link_down, 0);
	atomic_set(&slot->link_up, 0);
	atomic_set(&slot->late_events, 0);
	atomic_set(&slot->doubles, 0);
	slot->session = get_random_u64() | 1;
}

static int tclt_open(struct tclt_slot *slot, const struct tclt_open_params *p)
{
	struct tclt_addrs *addrs = kvzalloc(sizeof(*addrs), GFP_KERNEL);
	struct rtrs_clt_sess *clt;
	int err;

	if (!addrs)
		return -ENOMEM;
	tclt_reset(slot);
	err = tclt_parse_paths(p, addrs);
	if (err)
		goto free_addrs;
	clt = tclt_call_open(slot, p, addrs);
	err = PTR_ERR_OR_ZERO(clt);
	if (err)
		goto free_addrs;
	err = rtrs_clt_query(clt, &slot->attrs) ?:
		tclt_permits_init(&slot->permits, slot->attrs.queue_depth,
				  p->pdu);
	if (err)
		rtrs_clt_close(clt);
	else
		WRITE_ONCE(slot->clt, clt);
free_addrs:
	kvfree(addrs);
	return err;
}

/* A request that was confirmed twice, an event after the end, and the like. */
static bool tclt_closed_well(struct tclt_slot *slot)
{
	return !atomic_read(&slot->doubles) &&
		!atomic_read(&slot->late_events) &&
		!atomic_read(&slot->permits.out) &&
		!atomic_read(&slot->permits.duplicates) &&
		!atomic_read(&slot->permits.pdu_mismatches);
}

static int tclt_close(struct tclt_slot *slot)
{
	struct rtrs_clt_sess *clt = slot->clt;
	ktime_t since;
	int err;

	if (!clt)
		return -ENOTCONN;
	if (slot->take_stuck)
		return -EBUSY;
	err = tclt_run_quiesce(slot);
	if (err)
		return err;
	since = ktime_get();
	rtrs_clt_close(clt);
	slot->close_ms = ktime_ms_delta(ktime_get(), since);
	WRITE_ONCE(slot->clt, NULL);
	tclt_run_closed(slot);
	return tclt_closed_well(slot) ? 0 : -EBADMSG;
}

static int tclt_close_line(void *priv, char *line)
{
	struct tclt_slot *slot = priv;
	int err;

	mutex_lock(&slot->lock);
	err = tclt_close(slot);
	mutex_unlock(&slot->lock);
	return err;
}

/* debugfs: files of a slot */

static void tclt_show_query(struct seq_file *s, struct tclt_slot *slot)
{
	struct rtrs_attrs attrs = {};

	if (!slot->clt)
		return;
	seq_printf(s, "query: %d\n", rtrs_clt_query(slot->clt, &attrs));
	seq_printf(s, "queue_depth: %u\n", attrs.queue_depth);
	seq_printf(s, "max_io_size: %u\n", attrs.max_io_size);
	seq_printf(s, "max_segments: %u\n", attrs.max_segments);
}

static int tclt_state_show(struct seq_file *s, void *unused)
{
	struct tclt_slot *slot = s->private;

	mutex_lock(&slot->lock);
	seq_printf(s, "open: %d\n", !!slot->clt);
	seq_printf(s, "open_errno: %d\n", slot->open_errno);
	seq_printf(s, "open_ms: %u\n", slot->open_ms);
	seq_printf(s, "close_ms: %u\n", slot->close_ms);
	seq_printf(s, "link_down: %d\n", atomic_read(&slot->link_down));
	seq_printf(s, "link_up: %d\n", atomic_read(&slot->link_up));
	seq_printf(s, "late_events: %d\n", atomic_read(&slot->late_events));
	seq_printf(s, "doubles: %d\n", atomic_read(&slot->doubles));
	tclt_show_query(s, slot);
	mutex_unlock(&slot->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(tclt_state);

static int tclt_result_show(struct seq_file *s, void *unused)
{
	tclt_run_show(s, s->private);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(tclt_result);

static int tclt_pause_show(struct seq_file *s, void *unused)
{
	tclt_run_show_pause(s, s->private);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(tclt_pause);

static int tclt_permits_show(struct seq_file *s, void *unused)
{
	tclt_take_show(s, s->private);
	return 0;
}

static int tclt_permits_open(struct inode *inode, struct file *file)
{
	return single_open(file, tclt_permits_show, inode->i_private);
}

static ssize_t tclt_permits_write(struct file *file, const char __user *buf,
				  size_t len, loff_t *pos)
{
	struct seq_file *s = file->private_data;

	return rtest_write(buf, len, tclt_take_line, s->private);
}

static const struct file_operations tclt_permits_fops = {
	.owner = THIS_MODULE,
	.open = tclt_permits_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = tclt_permits_write,
	.release = single_release,
};

#define TCLT_WRITE_FILE(name)						\
	static ssize_t tclt_##name##_write(struct file *file,		\
					   const char __user *buf,	\
					   size_t len, loff_t *pos)	\
	{								\
		return rtest_write(buf, len, tclt_##name##_line,	\
				   file->private_data);			\
	}								\
									\
	static const struct file_operations tclt_##name##_fops = {	\
		.owner = THIS_MODULE,					\
		.open = simple_open,					\
		.write = tclt_##name##_write,				\
	}

TCLT_WRITE_FILE(close);
TCLT_WRITE_FILE(run);
TCLT_WRITE_FILE(start);
TCLT_WRITE_FILE(wait);
TCLT_WRITE_FILE(stop);

static void tclt_create_dir(struct tclt_slot *slot)
{
	struct dentry *dir = debugfs_create_dir(slot->name, tclt_root);

	slot->dir = dir;
	debugfs_create_file("close", 0200, dir, slot, &tclt_close_fops);
	debugfs_create_file("state", 0400, dir, slot, &tclt_state_fops);
	debugfs_create_file("run", 0200, dir, slot, &tclt_run_fops);
	debugfs_create_file("start", 0200, dir, slot, &tclt_start_fops);
	debugfs_create_file("wait", 0200, dir, slot, &tclt_wait_fops);
	debugfs_create_file("stop", 0200, dir, slot, &tclt_stop_fops);
	debugfs_create_file("result", 0400, dir, slot, &tclt_result_fops);
	debugfs_create_file("pause", 0400, dir, slot, &tclt_pause_fops);
	debugfs_create_file("permits", 0600, dir, slot, &tclt_permits_fops);
}

/* debugfs: open */

static struct tclt_slot *tclt_create_slot(const char *name, u32 index)
{
	struct tclt_slot *slot = kzalloc(sizeof(*slot), GFP_KERNEL);

	if (!slot)
		return NULL;
	slot->index = index;
	strscpy(slot->name, name, sizeof(slot->name));
	mutex_init(&slot->lock);
	init_waitqueue_head(&slot->wq);
	tclt_create_dir(slot);
	return slot;
}

/* Finds a slot by its name, or makes it. */
static struct tclt_slot *tclt_find_slot(const char *name)
{
	struct tclt_slot *slot = NULL;
	u32 i;

	mutex_lock(&tclt_lock);
	for (i = 0; i < TCLT_SLOTS; i++) {
		if (!tclt_slots[i])
			tclt_slots[i] = tclt_create_slot(name, i);
		if (tclt_slots[i] && !strcmp(tclt_slots[i]->name, name)) {
			slot = tclt_slots[i];
			break;
		}
	}
	mutex_unlock(&tclt_lock);
	return slot;
}

static int tclt_check_open_params(const struct tclt_open_params *p)
{
	if (!p->slot || !*p->slot || strlen(p->slot) >= 32 ||
	    strchr(p->slot, '/') || p->port > U16_MAX || p->delay > U8_MAX ||
	    p->attempts > S16_MAX || p->attempts < S16_MIN) {
		pr_err("slot missing, or parameters out of range\n");
		return -EINVAL;
	}
	return 0;
}

static int tclt_open_line(void *priv, char *line)
{
	struct tclt_open_params *p = kzalloc(sizeof(*p), GFP_KERNEL);
	struct tclt_slot *slot;
	int err = -ENOMEM;

	if (!p)
		return -ENOMEM;
	err = rtest_parse(line, tclt_open_params, p) ?:
		tclt_check_open_params(p);
	if (err)
		goto free_params;
	slot = tclt_find_slot(p->slot);
	if (!slot) {
		err = -ENOSPC;
		goto free_params;
	}
	mutex_lock(&slot->lock);
	err = -EBUSY;
	if (!slot->clt) {
		err = tclt_open(slot, p);
		slot->open_errno = err;
	}
	mutex_unlock(&slot->lock);
free_params:
	kfree(p);
	return err;
}

static ssize_t tclt_open_write(struct file *file, const char __user *buf,
			       size_t len, loff_t *pos)
{
	return rtest_write(buf, len, tclt_open_line, NULL);
}

static const struct file_operations tclt_open_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = tclt_open_write,
};

/* Module */

static int __init tclt_init(void)
{
	tclt_root = debugfs_create_dir("rtrs-test-client", NULL);
	debugfs_create_file("open", 0200, tclt_root, NULL, &tclt_open_fops);
	return 0;
}

static void __exit tclt_exit(void)
{
	u32 i;

	debugfs_remove_recursive(tclt_root);
	for (i = 0; i < TCLT_SLOTS && tclt_slots[i]; i++) {
		struct tclt_slot *slot = tclt_slots[i];

		mutex_lock(&slot->lock);
		tclt_close(slot);
		tclt_run_free(slot);
		tclt_permits_free(&slot->permits);
		mutex_unlock(&slot->lock);
		kfree(slot);
	}
}

module_init(tclt_init);
module_exit(tclt_exit);

MODULE_DESCRIPTION("RTRS test client");
MODULE_LICENSE("GPL");
