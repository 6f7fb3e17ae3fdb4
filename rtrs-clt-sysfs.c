// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS client: sysfs.
 *
 *	/sys/class/rtrs-client/<session>/
 *	/sys/class/rtrs-client/<session>/paths/<src@dst>/
 *	/sys/class/rtrs-client/<session>/paths/<src@dst>/stats/
 *
 * Shows sessions and paths and passes orders on; knows nothing of how they
 * work.  The session's directory is a device whose release frees the session,
 * the path's directory a kobject whose release frees the path: somebody who
 * holds a file open keeps the memory, not the connection.
 *
 * A wrong write is refused with an errno and one line that says what was
 * expected.  Names and formats are an ABI that tools parse: see doc/ABI.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "rtrs-clt.h"

static struct class *rtrs_clt_class;

static struct rtrs_clt_path *to_path(struct kobject *kobj)
{
	return container_of(kobj, struct rtrs_clt_path, kobj);
}

static struct rtrs_clt_sess *to_sess(struct device *dev)
{
	return container_of(dev, struct rtrs_clt_sess, dev);
}

/* The only thing that can be written to many of the files. */
static int expect_one(struct rtrs_clt_path *path, const char *file,
		      const char *buf)
{
	if (sysfs_streq(buf, "1"))
		return 0;
	rtrs_clt_err(path, "%s: expected 1\n", file);
	return -EINVAL;
}

static ssize_t show_usage(char *page, const char *file)
{
	return sysfs_emit(page, "Usage: echo 1 > %s\n", file);
}

/* Paths: what they are */

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *page)
{
	bool connected = READ_ONCE(to_path(kobj)->state) == RTRS_CLT_CONNECTED;

	return sysfs_emit(page, "%s\n",
			  connected ? "connected" : "disconnected");
}

static ssize_t src_addr_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *page)
{
	struct rtrs_clt_path *path = to_path(kobj);
	const char *at = strchr(path->name, '@');

	return sysfs_emit(page, "%.*s\n", at ? (int)(at - path->name) : 0,
			  path->name);
}

static ssize_t dst_addr_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *page)
{
	struct rtrs_clt_path *path = to_path(kobj);
	const char *at = strchr(path->name, '@');

	return sysfs_emit(page, "%s\n", at ? at + 1 : path->name);
}

static ssize_t hca_name_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *page)
{
	return sysfs_emit(page, "%s\n", to_path(kobj)->hca_name);
}

static ssize_t hca_port_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(to_path(kobj)->hca_port));
}

static ssize_t cur_latency_show(struct kobject *kobj,
				struct kobj_attribute *attr, char *page)
{
	struct rtrs_clt_path *path = to_path(kobj);
	struct rtrs_clt_link *link;
	u64 ns = 0;

	rcu_read_lock();
	link = rcu_dereference(path->link);
	if (link)
		ns = READ_ONCE(link->hb.latency_ns);
	rcu_read_unlock();
	return sysfs_emit(page, "%llu ns\n", ns);
}

static ssize_t link_attempts_show(struct kobject *kobj,
				  struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(to_path(kobj)->recon_cnt));
}

static ssize_t last_error_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(to_path(kobj)->last_err));
}

static ssize_t state_changed_show(struct kobject *kobj,
				  struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%lld\n", READ_ONCE(to_path(kobj)->changed));
}

/* Paths: what they can be told */

static ssize_t reconnect_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *page)
{
	return show_usage(page, attr->attr.name);
}

static ssize_t reconnect_store(struct kobject *kobj,
			       struct kobj_attribute *attr, const char *buf,
			       size_t count)
{
	struct rtrs_clt_path *path = to_path(kobj);
	int err;

	err = expect_one(path, attr->attr.name, buf);
	if (!err)
		err = rtrs_clt_path_reconnect(path);
	return err ?: count;
}

static ssize_t disconnect_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *page)
{
	return show_usage(page, attr->attr.name);
}

static ssize_t disconnect_store(struct kobject *kobj,
				struct kobj_attribute *attr, const char *buf,
				size_t count)
{
	struct rtrs_clt_path *path = to_path(kobj);
	int err;

	err = expect_one(path, attr->attr.name, buf);
	if (err)
		return err;
	rtrs_clt_path_disconnect(path);
	return count;
}

