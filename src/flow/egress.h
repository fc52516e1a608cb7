/*-------------------------------------------------------------------------
 *
 * egress.h
 *	  Which hosts the arguments of a tool.call may name (spec 000 6).
 *
 * The URLs in the strings and keys of "args", at any depth, are judged by their
 * hosts (protocol/url.h).  The database does not see what a tool does with the
 * rest; whoever runs the agent gets the same lists, in the card and in the
 * envelope, and confines the network.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EGRESS_H
#define CLUTCH_EGRESS_H

#include "protocol/envelope.h"

/*
 * Raises 42501, code HOST_NOT_ALLOWED, at the path of the first URL whose host is
 * not in the list, or cannot be read; whose says whose list it is.
 */
extern void egress_check(const Envelope *call, const SliceList *hosts, const char *whose);

#endif							/* CLUTCH_EGRESS_H */
