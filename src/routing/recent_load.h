/*-------------------------------------------------------------------------
 *
 * recent_load.h
 *	  What this backend read of the agents' loads a moment ago.
 *
 * A choice among hundreds of agents cannot read all their slots; what is a
 * little old is good enough to order them, because the slot decides in the
 * end.  Nothing read in a transaction outlives its abort.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RECENT_LOAD_H
#define CLUTCH_RECENT_LOAD_H

#include "datatype/timestamp.h"
#include "registry/load.h"
#include "registry/roster.h"

/* at most max_age microseconds before now */
extern const AgentLoad *recent_load(const Roster *roster, int ordinal, TimestampTz now,
									int64 max_age);

/* read anew, and remembered */
extern const AgentLoad *recent_load_refresh(const Roster *roster, int ordinal);

/* known to be out of date: read it the next time */
extern void recent_load_forget(const Roster *roster, int ordinal);

#endif							/* CLUTCH_RECENT_LOAD_H */
