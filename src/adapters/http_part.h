/*-------------------------------------------------------------------------
 *
 * http_part.h
 *	  For the files of http alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_HTTP_PART_H
#define CLUTCH_HTTP_PART_H

#include "adapters/http.h"

extern Slice http_lower(Slice name);

/* the name of a header in the spelling of the request; absent if there is no such header */
extern Slice http_header_name(const Json *raw, Slice lower);

/* the value of that header, of any kind; NULL: there is none */
extern Json *http_header(const Json *raw, Slice lower);

/* the attribute that the text in a header of binary mode stands for; NULL: it decodes to no text */
extern Json *http_attribute(const Json *header);

/*
 * Refuses a header that was there before in another spelling ("first"; NULL: it was not) and
 * had another value: nobody could tell which one counts.
 */
extern void http_check_header(const Adapter *self, Slice name, const Json *value, const Json *first);

#endif							/* CLUTCH_HTTP_PART_H */