static ssize_t remove_path_show(struct kobject *kobj,
				struct kobj_attribute *attr, char *page)
{
	return show_usage(page, attr->attr.name);
}

static ssize_t remove_path_store(struct kobject *kobj,
				 struct kobj_attribute *attr, const char *buf,
				 size_t count)
{
	struct rtrs_clt_path *path = to_path(kobj);
	int err;

	err = expect_one(path, attr->attr.name, buf);
	if (err)
		return err;
	/* Otherwise the removal of the directory would wait for this writer. */
	if (!sysfs_remove_file_self(kobj, &attr->attr))
		return -ENODEV;
	return rtrs_clt_remove_path(path) ? count : -ENODEV;
}

static struct kobj_attribute state_attr = __ATTR_RO(state);
static struct kobj_attribute src_addr_attr = __ATTR_RO(src_addr);
static struct kobj_attribute dst_addr_attr = __ATTR_RO(dst_addr);
static struct kobj_attribute hca_name_attr = __ATTR_RO(hca_name);
static struct kobj_attribute hca_port_attr = __ATTR_RO(hca_port);
static struct kobj_attribute cur_latency_attr = __ATTR_RO(cur_latency);
static struct kobj_attribute link_attempts_attr = __ATTR_RO(link_attempts);
static struct kobj_attribute last_error_attr = __ATTR_RO(last_error);
static struct kobj_attribute state_changed_attr = __ATTR_RO(state_changed);
static struct kobj_attribute reconnect_attr = __ATTR_RW(reconnect);
static struct kobj_attribute disconnect_attr = __ATTR_RW(disconnect);
static struct kobj_attribute remove_path_attr = __ATTR_RW(remove_path);

static struct attribute *path_attrs[] = {
	&state_attr.attr,
	&src_addr_attr.attr,
	&dst_addr_attr.attr,
	&hca_name_attr.attr,
	&hca_port_attr.attr,
	&cur_latency_attr.attr,
	&link_attempts_attr.attr,
	&last_error_attr.attr,
	&state_changed_attr.attr,
	&reconnect_attr.attr,
	&disconnect_attr.attr,
	&remove_path_attr.attr,
	NULL,
};

static const struct attribute_group path_group = {
	.attrs = path_attrs,
};

/* Paths: what they have counted */

static ssize_t rdma_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *page)
{
	struct rtrs_clt_path *path = to_path(kobj);
	struct rtrs_clt_pcpu_stats sum;

	rtrs_clt_stats_sum(path, &sum);
	return sysfs_emit(page, "%llu %llu %llu %llu %d %llu\n",
			  sum.requests[READ], sum.bytes[READ],
			  sum.requests[WRITE], sum.bytes[WRITE],
			  atomic_read(&path->inflight), sum.failed_over);
}

static ssize_t reconnects_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *page)
{
	struct rtrs_clt_path *path = to_path(kobj);

	return sysfs_emit(page, "%d %d\n",
			  atomic_read(&path->nr_reconnects[0]),
			  atomic_read(&path->nr_reconnects[1]));
}

static ssize_t cpu_migration_from_show(struct kobject *kobj,
				       struct kobj_attribute *attr, char *page)
{
	struct rtrs_clt_path *path = to_path(kobj);
	ssize_t len = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		len += sysfs_emit_at(page, len, "%ld ",
				     atomic_long_read(&per_cpu_ptr(path->stats,
							cpu)->migrated_from));
	return len + sysfs_emit_at(page, len, "\n");
}

static ssize_t cpu_migration_to_show(struct kobject *kobj,
				     struct kobj_attribute *attr, char *page)
{
	struct rtrs_clt_path *path = to_path(kobj);
	ssize_t len = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		len += sysfs_emit_at(page, len, "%llu ",
				     READ_ONCE(per_cpu_ptr(path->stats,
							cpu)->migrated_to));
	return len + sysfs_emit_at(page, len, "\n");
}

static ssize_t latency_us_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *page)
{
	struct rtrs_clt_pcpu_stats sum;
	ssize_t len = 0;
	int i;

	rtrs_clt_stats_sum(to_path(kobj), &sum);
	for (i = 0; i < RTRS_CLT_LATENCY_BUCKETS; i++)
		len += sysfs_emit_at(page, len, "%llu ", sum.latency[i]);
	return len + sysfs_emit_at(page, len, "\n");
}

static ssize_t reset_all_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *page)
{
	return show_usage(page, attr->attr.name);
}

