/*-------------------------------------------------------------------------
 *
 * cron_zone.c
 *	  The time zones of cron schedules.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/cron.h"
#include "protocol/place.h"
#include "protocol/problem.h"

pg_tz *
cron_zone(Slice name)
{
	pg_tz	   *zone = name.len <= TZ_STRLEN_MAX ? pg_tzset(slice_cstring(name)) : NULL;

	if (zone == NULL || !pg_tz_acceptable(zone))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("timezone", "WRONG_VALUE"),
				 errmsg("time zone %s not recognized", place_quote(name)),
				 errhint("Use a name from the view pg_timezone_names, like 'Europe/Berlin'.")));
	return zone;
}

/* Names in pg_timezone_names that could as well be descriptions. */
static const char *const described_names[] = {
	"CST6CDT", "EST5EDT", "GMT+0", "GMT-0", "GMT0", "MST7MDT", "PST8PDT"
};

/*
 * A listed zone is named as in the file system, with letters in lower case or
 * without digits, except for the names above.  A description is named by itself,
 * in upper case, and contains a digit.
 */
static bool
cron_zone_is_listed(pg_tz *zone)
{
	Slice		name = slice_of_cstring(pg_get_timezone_name(zone));

	return slice_find(name, described_names, lengthof(described_names)) >= 0 ||
		strpbrk(name.s, "abcdefghijklmnopqrstuvwxyz") != NULL || strpbrk(name.s, "0123456789") == NULL;
}

static bool
cron_zone_is_offset(Slice name)
{
	int			at = name.len > 0 && (name.s[0] == '+' || name.s[0] == '-') ? 1 : 0;

	if (name.len - at > 2)
		return false;
	while (at < name.len && name.s[at] >= '0' && name.s[at] <= '9')
		at++;
	return at == name.len;
}

pg_tz *
cron_zone_to_keep(Slice name)
{
	pg_tz	   *zone = cron_zone(name);

	if (!cron_zone_is_listed(zone) && !cron_zone_is_offset(name))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("timezone", "WRONG_VALUE"),
				 errmsg("time zone %s is a description, not a name", place_quote(name)),
				 errhint("Use a name from the view pg_timezone_names, like 'Europe/Berlin' or 'Etc/GMT-1', or an offset in whole hours.")));
	return zone;
}
