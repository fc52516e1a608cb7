/*-------------------------------------------------------------------------
 *
 * host.h
 *	  Hosts that may be reached: the patterns of an egress_allowlist.
 *
 * A pattern is the name of a host (api.example.com), all names below one
 * (*.example.com, which example.com itself is not), an IPv4 address, or an IPv6
 * address in brackets.  Case, and a dot at the end, do not matter; a name that
 * is not ASCII is written in its ASCII form (xn--...).  No pattern has a scheme or
 * a port, and none stands for all hosts: whoever allows all leaves the list out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_HOST_H
#define CLUTCH_HOST_H

#include "protocol/fields.h"

/* Is it one host, as it stands in a URL, without a port?  A pattern with * is not. */
extern bool host_is_valid(Slice host);
extern bool host_pattern_is_valid(Slice pattern);

/* Is the host, which is valid, allowed by a pattern of the list? */
extern bool host_is_allowed(Slice host, const SliceList *patterns);

/* Does the list allow every host that the pattern allows? */
extern bool host_pattern_is_within(Slice pattern, const SliceList *patterns);

/* Is there a host that both lists allow? */
extern bool host_lists_meet(const SliceList *a, const SliceList *b);

/* reads an optional list of patterns, like fields_identifiers */
extern void host_read_patterns(Fields *f, int field, SliceList *patterns);

#endif							/* CLUTCH_HOST_H */
