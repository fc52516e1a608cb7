/*-------------------------------------------------------------------------
 *
 * collab.h
 *	  Messages of the Multi-Agent Collaboration Protocol (spec 003).
 *	  docs/adapters.md has the mapping.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_COLLAB_H
#define CLUTCH_COLLAB_H

#include "adapters/adapter.h"

extern const Adapter collab_adapter;

#endif							/* CLUTCH_COLLAB_H */
