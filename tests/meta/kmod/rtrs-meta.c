// SPDX-License-Identifier: GPL-2.0
/*
 * Misbehaves on request, so that the tests of the test harness can see whether
 * it notices. Harmless unless loaded with a mode.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bug.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

static char *mode = "none";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "none, warn (a WARN) or leak (a created line alone)");

static int __init rtrs_meta_init(void)
{
	if (!strcmp(mode, "warn"))
		WARN(1, "asked to\n");
	if (!strcmp(mode, "leak"))
		pr_debug("created thing 0x1\n");
	return 0;
}

static void __exit rtrs_meta_exit(void)
{
}

module_init(rtrs_meta_init);
module_exit(rtrs_meta_exit);

MODULE_DESCRIPTION("Misbehaves, to test the test harness");
MODULE_LICENSE("GPL");
