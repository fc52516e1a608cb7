/*-------------------------------------------------------------------------
 *
 * multiagent.h
 *	  Messages of the protocol "multiagent-1.0" (spec 001).  docs/adapters.md
 *	  has the mapping.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MULTIAGENT_H
#define CLUTCH_MULTIAGENT_H

#include "adapters/adapter.h"

extern const Adapter multiagent_adapter;

#endif							/* CLUTCH_MULTIAGENT_H */
