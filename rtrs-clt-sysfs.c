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
 * The files of a path are a table.  One of them is shown by its function, or
 * shows how it is used; what can be written to any of them is 1, and that
 * carries out its order.
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

/* Files of paths */

/**
 * struct path_file - a file in the directory of a path
 * @attr: name and mode
 * @show: prints the content; NULL: print the usage
 * @order: what to do when 1 is written; 0 or a negative errno
 */
struct path_file {
	struct attribute attr;
	ssize_t (*show)(struct rtrs_clt_path *path, char *page);
	int (*order)(struct rtrs_clt_path *path, const struct path_file *file);
};

#define PATH_FILE(_name, _mode, _show, _order)				\
	static const struct path_file file_##_name = {			\
		.attr = { .name = __stringify(_name), .mode = _mode },	\
		.show = _show,						\
		.order = _order,					\
	}

static struct rtrs_clt_path *path_of(struct kobject *dir)
{
	return container_of(dir, struct rtrs_clt_path, kobj);
}

static ssize_t path_file_read(struct kobject *dir, struct attribute *attr,
			      char *page)
{
	struct path_file *file = container_of(attr, struct path_file, attr);

	if (file->show)
		return file->show(path_of(dir), page);
	return sysfs_emit(page, "Usage: echo 1 > %s\n", attr->name);
}

static ssize_t path_file_write(struct kobject *dir, struct attribute *attr,
			       const char *text, size_t len)
{
	struct path_file *file = container_of(attr, struct path_file, attr);
	struct rtrs_clt_path *path = path_of(dir);
	int err;

	if (!sysfs_streq(text, "1")) {
		rtrs_clt_err(path, "%s: expected 1\n", attr->name);
		return -EINVAL;
	}
	err = file->order(path, file);
	return err ? err : len;
}

static const struct sysfs_ops path_sysfs_ops = {
	.show = path_file_read,
	.store = path_file_write,
};

/* What a path is */

static ssize_t print_state(struct rtrs_clt_path *path, char *page)
{
	enum rtrs_clt_path_state state = READ_ONCE(path->state);

	return sysfs_emit(page, state == RTRS_CLT_CONNECTED ?
			  "connected\n" : "disconnected\n");
}

PATH_FILE(state, 0444, print_state, NULL);

/* The name of a path is its addresses, with this in between. */
static const char *dst_in_name(const struct rtrs_clt_path *path)
{
	return strchrnul(path->name, '@') + 1;
}

static ssize_t print_src(struct rtrs_clt_path *path, char *page)
{
	int len = dst_in_name(path) - path->name - 1;

	return sysfs_emit(page, "%.*s\n", len, path->name);
}

PATH_FILE(src_addr, 0444, print_src, NULL);

static ssize_t print_dst(struct rtrs_clt_path *path, char *page)
{
	return sysfs_emit(page, "%s\n", dst_in_name(path));
}

PATH_FILE(dst_addr, 0444, print_dst, NULL);

static ssize_t print_device(struct rtrs_clt_path *path, char *page)
{
	return sysfs_emit(page, "%s\n", path->hca_name);
}

PATH_FILE(hca_name, 0444, print_device, NULL);

static ssize_t print_port(struct rtrs_clt_path *path, char *page)
{
	return sysfs_emit(page, "%u\n", path->hca_port);
}

PATH_FILE(hca_port, 0444, print_port, NULL);

static ssize_t print_latency(struct rtrs_clt_path *path, char *page)
{
	struct rtrs_clt_link *link;
	u64 ns;

	rcu_read_lock();
	link = rcu_dereference(path->link);
	ns = link ? READ_ONCE(link->hb.latency_ns) : 0;
	rcu_read_unlock();
	return sysfs_emit(page, "%llu ns\n", ns);
}

PATH_FILE(cur_latency, 0444, print_latency, NULL);

static ssize_t print_attempts(struct rtrs_clt_path *path, char *page)
{
	return sysfs_emit(page, "%u\n", path->recon_cnt);
}

PATH_FILE(link_attempts, 0444, print_attempts, NULL);

static ssize_t print_last_error(struct rtrs_clt_path *path, char *page)
{
	return sysfs_emit(page, "%d\n", path->last_err);
}

PATH_FILE(last_error, 0444, print_last_error, NULL);

static ssize_t print_changed(struct rtrs_clt_path *path, char *page)
{
	return sysfs_emit(page, "%lld\n", READ_ONCE(path->changed));
}

PATH_FILE(state_changed, 0444, print_changed, NULL);

/* What a path can be told */

static int order_reconnect(struct rtrs_clt_path *path,
			   const struct path_file *file)
{
	return rtrs_clt_path_reconnect(path);
}

PATH_FILE(reconnect, 0644, NULL, order_reconnect);

static int order_disconnect(struct rtrs_clt_path *path,
			    const struct path_file *file)
{
	rtrs_clt_path_disconnect(path);
	return 0;
}

