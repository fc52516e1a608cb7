/*-------------------------------------------------------------------------
 *
 * crewai.h
 *	  crewAI: the events of crews, flows, agents and tools.
 *
 * docs/adapters.md has the mapping.  The member "stream" of the context says
 * whether pieces of messages are translated; by default they are dropped.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CREWAI_H
#define CLUTCH_CREWAI_H

#include "adapters/adapter.h"

extern const Adapter crewai_adapter;

#endif							/* CLUTCH_CREWAI_H */
