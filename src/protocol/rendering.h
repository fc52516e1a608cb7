/*-------------------------------------------------------------------------
 *
 * rendering.h
 *	  An envelope as text for the prompt of a model (spec 000 6, "payload
 *	  boundaries enforced").
 *
 * A few lines say who sent what to whom; then the payload follows, as JSON,
 * between two lines with a number that is new each time.  Nobody who wrote the
 * payload knew that number, and it is not in the payload, so no payload can end
 * its own fence or pretend to be a line outside of it.  Characters that are not
 * seen, or that change how the text around them is shown, appear as their
 * escapes, in the lines as well as in the payload, which stays the same JSON.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RENDERING_H
#define CLUTCH_RENDERING_H

#include "protocol/envelope.h"

/* palloc'd; the envelope must have been read without faults */
extern char *rendering_of(const Envelope *envelope);

/*
 * Is it a control or format character, or one that shows as nothing?  For
 * Unicode code points.
 */
extern bool rendering_is_hidden(uint32 character);

#endif							/* CLUTCH_RENDERING_H */