PATH_FILE(disconnect, 0644, NULL, order_disconnect);

/*
 * Until the path is claimed, this writer keeps others from freeing it; after
 * that the removal of the directory must not wait for this writer.
 */
static int order_remove(struct rtrs_clt_path *path,
			const struct path_file *file)
{
	if (!rtrs_clt_claim_path(path))
		return -ENODEV;
	sysfs_remove_file_self(&path->kobj, &file->attr);
	rtrs_clt_path_destroy(path);
	return 0;
}

PATH_FILE(remove_path, 0644, NULL, order_remove);

static const struct attribute * const path_attrs[] = {
	&file_state.attr,
	&file_src_addr.attr,
	&file_dst_addr.attr,
	&file_hca_name.attr,
	&file_hca_port.attr,
	&file_cur_latency.attr,
	&file_link_attempts.attr,
	&file_last_error.attr,
	&file_state_changed.attr,
	&file_reconnect.attr,
	&file_disconnect.attr,
	&file_remove_path.attr,
	NULL,
};

/* What a path has counted; the order is to forget it */

static int order_reset(struct rtrs_clt_path *path,
		       const struct path_file *file);

static ssize_t print_rdma(struct rtrs_clt_path *path, char *page)
{
	struct rtrs_clt_pcpu_stats sum;

	rtrs_clt_stats_sum(path, &sum);
	return sysfs_emit(page, "%llu %llu %llu %llu %d %llu\n",
			  sum.requests[READ], sum.bytes[READ],
			  sum.requests[WRITE], sum.bytes[WRITE],
			  atomic_read(&path->inflight), sum.failed_over);
}

PATH_FILE(rdma, 0644, print_rdma, order_reset);

static ssize_t print_reconnects(struct rtrs_clt_path *path, char *page)
{
	return sysfs_emit(page, "%d %d\n",
			  atomic_read(&path->nr_reconnects[0]),
			  atomic_read(&path->nr_reconnects[1]));
}

PATH_FILE(reconnects, 0644, print_reconnects, order_reset);

/* Many numbers in one line: one more, or the end of the line. */
static ssize_t print_next(char *page, ssize_t at, u64 number)
{
	return at + sysfs_emit_at(page, at, at ? " %llu" : "%llu", number);
}

static ssize_t print_end(char *page, ssize_t at)
{
	return at + sysfs_emit_at(page, at, "\n");
}

static ssize_t print_from(struct rtrs_clt_path *path, char *page)
{
	struct rtrs_clt_pcpu_stats *one;
	ssize_t at = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		one = per_cpu_ptr(path->stats, cpu);
		at = print_next(page, at,
				atomic_long_read(&one->migrated_from));
	}
	return print_end(page, at);
}

PATH_FILE(cpu_migration_from, 0644, print_from, order_reset);

static ssize_t print_to(struct rtrs_clt_path *path, char *page)
{
	ssize_t at = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		at = print_next(page, at,
				per_cpu_ptr(path->stats, cpu)->migrated_to);
	return print_end(page, at);
}

PATH_FILE(cpu_migration_to, 0644, print_to, order_reset);

static ssize_t print_histogram(struct rtrs_clt_path *path, char *page)
{
	struct rtrs_clt_pcpu_stats sum;
	ssize_t at = 0;
	int i;

	rtrs_clt_stats_sum(path, &sum);
	for (i = 0; i < RTRS_CLT_LATENCY_BUCKETS; i++)
		at = print_next(page, at, sum.latency[i]);
	return print_end(page, at);
}

PATH_FILE(latency_us, 0644, print_histogram, order_reset);
PATH_FILE(reset_all, 0644, NULL, order_reset);

static const struct attribute * const stats_attrs[] = {
	&file_rdma.attr,
	&file_reconnects.attr,
	&file_cpu_migration_from.attr,
	&file_cpu_migration_to.attr,
	&file_latency_us.attr,
	&file_reset_all.attr,
	NULL,
};

static int order_reset(struct rtrs_clt_path *path,
		       const struct path_file *file)
{
	bool all = file == &file_reset_all;

	if (all || file == &file_rdma)
		rtrs_clt_stats_reset_rdma(path);
	if (all || file == &file_reconnects)
		rtrs_clt_stats_reset_reconnects(path);
	if (all || file == &file_cpu_migration_from ||
	    file == &file_cpu_migration_to)
		rtrs_clt_stats_reset_migration(path);
	if (all || file == &file_latency_us)
		rtrs_clt_stats_reset_latency(path);
	return 0;
}

/* The driver core's tables are not const, it does not write to them. */
static const struct attribute_group path_group = {
	.attrs = (struct attribute **)path_attrs,
};

static const struct attribute_group stats_group = {
	.name = "stats",
	.attrs = (struct attribute **)stats_attrs,
};

static const struct attribute_group *path_groups[] = {
	&path_group,
	&stats_group,
	NULL,
};

