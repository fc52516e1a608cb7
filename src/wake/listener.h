/*-------------------------------------------------------------------------
 *
 * listener.h
 *	  Which channels may have listeners, in shared memory.
 *
 * PostgreSQL does not tell who listens to which channel.  So if the library was
 * preloaded, each session counts itself as a listener of a channel from its
 * first LISTEN until it ends, also after UNLISTEN, or if LISTEN was rolled back.
 * Moreover, channels share counters.  So a channel that is said to have listeners
 * need not have any.  The opposite does not happen, see listener_may_be_there.
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
 * the commit of what is to be announced: a session that is counted too late for
 * this call finds the news when it looks for them after its LISTEN.
 * Returns true if the library was not preloaded.
 */
extern bool listener_may_be_there(uint64 key);

#endif							/* CLUTCH_LISTENER_H */
