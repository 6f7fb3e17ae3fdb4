// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS client: sysfs.
 *
 *	/sys/class/rtrs-client/<session>/paths/<src@dst>/
 *
 * Shows sessions and paths; knows nothing of how they work.  The session's
 * directory is a device whose release frees the session, the path's directory
 * a kobject whose release frees the path: somebody who holds a file open keeps
 * the memory, not the connection.
 *
 * Names and formats are an ABI that tools parse.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <linux/sysfs.h>

#include "rtrs-clt.h"

static struct class *rtrs_clt_class;

static struct rtrs_clt_path *to_path(struct kobject *kobj)
{
	return container_of(kobj, struct rtrs_clt_path, kobj);
}

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

static struct kobj_attribute state_attr = __ATTR_RO(state);
static struct kobj_attribute src_addr_attr = __ATTR_RO(src_addr);
static struct kobj_attribute dst_addr_attr = __ATTR_RO(dst_addr);
static struct kobj_attribute hca_name_attr = __ATTR_RO(hca_name);
static struct kobj_attribute hca_port_attr = __ATTR_RO(hca_port);

static struct attribute *path_attrs[] = {
	&state_attr.attr,
	&src_addr_attr.attr,
	&dst_addr_attr.attr,
	&hca_name_attr.attr,
	&hca_port_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(path);

static void path_release(struct kobject *kobj)
{
	kfree(to_path(kobj));
}

static const struct kobj_type path_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = path_groups,
	.release = path_release,
};

static void sess_release(struct device *dev)
{
	kfree(container_of(dev, struct rtrs_clt_sess, dev));
}

void rtrs_clt_sysfs_init_sess(struct rtrs_clt_sess *sess)
{
	sess->dev.class = rtrs_clt_class;
	sess->dev.release = sess_release;
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

/**
 * rtrs_clt_sysfs_add_sess() - show a session with all of its paths
 * @sess: session with connected paths
 *
 * Context: Process; sleeps.
 * Return: 0 or an errno; nothing is shown then.
 */
int rtrs_clt_sysfs_add_sess(struct rtrs_clt_sess *sess)
{
	struct rtrs_clt_path *path;
	int err;

	err = dev_set_name(&sess->dev, "%s", sess->name);
	if (err)
		return err;
	err = device_add(&sess->dev);
	if (err)
		return err;
	sess->paths_kobj = kobject_create_and_add("paths", &sess->dev.kobj);
	if (!sess->paths_kobj) {
		err = -ENOMEM;
		goto del_sess;
	}
	list_for_each_entry(path, &sess->paths, entry) {
		err = rtrs_clt_sysfs_add_path(path);
		if (err)
			goto del_paths;
	}
	return 0;

del_paths:
	list_for_each_entry(path, &sess->paths, entry)
		rtrs_clt_sysfs_del_path(path);
del_sess:
	rtrs_clt_sysfs_del_sess(sess);
	return err;
}

/**
 * rtrs_clt_sysfs_del_sess() - undo rtrs_clt_sysfs_add_sess()
 * @sess: session whose paths are no longer shown
 *
 * Context: Process; sleeps until nobody reads one of its files.
 */
void rtrs_clt_sysfs_del_sess(struct rtrs_clt_sess *sess)
{
	kobject_put(sess->paths_kobj);
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
