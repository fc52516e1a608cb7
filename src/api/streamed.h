/*-------------------------------------------------------------------------
 *
 * streamed.h
 *	  Artifacts that an agent behind an A2A endpoint has streamed.
 *
 * Each update of an artifact is reported as progress, and the status that ends
 * a stream does not repeat the artifacts.  Therefore they are assembled here,
 * and become part of the result.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_STREAMED_H
#define CLUTCH_STREAMED_H

#include "base/json.h"
#include "outbox/call.h"

/*
 * Returns a completed Task in the format of A2A 1.0, with the artifacts that
 * were reported as progress in this attempt of the call.  Only those of the
 * task that the result ends are used, because the other side may have made
 * several tasks for one call.  Returns NULL if there are no artifacts, or more
 * than an envelope may contain.  *references is set to the references to
 * artifacts of this database in it, as a List of Slice *.
 */
extern Jsonb *streamed_task(const Call *call, Jsonb *result, List **references);

/*
 * Does the envelope lack the artifacts that were streamed before it?  True for
 * results without artifacts.
 */
extern bool streamed_lacks(Jsonb *envelope);

/*
 * Returns the result with what it lacks. "whole" is the envelope made from the
 * result of streamed_task.  If the result itself says nothing, it gets the
 * payload of "whole".  A result that would become too large for the log is
 * returned unchanged.
 */
extern Jsonb *streamed_complete(Jsonb *result, Jsonb *task, Jsonb *whole);

#endif							/* CLUTCH_STREAMED_H */
