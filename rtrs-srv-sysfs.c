// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTRS server: /sys/class/rtrs-server/SESSION/paths/SRC@DST and, in there,
 * stats.
 *
 * A session's directory exists as long as it has paths that are published; a
 * path is published by its up work, once the session has its name, and taken
 * away first of all by its close work.
 *
 * Directories are objects of the driver core, with a memory of their own: they
 * may be released late (somebody still has a file open) without keeping any of
 * our objects, nor this module's code.  The files of a path belong to the path
 * and lead back to it; taking the directory away waits for those who are
 * reading or writing one.
 *
 * Names cannot collide: that of a session is unique in the module, and a path
 * is refused while another one of its session has its addresses, the time it
 * takes to close included.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sysfs.h>

#include "rtrs-srv.h"

/* Protects dev, paths_dir and nr_dirs of all sessions. */
static DEFINE_MUTEX(rtrs_srv_sysfs_lock);
static struct class *rtrs_srv_class;

enum {
	RTRS_SRV_DISCONNECT,
	RTRS_SRV_HCA_NAME,
	RTRS_SRV_HCA_PORT,
	RTRS_SRV_SRC_ADDR,
	RTRS_SRV_DST_ADDR,
	RTRS_SRV_STATS_RDMA,
	RTRS_SRV_NR_FILES,
};

static const char * const rtrs_srv_file_names[] = {
	[RTRS_SRV_DISCONNECT] = "disconnect",
	[RTRS_SRV_HCA_NAME] = "hca_name",
	[RTRS_SRV_HCA_PORT] = "hca_port",
	[RTRS_SRV_SRC_ADDR] = "src_addr",
	[RTRS_SRV_DST_ADDR] = "dst_addr",
	[RTRS_SRV_STATS_RDMA] = "rdma",
};

/* Files of a path */

static int rtrs_srv_print_addr(const struct sockaddr_storage *addr, char *buf)
{
	char text[64];

	sockaddr_to_str((const struct sockaddr *)addr, text, sizeof(text));
	return sysfs_emit(buf, "%s\n", text);
}

static int rtrs_srv_print_rdma(struct rtrs_srv_path *path, char *buf)
{
	struct rtrs_srv_stats sum;

	rtrs_srv_stats_sum(path, &sum);
	return sysfs_emit(buf, "%llu %llu %llu %llu\n", sum.requests[READ],
			  sum.bytes[READ], sum.requests[WRITE],
			  sum.bytes[WRITE]);
}

static ssize_t rtrs_srv_file_read(struct kobject *dir,
				  struct kobj_attribute *attr, char *buf)
{
	struct rtrs_srv_file *file = container_of(attr, struct rtrs_srv_file,
						  attr);
	struct rtrs_srv_path *path = file->path;

	switch (file - path->files) {
	case RTRS_SRV_DISCONNECT:
		return sysfs_emit(buf, "Usage: echo 1 > disconnect\n");
	case RTRS_SRV_HCA_NAME:
		return sysfs_emit(buf, "%s\n", path->dev->ib_dev->name);
	case RTRS_SRV_HCA_PORT:
		return sysfs_emit(buf, "%u\n", path->port_num);
	case RTRS_SRV_SRC_ADDR:
		return rtrs_srv_print_addr(&path->src, buf);
	case RTRS_SRV_DST_ADDR:
		return rtrs_srv_print_addr(&path->dst, buf);
	case RTRS_SRV_STATS_RDMA:
		return rtrs_srv_print_rdma(path, buf);
	}
	return -EIO;
}

/* To disconnect, or to reset the counters. */
static ssize_t rtrs_srv_file_write(struct kobject *dir,
				   struct kobj_attribute *attr,
				   const char *buf, size_t len)
{
	struct rtrs_srv_file *file = container_of(attr, struct rtrs_srv_file,
						  attr);

	if (!sysfs_streq(buf, "1")) {
		rtrs_srv_err(file->path, "%s: expected 1",
			     attr->attr.name);
		return -EINVAL;
	}
	if (file == &file->path->files[RTRS_SRV_STATS_RDMA])
		rtrs_srv_stats_reset(file->path);
	else if (rtrs_srv_path_close(file->path))
		rtrs_srv_info(file->path, "closed by the administrator");
	return len;
}

static void rtrs_srv_file_init(struct rtrs_srv_path *path, int nr)
{
	struct rtrs_srv_file *file = &path->files[nr];

	file->path = path;
	sysfs_attr_init(&file->attr.attr);
	file->attr.attr.name = rtrs_srv_file_names[nr];
	file->attr.attr.mode = 0444;
	file->attr.show = rtrs_srv_file_read;
	if (nr == RTRS_SRV_DISCONNECT || nr == RTRS_SRV_STATS_RDMA) {
		file->attr.attr.mode = 0644;
		file->attr.store = rtrs_srv_file_write;
	}
}

