/*-------------------------------------------------------------------------
 *
 * uri.h
 *	  URI references (RFC 3986): recognizing, resolving and decoding them.
 *
 * Nothing here uses a network.  A URI is only a name.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_URI_H
#define CLUTCH_URI_H

#include "base/text.h"

/*
 * A URI reference, split into parts (RFC 3986 appendix B).  Missing parts are
 * absent.
 */
typedef struct UriParts
{
	Slice		scheme;
	Slice		authority;
	Slice		path;			/* always present */
	Slice		query;
	Slice		fragment;
} UriParts;

extern UriParts uri_parse(Slice text);

/*
 * Returns the URI that a reference in a document means (RFC 3986 5.2),
 * palloc'd.  base is the URI of the document.  The fragment is cut off;
 * *fragment is set to it, or is absent if the reference has none.
 */
extern Slice uri_resolve(Slice base, Slice reference, Slice *fragment);

/* Does it begin with a scheme? */
extern bool uri_is_absolute(Slice uri);

/*
 * Can it be an absolute URI?  It must have a scheme, a colon and something
 * after it, and neither blanks nor control characters.
 */
extern bool uri_is_plausible(Slice uri);

/*
 * Returns the text without percent-encoding, palloc'd.  If a percent sign has
 * no two hexadecimal digits, "strict" returns an absent slice; otherwise, the
 * sign stands for itself.
 */
extern Slice uri_decode(Slice encoded, bool strict);

#endif							/* CLUTCH_URI_H */
