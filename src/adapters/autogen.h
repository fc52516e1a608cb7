/*-------------------------------------------------------------------------
 *
 * autogen.h
 *	  AutoGen: messages of AgentChat 0.7, and the events that autogen-core logs.
 *
 * docs/adapters.md has the mapping.  The context may have one member more: "stream", true
 * if pieces of messages are to be kept, which are left out otherwise.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AUTOGEN_H
#define CLUTCH_AUTOGEN_H

#include "adapters/adapter.h"

extern const Adapter autogen_adapter;

#endif							/* CLUTCH_AUTOGEN_H */
