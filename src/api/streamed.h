/*-------------------------------------------------------------------------
 *
 * streamed.h
 *	  Artifacts of A2A that an agent behind an endpoint has streamed.
 *
 * Each update of an artifact is reported as progress, and the status that ends a stream does
 * not repeat the artifacts.  So they are put together here, and become a part of the
 * result.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_STREAMED_H
#define CLUTCH_STREAMED_H

#include "base/json.h"
#include "outbox/call.h"

/*
 * Returns a completed Task of A2A 1.0 with the artifacts that were reported as progress in this
 * attempt of the call.  Only those of the task that the result ends are taken: the other side
 * may have made several tasks of one call.  Returns NULL if there are no artifacts, or more than
 * an envelope may contain.  *references: the artifacts of the database in it, as List of Slice *.
 */
extern Jsonb *streamed_task(const Call *call, Jsonb *result, List **references);

/* Does the envelope lack the artifacts that were streamed before it?  True for results without artifacts. */
extern bool streamed_lacks(Jsonb *envelope);

/*
 * The result, with what it lacks.  whole: the envelope that streamed_task makes.  If the
 * result itself says nothing, it gets the payload of the other one.  A result that would be
 * too large for the log is returned as it is.
 */
extern Jsonb *streamed_complete(Jsonb *result, Jsonb *task, Jsonb *whole);

#endif							/* CLUTCH_STREAMED_H */
