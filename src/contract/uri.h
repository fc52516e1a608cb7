/*-------------------------------------------------------------------------
 *
 * uri.h
 *	  URI references (RFC 3986), as far as schemas name one another by them.
 *
 * Nothing here looks at a network: a URI is a name.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_URI_H
#define CLUTCH_URI_H

#include "base/text.h"

/*
 * The URI that a reference in a document means (RFC 3986 5.2), palloc'd; base is the
 * URI of the document.  The fragment is cut off: *fragment is what was written, or
 * absent if the reference has none.
 */
extern Slice uri_resolve(Slice base, Slice reference, Slice *fragment);

/* does it begin with a scheme? */
extern bool uri_is_absolute(Slice uri);

/* without percent-encoding, palloc'd; absent if the encoding is malformed */
extern Slice uri_decode(Slice encoded);

#endif							/* CLUTCH_URI_H */
