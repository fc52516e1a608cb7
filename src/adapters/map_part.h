/*-------------------------------------------------------------------------
 *
 * map_part.h
 *	  Private declarations of map.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MAP_PART_H
#define CLUTCH_MAP_PART_H

#include "adapters/map.h"

/*
 * Reads the recipients from the member "to" of a message.  We do not know here
 * who is meant by an address relative to the sender, such as {"parent": true}.
 * Such an address is noted as "to", and the recipients are left open.
 */
extern void map_read_address(const Adapter *self, const Json *message, Json *envelope);

/*
 * Returns the address of the recipients, in its original form if that is still
 * possible.
 */
extern Json *map_address_of(const Adapter *self, const Json *envelope);

/*
 * Can the recipients work on a request?  They cannot if one of them is
 * everybody or a topic.
 */
extern bool map_can_work(const Json *envelope);

#endif							/* CLUTCH_MAP_PART_H */
