/*-------------------------------------------------------------------------
 *
 * incoming.h
 *	  What an endpoint has answered to a call.
 *
 * The adapter of the endpoint makes envelopes of a response, which are reported in the name of
 * the agent that it serves.  If the endpoint has artifacts_from, bytes become artifacts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_INCOMING_H
#define CLUTCH_INCOMING_H

#include "flow/callee.h"

/*
 * Reports a response to a call that is locked; is_last: no other one follows.  Returns NULL, or
 * a message that says what is wrong with it; then nothing was reported.  *state: how far the
 * answer has got with it.
 */
extern const char *incoming_take(const Call *call, const Endpoint *endpoint, Jsonb *response, bool is_last, CalleeState *state);

#endif							/* CLUTCH_INCOMING_H */
