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

#include "outbox/call.h"

/*
 * Reports a response to a call that is locked; is_last: no other one follows.  Returns NULL, or
 * a message that says what is wrong with it; then nothing was reported.  *ended: the response
 * was the end of the answer, and not only its progress.
 */
extern const char *incoming_take(const Call *call, const Endpoint *endpoint, Jsonb *response, bool is_last, bool *ended);

#endif							/* CLUTCH_INCOMING_H */
