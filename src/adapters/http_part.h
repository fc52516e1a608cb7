/*-------------------------------------------------------------------------
 *
 * http_part.h
 *	  Private declarations of http.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_HTTP_PART_H
#define CLUTCH_HTTP_PART_H

#include "adapters/http.h"

/* Returns the name in lower case. */
extern Slice http_lower(Slice name);

/*
 * Returns the name of a header as the request spells it, or an absent slice if
 * there is no such header.
 */
extern Slice http_header_name(const Json *raw, Slice lower);

/* Returns the value of that header, of any kind, or NULL if there is none. */
extern Json *http_header(const Json *raw, Slice lower);

/*
 * Returns the attribute that the text of a header in binary mode stands for,
 * or NULL if the text cannot be decoded.
 */
extern Json *http_attribute(const Json *header);

/*
 * Raises adapter_fault if the same header has occurred in another spelling
 * with a different value, because it is unclear which one counts.  "first" is
 * the earlier value, or NULL if there is none.
 */
extern void http_check_header(const Adapter *self, Slice name, const Json *value, const Json *first);

/*
 * Returns the path of the carrier (adapter.h).  In a request, it is a header.
 * The body of a webhook cannot have other members.
 */
extern const char *http_carrier(const Adapter *self, const Json *raw, AdapterCarrierForm *form);

#endif							/* CLUTCH_HTTP_PART_H */
