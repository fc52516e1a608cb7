/*-------------------------------------------------------------------------
 *
 * quota_fn.c
 *	  The quotas of roles, and how much of each is used.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "api/visible.h"
#include "base/clock.h"
#include "catalog/pg_authid.h"
#include "feed/subscription.h"
#include "flow/open_work.h"
#include "flow/schedule.h"
#include "miscadmin.h"
#include "store/artifact.h"
#include "trust/principal.h"
#include "trust/privilege.h"
#include "trust/quota.h"
#include "trust/traffic.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(clutch_quota_use);
PG_FUNCTION_INFO_V1(clutch_quotas_changed);

/* the columns of clutch.quota_use */
enum
{
	USE_ROLE, USE_WHAT, USE_VALUE, USE_USED,
	NUM_USE_COLUMNS
};

static int64
used_of(Oid role, QuotaKind kind)
{
	switch (kind)
	{
		case QUOTA_OPEN_REQUESTS:
		case QUOTA_STEPS:
			return open_work_of_role(role, kind);
		case QUOTA_SUBSCRIPTIONS:
			return subscription_use(role, ROWS_ACTIVE).subscriptions;
		case QUOTA_MEMBERS:
			return subscription_use(role, ROWS_ACTIVE).members;
		case QUOTA_SCHEDULES:
			return schedule_count(role, ROWS_ACTIVE);
		case QUOTA_ARTIFACT_BYTES:
			return artifact_bytes_of(role, ROWS_ACTIVE);
		case QUOTA_EVENTS_PER_MINUTE:
			return traffic_of_role(role, clock_now()).events;
		case QUOTA_BYTES_PER_MINUTE:
			return traffic_of_role(role, clock_now()).bytes;
		case QUOTA_BYTES_PER_DAY:
			return traffic_of_role(role, clock_now()).day_bytes;
		case NUM_QUOTA_KINDS:
			break;
	}
	pg_unreachable();
}

static void
put_use(FunctionCallInfo fcinfo, Oid role, const Quota *quota)
{
	Datum		values[NUM_USE_COLUMNS] = {0};
	bool		nulls[NUM_USE_COLUMNS] = {0};

	values[USE_ROLE] = ObjectIdGetDatum(role);
	nulls[USE_ROLE] = nulls[USE_USED] = !OidIsValid(role);
	result_text(values, nulls, USE_WHAT, slice_of_cstring(quota_kind_name(quota->kind)));
	values[USE_VALUE] = Int64GetDatum(quota->value);
	if (OidIsValid(role))
		values[USE_USED] = Int64GetDatum(used_of(role, quota->kind));
	result_put_row(fcinfo, values, nulls);
}

/* Does the role have its own limit of that kind? */
static bool
has_own(List *quotas, Oid role, QuotaKind kind)
{
	ListCell   *cell;

	foreach(cell, quotas)
	{
		const Quota *quota = lfirst(cell);

		if (quota->grantee == role && quota->kind == kind)
			return true;
	}
	return false;
}

/*
 * May the current role see the use of this role?  A role that has been dropped
 * leaves its rows behind.
 */
static bool
may_see(Oid role, bool everything)
{
	return (everything || role == GetUserId()) && SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(role));
}

/*
 * Puts the limit for the roles that have no limit of their own, and the use of
 * each of these roles.
 */
static void
put_default(FunctionCallInfo fcinfo, List *quotas, const Quota *quota, bool everything)
{
	List	   *roles = everything ? principal_list_roles() : list_make1_oid(GetUserId());
	ListCell   *cell;

	if (everything)
		put_use(fcinfo, InvalidOid, quota);
	foreach(cell, roles)
	{
		Oid			role = lfirst_oid(cell);

		if (may_see(role, everything) && !has_own(quotas, role, quota->kind) &&
			!privilege_is_operator(role, ROWS_ACTIVE))
			put_use(fcinfo, role, quota);
	}
}

Datum
clutch_quota_use(PG_FUNCTION_ARGS)
{
	List	   *quotas = quota_list();
	bool		everything = visible_everything();
	ListCell   *cell;

	result_begin_rows(fcinfo);
	foreach(cell, quotas)
	{
		const Quota *quota = lfirst(cell);

		if (!OidIsValid(quota->grantee))
			put_default(fcinfo, quotas, quota, everything);
		else if (may_see(quota->grantee, everything))
			put_use(fcinfo, quota->grantee, quota);
	}
	return (Datum) 0;
}

/* Tells all backends, which cache the quotas, to read them again. */
Datum
clutch_quotas_changed(PG_FUNCTION_ARGS)
{
	argument_require_trigger(fcinfo, "quotas_changed");
	quota_announce();
	PG_RETURN_POINTER(NULL);
}
