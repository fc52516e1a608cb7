/*-------------------------------------------------------------------------
 *
 * quota.h
 *	  How much a role may pile up and send (clutch.set_quota).
 *
 * A row of clutch.quota is one limit of one role, or, with the grantee 0, of
 * every role that has none of its own for the same kind.  The role is the one
 * that is current at the door; the roles that it is a member of count for
 * themselves.  Operators have no quotas, and neither has the database itself.
 *
 * Here are the limits.  What is used is counted by those who know it: see
 * trust/traffic, flow/open_work, feed/subscription, flow/schedule and
 * store/artifact.  They write first and count then, rows that others have not
 * committed included, so that of two sessions at least the second one sees the
 * other.
 *
 * A backend remembers the limits until the table changes (base/stale), so where no
 * role has a quota, an event costs a comparison.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_QUOTA_H
#define CLUTCH_QUOTA_H

#include "base/rows.h"

typedef enum QuotaKind
{
	QUOTA_OPEN_REQUESTS,		/* requests whose tasks are not over */
	QUOTA_STEPS,				/* steps that are kept, of tasks that are not over */
	QUOTA_SUBSCRIPTIONS,
	QUOTA_MEMBERS,				/* of all its subscriptions together */
	QUOTA_SCHEDULES,
	QUOTA_ARTIFACT_BYTES,		/* of the artifacts that it has uploaded */
	QUOTA_EVENTS_PER_MINUTE,	/* these three: sent by the role, see trust/traffic.h */
	QUOTA_BYTES_PER_MINUTE,
	QUOTA_BYTES_PER_DAY,
	NUM_QUOTA_KINDS
} QuotaKind;

#define QUOTA_NONE		PG_INT64_MAX
#define QUOTA_BIT(kind)	(UINT32_C(1) << (kind))

typedef struct QuotaLimits
{
	int64		of[NUM_QUOTA_KINDS];	/* QUOTA_NONE means no limit */
} QuotaLimits;

/*
 * The limits of the current role.  NULL, as usual: it has none of these kinds, a set
 * of QUOTA_BIT.  The result is valid until the next call.
 */
extern const QuotaLimits *quota_limits(uint32 kinds);

/*
 * Raises KL013, code QUOTA_EXCEEDED, if total is more than the limit.  added is the part
 * of it that the caller has just added.  until is the time at which a part of it
 * stops counting, or 0 if nobody knows.  The refusal is counted in clutch.quota_refusal
 * by its kind, and stays counted although the transaction, or the savepoint, is rolled back.
 */
extern void quota_check(const QuotaLimits *limits, QuotaKind kind, int64 total, int64 added,
						TimestampTz until, const char *place);

extern const char *quota_kind_name(QuotaKind kind);

/* a row of clutch.quota */
typedef struct Quota
{
	Oid			grantee;		/* InvalidOid: whoever has none of its own */
	QuotaKind	kind;
	int64		value;
} Quota;

/* All of them, Quota *, palloc'd, those of the grantee 0 first. */
extern List *quota_list(RowSnapshot which);

/* The table has been changed by SQL: all backends read it again. */
extern void quota_announce(void);

#endif							/* CLUTCH_QUOTA_H */
