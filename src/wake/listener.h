/*-------------------------------------------------------------------------
 *
 * listener.h
 *	  Which channels may have listeners, in shared memory.
 *
 * Only PostgreSQL knows who listens to which channel, and it does not tell.
 * Therefore, if the library was preloaded, each session counts itself as a
 * listener of a channel from its first LISTEN until it ends.  It is also
 * counted after UNLISTEN, or if LISTEN was rolled back, and channels share
 * counters, so a channel that is said to have listeners need not have any.
 * The opposite does not happen, see listener_may_be_there.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LISTENER_H
#define CLUTCH_LISTENER_H

#include "clutch.h"

/*
 * Counts this session as a listener of the channel with that key, see
 * notify.c.  To be called before LISTEN is executed.
 */
extern void listener_add(uint64 key);

/*
 * May a session of this database listen to the channel?  To be called after
 * the commit of what is to be announced: a session that is counted too late
 * for this call then finds it when it looks for news after its LISTEN.
 * Returns true if the library was not preloaded.
 */
extern bool listener_may_be_there(uint64 key);

#endif							/* CLUTCH_LISTENER_H */
