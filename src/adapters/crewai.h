/*-------------------------------------------------------------------------
 *
 * crewai.h
 *	  crewAI: the events of crews, flows, agents and tools.
 *
 * docs/adapters.md has the mapping.  The context may have one member more: "stream", true
 * if pieces of messages are to be kept, which are left out otherwise.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CREWAI_H
#define CLUTCH_CREWAI_H

#include "adapters/adapter.h"

extern const Adapter crewai_adapter;

#endif							/* CLUTCH_CREWAI_H */