static void reset_all(struct rtrs_clt_path *path)
{
	rtrs_clt_stats_reset_rdma(path);
	rtrs_clt_stats_reset_reconnects(path);
	rtrs_clt_stats_reset_migration(path);
	rtrs_clt_stats_reset_latency(path);
}

/* All of these files can only be reset. */
#define STATS_STORE(file, reset)					\
static ssize_t file##_store(struct kobject *kobj,			\
			    struct kobj_attribute *attr,		\
			    const char *buf, size_t count)		\
{									\
	int err = expect_one(to_path(kobj), attr->attr.name, buf);	\
									\
	if (!err)							\
		reset(to_path(kobj));					\
	return err ?: count;						\
}									\
static struct kobj_attribute file##_attr = __ATTR_RW(file)

STATS_STORE(rdma, rtrs_clt_stats_reset_rdma);
STATS_STORE(reconnects, rtrs_clt_stats_reset_reconnects);
STATS_STORE(cpu_migration_from, rtrs_clt_stats_reset_migration);
STATS_STORE(cpu_migration_to, rtrs_clt_stats_reset_migration);
STATS_STORE(latency_us, rtrs_clt_stats_reset_latency);
STATS_STORE(reset_all, reset_all);

static struct attribute *stats_attrs[] = {
	&rdma_attr.attr,
	&reconnects_attr.attr,
	&cpu_migration_from_attr.attr,
	&cpu_migration_to_attr.attr,
	&latency_us_attr.attr,
	&reset_all_attr.attr,
	NULL,
};

static const struct attribute_group stats_group = {
	.name = "stats",
	.attrs = stats_attrs,
};

static const struct attribute_group *path_groups[] = {
	&path_group,
	&stats_group,
	NULL,
};

static void path_release(struct kobject *kobj)
{
	struct rtrs_clt_path *path = to_path(kobj);

	free_percpu(path->stats);
	kfree(path);
}

static const struct kobj_type path_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = path_groups,
	.release = path_release,
};

/* Sessions */

static ssize_t add_path_show(struct device *dev, struct device_attribute *attr,
			     char *page)
{
	return sysfs_emit(page,
			  "Usage: echo [<source address>@]<destination address> > %s\n\naddress ::= [ ip:<ipv4> | ip:<ipv6> | gid:<gid> ]\n",
			  attr->attr.name);
}

static ssize_t add_path_store(struct device *dev, struct device_attribute *attr,
			      const char *buf, size_t count)
{
	struct rtrs_clt_sess *sess = to_sess(dev);
	struct sockaddr_storage src, dst;
	struct rtrs_addr addr = { .src = &src, .dst = &dst };
	size_t len = count;
	int err;

	if (len && buf[len - 1] == '\n')
		len--;
	err = rtrs_addr_to_sockaddr(buf, len, sess->port, &addr);
	if (err) {
		pr_err("%s: %s: expected [<source>@]<destination>, each ip:<ipv4>, ip:<ipv6> or gid:<gid>\n",
		       sess->name, attr->attr.name);
		return err;
	}
	err = rtrs_clt_add_path(sess, &addr);
	return err ?: count;
}
static DEVICE_ATTR_RW(add_path);

static ssize_t max_reconnect_attempts_show(struct device *dev,
					   struct device_attribute *attr,
					   char *page)
{
	return sysfs_emit(page, "%d\n",
			  READ_ONCE(to_sess(dev)->max_reconnect_attempts));
}

static ssize_t max_reconnect_attempts_store(struct device *dev,
					    struct device_attribute *attr,
					    const char *buf, size_t count)
{
	struct rtrs_clt_sess *sess = to_sess(dev);
	int value;

	if (kstrtoint(buf, 10, &value) || value < -1 ||
	    value > RTRS_CLT_MAX_RECONNECTS) {
		pr_err("%s: %s: expected a number from -1 to %d\n", sess->name,
		       attr->attr.name, RTRS_CLT_MAX_RECONNECTS);
		return -EINVAL;
	}
	WRITE_ONCE(sess->max_reconnect_attempts, value);
	return count;
}
static DEVICE_ATTR_RW(max_reconnect_attempts);

