/*-------------------------------------------------------------------------
 *
 * anchor.h
 *	  The word by which a waiting requirement and an agent find each other.
 *
 * A requirement has exactly one anchor, the hash of its most selective word
 * among those that are cheap to find.  An agent has an anchor for every word
 * of its card that could be one.  If an agent fits a requirement, the anchor
 * of the requirement is among the agent's anchors; the converse does not hold.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ANCHOR_H
#define CLUTCH_ANCHOR_H

#include "registry/roster.h"
#include "routing/requirement.h"

/*
 * Returns the anchor of a requirement.  It is made from the only agent that is
 * named; or else the first entry of requires, without its version range; or
 * else the only group; or else it is a constant that every agent has.
 */
extern uint64 requirement_anchor(const Requirement *requirement);

/*
 * Returns the number of the agent's anchors.  *anchors is a palloc'd array in
 * which each anchor occurs once.
 */
extern int	requirement_anchors_of_agent(const Roster *roster, int ordinal, uint64 **anchors);

#endif							/* CLUTCH_ANCHOR_H */
