/*-------------------------------------------------------------------------
 *
 * map_part.h
 *	  For the files of map alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MAP_PART_H
#define CLUTCH_MAP_PART_H

#include "adapters/map.h"

/*
 * The recipients that the address of a message, at "/to", stands for.  An address that
 * is relative to the sender, like {"parent": true}, stands for none that is known here:
 * it is noted as "to", and the recipients are left to the context.
 */
extern void map_read_address(const Adapter *self, const Json *message, Json *envelope);

/* the address of the recipients, in the form in which it came if that still fits */
extern Json *map_address_of(const Adapter *self, const Json *envelope);

/* Can a request be sent to the recipients?  False if one of them is everybody, or a topic. */
extern bool map_can_work(const Json *envelope);

#endif							/* CLUTCH_MAP_PART_H */
