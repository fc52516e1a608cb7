/*-------------------------------------------------------------------------
 *
 * autogen.h
 *	  AutoGen: messages of AgentChat 0.7, and the events that autogen-core
 *	  logs.
 *
 * docs/adapters.md has the mapping.  The member "stream" of the context says
 * whether pieces of messages are translated; by default they are dropped.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AUTOGEN_H
#define CLUTCH_AUTOGEN_H

#include "adapters/adapter.h"

extern const Adapter autogen_adapter;

#endif							/* CLUTCH_AUTOGEN_H */
