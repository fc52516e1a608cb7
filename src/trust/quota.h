/*-------------------------------------------------------------------------
 *
 * quota.h
 *	  Quotas: how much a role may accumulate and send (clutch.set_quota).
 *
 * A row of clutch.quota is one limit for one role or, if the grantee is 0, for
 * every role that has none of its own for the same kind.  The role that counts
 * is the current one when an event is admitted; the roles of which it is a
 * member have their own counts.  Operators have no quotas, and neither does
 * the database itself.
 *
 * This file handles the limits.  What is used is counted in other places: see
 * trust/traffic, flow/open_work, feed/subscription, flow/schedule and
 * store/artifact.  They write first and then count, including uncommitted rows
 * of others, so that of two sessions, at least the second one sees the other.
 *
 * A backend caches the limits until the table changes (base/stale), so if no
 * role has a quota, an event costs only a comparison.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_QUOTA_H
#define CLUTCH_QUOTA_H

#include "base/rows.h"

typedef enum QuotaKind
{
	QUOTA_OPEN_REQUESTS,		/* requests whose tasks are not over */
	QUOTA_STEPS,				/* stored steps of tasks that are not over */
	QUOTA_SUBSCRIPTIONS,
	QUOTA_MEMBERS,				/* members of all its subscriptions together */
	QUOTA_SCHEDULES,
	QUOTA_ARTIFACT_BYTES,		/* size of the artifacts that it has uploaded */
	QUOTA_EVENTS_PER_MINUTE,	/* these three: sent by the role; see
								 * trust/traffic.h */
	QUOTA_BYTES_PER_MINUTE,
	QUOTA_BYTES_PER_DAY,
	NUM_QUOTA_KINDS
} QuotaKind;

#define QUOTA_NONE		PG_INT64_MAX
#define QUOTA_BIT(kind)	(UINT32_C(1) << (kind))

typedef struct QuotaLimits
{
	int64		of[NUM_QUOTA_KINDS];	/* QUOTA_NONE if there is no limit */
} QuotaLimits;

/*
 * Returns the limits of the current role or, as in the usual case, NULL if it
 * has none of these kinds, a set of QUOTA_BITs.  Valid until the next call.
 */
extern const QuotaLimits *quota_limits(uint32 kinds);

/*
 * Raises KL013, code QUOTA_EXCEEDED, if total exceeds the limit.  added is the
 * part of it that the caller has just added.  until is the time at which some
 * of it stops counting, or 0 if that is not known.  The refusal is counted in
 * clutch.quota_refusal by its kind, and stays counted even though the
 * transaction or savepoint is rolled back.
 */
extern void quota_check(const QuotaLimits *limits, QuotaKind kind, int64 total, int64 added,
						TimestampTz until, const char *place);

extern const char *quota_kind_name(QuotaKind kind);

/* a row of clutch.quota */
typedef struct Quota
{
	Oid			grantee;		/* InvalidOid for every role that has none of
								 * its own */
	QuotaKind	kind;
	int64		value;
} Quota;

/* Returns all of them (Quota *), palloc'd, those of the grantee 0 first. */
extern List *quota_list(void);

/*
 * Tells all backends that SQL has changed the table, so that they read it
 * again.
 */
extern void quota_announce(void);

#endif							/* CLUTCH_QUOTA_H */
