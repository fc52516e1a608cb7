/*-------------------------------------------------------------------------
 *
 * host.h
 *	  Hosts, and the patterns of an egress_allowlist.
 *
 * A pattern is the name of a host (api.example.com), all names below one
 * (*.example.com, which does not include example.com itself), an IPv4 address,
 * or an IPv6 address in brackets.  Case, and a dot at the end, do not matter;
 * a name that is not ASCII is written in its ASCII form (xn--...).  A pattern
 * has no scheme and no port, and there is none for all hosts; to allow all of
 * them, the list is left out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_HOST_H
#define CLUTCH_HOST_H

#include "protocol/fields.h"

/*
 * Is it a single host, as in a URL but without a port?  A pattern with * is
 * not.
 */
extern bool host_is_valid(Slice host);

/*
 * Does the list allow every host that the pattern, which may be a single host,
 * allows?
 */
extern bool host_pattern_is_within(Slice pattern, const SliceList *patterns);

/* Is there a host that both lists allow? */
extern bool host_lists_meet(const SliceList *a, const SliceList *b);

/* Reads an optional list of patterns; see fields_identifiers. */
extern void host_read_patterns(Fields *f, int field, SliceList *patterns);

#endif							/* CLUTCH_HOST_H */