static void path_free(struct kobject *dir)
{
	struct rtrs_clt_path *path = path_of(dir);

	free_percpu(path->stats);
	kfree(path);
}

static const struct kobj_type path_type = {
	.sysfs_ops = &path_sysfs_ops,
	.default_groups = path_groups,
	.release = path_free,
};

/* Files of sessions */

static struct rtrs_clt_sess *sess_of(struct device *dev)
{
	return container_of(dev, struct rtrs_clt_sess, dev);
}

static int refuse(struct device *dev, struct device_attribute *attr,
		  const char *expected)
{
	pr_err("%s: %s: expected %s\n", sess_of(dev)->name, attr->attr.name,
	       expected);
	return -EINVAL;
}

static const char addr_forms[] =
	"[SRC@]DST or [SRC,]DST, each ip:IPV4, ip:IPV6 or gid:GID";

static ssize_t add_path_show(struct device *dev, struct device_attribute *attr,
			     char *page)
{
	return sysfs_emit(page, "Usage: echo ADDRESSES > %s, ADDRESSES: %s\n",
			  attr->attr.name, addr_forms);
}

static ssize_t add_path_store(struct device *dev, struct device_attribute *attr,
			      const char *text, size_t len)
{
	struct rtrs_clt_sess *sess = sess_of(dev);
	struct sockaddr_storage from, to;
	struct rtrs_addr addr = { .src = &from, .dst = &to };
	int err;

	if (rtrs_addr_to_sockaddr(text, strchrnul(text, '\n') - text,
				  sess->port, &addr))
		return refuse(dev, attr, addr_forms);
	err = rtrs_clt_add_path(sess, &addr);
	return err ? err : len;
}
static DEVICE_ATTR_RW(add_path);

static ssize_t max_reconnect_attempts_show(struct device *dev,
					   struct device_attribute *attr,
					   char *page)
{
	return sysfs_emit(page, "%d\n",
			  READ_ONCE(sess_of(dev)->max_reconnect_attempts));
}

static ssize_t max_reconnect_attempts_store(struct device *dev,
					    struct device_attribute *attr,
					    const char *text, size_t len)
{
	s16 max;

	if (kstrtos16(text, 10, &max) || max < -1 ||
	    max > RTRS_CLT_MAX_RECONNECTS)
		return refuse(dev, attr, "a number from -1 to 9999");
	WRITE_ONCE(sess_of(dev)->max_reconnect_attempts, max);
	return len;
}
static DEVICE_ATTR_RW(max_reconnect_attempts);

/* All the names that a policy has; the first one is what it is shown as. */
static const char * const policies[][4] = {
	[RTRS_CLT_ROUND_ROBIN] = { "round-robin (RR: 0)",
				   "round-robin", "rr", "0" },
	[RTRS_CLT_MIN_INFLIGHT] = { "min-inflight (MI: 1)",
				    "min-inflight", "mi", "1" },
	[RTRS_CLT_MIN_LATENCY] = { "min-latency (ML: 2)",
				   "min-latency", "ml", "2" },
};

static ssize_t mpath_policy_show(struct device *dev,
				 struct device_attribute *attr, char *page)
{
	enum rtrs_clt_policy policy = READ_ONCE(sess_of(dev)->policy);

	return sysfs_emit(page, "%s\n", policies[policy][0]);
}

static ssize_t mpath_policy_store(struct device *dev,
				  struct device_attribute *attr,
				  const char *text, size_t len)
{
	int policy, name;

	for (policy = 0; policy < ARRAY_SIZE(policies); policy++) {
		for (name = 1; name < ARRAY_SIZE(policies[0]); name++) {
			if (!sysfs_streq(text, policies[policy][name]))
				continue;
			WRITE_ONCE(sess_of(dev)->policy, policy);
			return len;
		}
	}
	return refuse(dev, attr, "round-robin, rr, 0, min-inflight, mi, 1, min-latency, ml or 2");
}
static DEVICE_ATTR_RW(mpath_policy);

static struct attribute *sess_attrs[] = {
	&dev_attr_add_path.attr,
	&dev_attr_max_reconnect_attempts.attr,
	&dev_attr_mpath_policy.attr,
	NULL,
};
ATTRIBUTE_GROUPS(sess);

static void sess_free(struct device *dev)
{
	struct rtrs_clt_sess *sess = sess_of(dev);

	free_percpu(sess->rr_next);
	kfree(sess);
}

/* Objects and their directories */

void rtrs_clt_sysfs_init_sess(struct rtrs_clt_sess *sess)
{
	sess->dev.class = rtrs_clt_class;
	sess->dev.release = sess_free;
	sess->dev.groups = sess_groups;
	device_initialize(&sess->dev);
}

void rtrs_clt_sysfs_init_path(struct rtrs_clt_path *path)
{
	kobject_init(&path->kobj, &path_type);
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
