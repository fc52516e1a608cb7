/*-------------------------------------------------------------------------
 *
 * incoming.h
 *	  Taking the answer of an endpoint to a call.
 *
 * The adapter of the endpoint makes envelopes from a response, which are
 * reported in the name of the agent that the endpoint serves.  If the endpoint
 * has artifacts_from, bytes become artifacts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_INCOMING_H
#define CLUTCH_INCOMING_H

#include "flow/callee.h"

/*
 * Reports a response to a locked call.  is_last says that no other response
 * follows.  Returns NULL, or a message that says what is wrong with it, in
 * which case nothing was reported.  *state is set to how far the answer has
 * got.
 */
extern const char *incoming_take(const Call *call, const Endpoint *endpoint, Jsonb *response, bool is_last, CalleeState *state);

#endif							/* CLUTCH_INCOMING_H */
