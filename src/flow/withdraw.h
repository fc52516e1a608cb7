/*-------------------------------------------------------------------------
 *
 * withdraw.h
 *	  Withdrawing agents: unregistering one, and pausing an agent or a
 *	  capability, which then gets no new work for a while.
 *
 * Each of these is an event of the database in the run of the registry, an
 * agent.heartbeat with meta.clutch.move, so that a rebuild arrives at the same
 * state.  The caller must check that the role may do it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WITHDRAW_H
#define CLUTCH_WITHDRAW_H

#include "store/event.h"

/*
 * Unregisters an agent, whose tasks go to others.  Raises AGENT_NOT_FOUND for
 * the argument "agent_id".
 */
extern Receipt withdraw_unregister(Slice agent_id, Slice reason);

/*
 * Removes the slots and signs of life of agents that left the registry long ago.
 * Removes n slots, or the signs of life of n agents, at most, and pauses after
 * each pass.  Never waits.
 */
extern void withdraw_sweep(int n);

/* Pauses "what", an agent or a capability.  reason may be absent. */
extern Receipt withdraw_pause(Slice by_agent, Slice what, Slice reason);

/*
 * Resumes it, and offers waiting tasks.  Returns false if it was not paused.
 */
extern bool withdraw_resume(Slice by_agent, Slice what, Receipt *receipt);

#endif							/* CLUTCH_WITHDRAW_H */