static const struct {
	const char *name, *abbr, *text;
} policies[] = {
	[RTRS_CLT_ROUND_ROBIN] = { "round-robin", "rr",
				   "round-robin (RR: 0)" },
	[RTRS_CLT_MIN_INFLIGHT] = { "min-inflight", "mi",
				    "min-inflight (MI: 1)" },
	[RTRS_CLT_MIN_LATENCY] = { "min-latency", "ml",
				   "min-latency (ML: 2)" },
};

static ssize_t mpath_policy_show(struct device *dev,
				 struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n",
			  policies[READ_ONCE(to_sess(dev)->policy)].text);
}

static ssize_t mpath_policy_store(struct device *dev,
				  struct device_attribute *attr,
				  const char *buf, size_t count)
{
	struct rtrs_clt_sess *sess = to_sess(dev);
	char number[2] = "0";
	int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		number[0] = '0' + i;
		if (sysfs_streq(buf, number) ||
		    sysfs_streq(buf, policies[i].name) ||
		    sysfs_streq(buf, policies[i].abbr)) {
			WRITE_ONCE(sess->policy, i);
			return count;
		}
	}
	pr_err("%s: %s: expected 0, 1, 2, round-robin, rr, min-inflight, mi, min-latency or ml\n",
	       sess->name, attr->attr.name);
	return -EINVAL;
}
static DEVICE_ATTR_RW(mpath_policy);

static struct attribute *sess_attrs[] = {
	&dev_attr_add_path.attr,
	&dev_attr_max_reconnect_attempts.attr,
	&dev_attr_mpath_policy.attr,
	NULL,
};
ATTRIBUTE_GROUPS(sess);

static void sess_release(struct device *dev)
{
	struct rtrs_clt_sess *sess = to_sess(dev);

	free_percpu(sess->rr_next);
	kfree(sess);
}

void rtrs_clt_sysfs_init_sess(struct rtrs_clt_sess *sess)
{
	sess->dev.class = rtrs_clt_class;
	sess->dev.release = sess_release;
	sess->dev.groups = sess_groups;
	device_initialize(&sess->dev);
}

void rtrs_clt_sysfs_init_path(struct rtrs_clt_path *path)
{
	kobject_init(&path->kobj, &path_ktype);
}

int rtrs_clt_sysfs_add_path(struct rtrs_clt_path *path)
{
	return kobject_add(&path->kobj, path->sess->paths_kobj, "%s",
			   path->name);
}

void rtrs_clt_sysfs_del_path(struct rtrs_clt_path *path)
{
	if (path->kobj.state_in_sysfs)
		kobject_del(&path->kobj);
}

/* From here on new paths show themselves. */
static int add_paths(struct rtrs_clt_sess *sess)
{
	struct rtrs_clt_path *path;
	int err = 0;

	mutex_lock(&sess->lock);
	sess->paths_kobj = kobject_create_and_add("paths", &sess->dev.kobj);
	if (!sess->paths_kobj)
		err = -ENOMEM;
	list_for_each_entry(path, &sess->paths, entry) {
		if (err)
			break;
		err = rtrs_clt_sysfs_add_path(path);
	}
	mutex_unlock(&sess->lock);
	return err;
}

/**
 * rtrs_clt_sysfs_add_sess() - show a session with all of its paths
 * @sess: session with connected paths
 *
 * Context: Process; sleeps.
 * Return: 0 or an errno; what is shown then, goes with the paths and with
 *	rtrs_clt_sysfs_del_sess().
 */
int rtrs_clt_sysfs_add_sess(struct rtrs_clt_sess *sess)
{
	int err;

	err = dev_set_name(&sess->dev, "%s", sess->name);
	if (err)
		return err;
	err = device_add(&sess->dev);
	if (err)
		return err;
	return add_paths(sess);
}

/**
 * rtrs_clt_sysfs_del_sess() - undo rtrs_clt_sysfs_add_sess()
 * @sess: session without paths, shown or not
 *
 * Context: Process; sleeps until nobody reads one of its files.
 */
void rtrs_clt_sysfs_del_sess(struct rtrs_clt_sess *sess)
{
	kobject_put(sess->paths_kobj);
	if (device_is_registered(&sess->dev))
		device_del(&sess->dev);
}

int rtrs_clt_sysfs_module_init(void)
{
	rtrs_clt_class = class_create("rtrs-client");
	return PTR_ERR_OR_ZERO(rtrs_clt_class);
}

void rtrs_clt_sysfs_module_exit(void)
{
	class_destroy(rtrs_clt_class);
}
