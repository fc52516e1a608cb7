/*-------------------------------------------------------------------------
 *
 * egress.h
 *	  Checking which hosts the arguments of a tool.call name (spec 000 6).
 *
 * The URLs in the strings and keys of "args", at any depth, are judged by
 * their hosts (protocol/url.h).  The database cannot see what else a tool
 * does; whoever runs the agent finds the same lists in the card and in the
 * envelope, and must restrict the network accordingly.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EGRESS_H
#define CLUTCH_EGRESS_H

#include "protocol/envelope.h"

/*
 * Raises 42501, code HOST_NOT_ALLOWED, at the path of the first URL whose host
 * is not in the list or cannot be read.  "whose" says whose list it is.
 */
extern void egress_check(const Envelope *call, const SliceList *hosts, const char *whose);

#endif							/* CLUTCH_EGRESS_H */
