/*-------------------------------------------------------------------------
 *
 * withdraw.h
 *	  An agent leaves the registry; an agent or a capability gets no new work
 *	  for a while.
 *
 * Each of these is an event of the database in the run of the registry, an
 * agent.heartbeat with meta.clutch.move, so that a rebuild finds the same.  The
 * caller has checked that the role may do it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WITHDRAW_H
#define CLUTCH_WITHDRAW_H

#include "store/event.h"

/* Its tasks go to others.  Raises AGENT_NOT_FOUND for the argument "agent_id". */
extern Receipt withdraw_unregister(Slice agent_id, Slice reason);

/* what: an agent or a capability; reason may be absent */
extern Receipt withdraw_pause(Slice by_agent, Slice what, Slice reason);

/* The tasks that wait for it are offered.  False: it was not paused. */
extern bool withdraw_resume(Slice by_agent, Slice what, Receipt *receipt);

#endif							/* CLUTCH_WITHDRAW_H */