/* Directories */

static void rtrs_srv_sysfs_del_dir(struct kobject *dir)
{
	/* At once, even if somebody holds a reference. */
	kobject_del(dir);
	kobject_put(dir);
}

static void rtrs_srv_sysfs_del_path_dir(struct rtrs_srv_path *path,
					struct kobject *dir)
{
	if (path->stats_dir)
		rtrs_srv_sysfs_del_dir(path->stats_dir);
	path->stats_dir = NULL;
	rtrs_srv_sysfs_del_dir(dir);
}

static int rtrs_srv_sysfs_add_sess_locked(struct rtrs_srv_sess *sess)
{
	struct device *dev;

	lockdep_assert_held(&rtrs_srv_sysfs_lock);
	dev = device_create(rtrs_srv_class, NULL, MKDEV(0, 0), NULL, "%s",
			    sess->name);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	sess->paths_dir = kobject_create_and_add("paths", &dev->kobj);
	if (!sess->paths_dir) {
		device_unregister(dev);
		return -ENOMEM;
	}
	sess->dev = dev;
	return 0;
}

static void rtrs_srv_sysfs_del_sess_locked(struct rtrs_srv_sess *sess)
{
	lockdep_assert_held(&rtrs_srv_sysfs_lock);
	if (sess->nr_dirs || !sess->dev)
		return;
	rtrs_srv_sysfs_del_dir(sess->paths_dir);
	device_unregister(sess->dev);
	sess->paths_dir = NULL;
	sess->dev = NULL;
}

static int rtrs_srv_sysfs_add_files(struct rtrs_srv_path *path,
				    struct kobject *dir)
{
	int i, err;

	BUILD_BUG_ON(ARRAY_SIZE(path->files) != RTRS_SRV_NR_FILES);
	for (i = 0; i < RTRS_SRV_NR_FILES; i++) {
		rtrs_srv_file_init(path, i);
		err = sysfs_create_file(i == RTRS_SRV_STATS_RDMA ?
					path->stats_dir : dir,
					&path->files[i].attr.attr);
		if (err)
			return err;
	}
	return 0;
}

static int rtrs_srv_sysfs_add_path_locked(struct rtrs_srv_path *path)
{
	struct rtrs_srv_sess *sess = path->sess;
	struct kobject *dir;
	int err;

	lockdep_assert_held(&rtrs_srv_sysfs_lock);
	if (!sess->dev) {
		err = rtrs_srv_sysfs_add_sess_locked(sess);
		if (err)
			return err;
	}
	dir = kobject_create_and_add(path->str, sess->paths_dir);
	if (!dir)
		return -ENOMEM;
	path->stats_dir = kobject_create_and_add("stats", dir);
	err = path->stats_dir ? rtrs_srv_sysfs_add_files(path, dir) : -ENOMEM;
	if (err) {
		rtrs_srv_sysfs_del_path_dir(path, dir);
		return err;
	}
	path->dir = dir;
	sess->nr_dirs++;
	return 0;
}

/**
 * rtrs_srv_sysfs_add_path() - publish a path
 * @path: path whose session has a name
 *
 * Context: Process; sleeps.
 * Return: 0 or an error.
 */
int rtrs_srv_sysfs_add_path(struct rtrs_srv_path *path)
{
	int err;

	mutex_lock(&rtrs_srv_sysfs_lock);
	err = rtrs_srv_sysfs_add_path_locked(path);
	if (err)
		rtrs_srv_sysfs_del_sess_locked(path->sess);
	mutex_unlock(&rtrs_srv_sysfs_lock);
	return err;
}

/**
 * rtrs_srv_sysfs_del_path() - take a path away again
 * @path: path, published or not
 *
 * Context: Process; sleeps until nobody uses one of its files.
 */
void rtrs_srv_sysfs_del_path(struct rtrs_srv_path *path)
{
	if (!path->dir)
		return;
	mutex_lock(&rtrs_srv_sysfs_lock);
	rtrs_srv_sysfs_del_path_dir(path, path->dir);
	path->dir = NULL;
	path->sess->nr_dirs--;
	rtrs_srv_sysfs_del_sess_locked(path->sess);
	mutex_unlock(&rtrs_srv_sysfs_lock);
}

/**
 * rtrs_srv_sysfs_init() - create the class
 *
 * Context: Process.
 * Return: 0 or an error.
 */
int rtrs_srv_sysfs_init(void)
{
	rtrs_srv_class = class_create("rtrs-server");
	return PTR_ERR_OR_ZERO(rtrs_srv_class);
}

void rtrs_srv_sysfs_exit(void)
{
	class_destroy(rtrs_srv_class);
}
