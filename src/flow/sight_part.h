/*-------------------------------------------------------------------------
 *
 * sight_part.h
 *	  Private declarations of sight: what is cached about the runs of a role.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SIGHT_PART_H
#define CLUTCH_SIGHT_PART_H

#include "base/crypto.h"
#include "flow/sight.h"

/* what is known about one run */
typedef struct RunSight
{
	Slice		run_id;			/* key */
	uint32		hash;
	char		status;
	bool		takes_part;		/* an agent of the role is known to take part in it */
	bool		is_found_out;
	SightOfRun	sight;			/* valid if is_found_out */
} RunSight;

/* nobody can choose the IDs of public runs so that they have the same place */
#define SH_PREFIX		runtable
#define SH_ELEMENT_TYPE	RunSight
#define SH_KEY_TYPE		Slice
#define SH_KEY			run_id
#define SH_HASH_KEY(table, key)	(uint32) crypto_name_hash(key)
#define SH_EQUAL(table, a, b)	slice_equal(a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, run)	(run)->hash
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* All runs of which a role sees something; see sight_list.c. */
typedef struct RunList
{
	MemoryContext context;
	int			holders;		/* number of sights that use it, plus one for
								 * the backend if it is the newest list */

	/* For whom and when it was made: */
	Oid			role;			/* InvalidOid if the session was acting as
								 * another role */
	SliceList	agents;
	SliceList	scopes;
	uint64		registry;		/* roster_changes() at that time, because
								 * groups have members */
	bool		is_void;		/* something has been rolled back since then */
	TransactionId own;			/* its transaction, whose ID is not in any of
								 * its own snapshots */
	TransactionId xmin;
	TransactionId xmax;
	CommandId	curcid;
	uint32		xcnt;
	TransactionId *xip;
	bool		suboverflowed;	/* then its subtransactions are not compared */
	int32		subxcnt;
	TransactionId *subxip;

	runtable_hash *runs;		/* takes_part is set for those in which the
								 * role's agents do */
	Datum		array;			/* the same runs as text[], in byte order */
} RunList;

/*
 * Sets sight->list to the cached list if a new one would be the same.
 * Otherwise makes a new list if "make" is true, and does nothing if it is
 * false.  The list lives as long as the memory context of the sight.
 */
extern void sight_take_list(Sight *sight, bool make);

#endif							/* CLUTCH_SIGHT_PART_H */
