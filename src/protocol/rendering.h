/*-------------------------------------------------------------------------
 *
 * rendering.h
 *	  Rendering envelopes as text for the prompt of a model (spec 000 6,
 *	  "payload boundaries enforced").
 *
 * A few lines say who sent what to whom.  The payload follows as JSON between
 * two lines with a number that is new each time.  The author of the payload
 * cannot have known that number, and it does not occur in the payload, so no
 * payload can end its own fence or pretend to be a line outside of it.
 * Characters that are invisible, or that change how the text around them is
 * shown, appear as escapes, in the lines as well as in the payload, which
 * stays the same JSON.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RENDERING_H
#define CLUTCH_RENDERING_H

#include "protocol/envelope.h"

/*
 * Returns the text, palloc'd.  The envelope must have been read without
 * faults.
 */
extern char *rendering_of(const Envelope *envelope);

#endif							/* CLUTCH_RENDERING_H */
