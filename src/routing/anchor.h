/*-------------------------------------------------------------------------
 *
 * anchor.h
 *	  One word by which a waiting requirement and an agent find each other.
 *
 * A requirement has exactly one anchor, the hash of the most selective word that
 * is cheap to find.  An agent has an anchor for every word of its card that
 * could be one.  If an agent fits a requirement, then the anchor of the
 * requirement is among the anchors of the agent; the reverse does not hold.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ANCHOR_H
#define CLUTCH_ANCHOR_H

#include "registry/roster.h"
#include "routing/requirement.h"

/*
 * The only agent that is named; else the first entry of requires, without its
 * range of versions; else the only group; else a constant that every agent has.
 */
extern uint64 requirement_anchor(const Requirement *requirement);

/* palloc'd, each anchor once; returns how many there are */
extern int	requirement_anchors_of_agent(const Roster *roster, int ordinal, uint64 **anchors);

#endif							/* CLUTCH_ANCHOR_H */
