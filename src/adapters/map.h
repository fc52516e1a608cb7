/*-------------------------------------------------------------------------
 *
 * map.h
 *	  Messages of the Multi-Agent Protocol (spec 004).
 *
 * A document is a message by itself, a map/message notification, or a map/send
 * call.  An envelope that was never foreign becomes a message by itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MAP_H
#define CLUTCH_MAP_H

#include "adapters/adapter.h"

extern const Adapter map_adapter;

#endif							/* CLUTCH_MAP_H */
