/*-------------------------------------------------------------------------
 *
 * webhook.h
 *	  Sending events to endpoints with a filter.
 *
 * For each endpoint whose filter matches an event, a call is written in the
 * transaction of the event.  The body is made only when a gateway claims the
 * call, so the sender does not wait for the translation, and content that has
 * been redacted in the meantime is not sent.  If no endpoint has a filter, an
 * event costs only a comparison.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WEBHOOK_H
#define CLUTCH_WEBHOOK_H

#include "store/event.h"

/*
 * Writes the calls for an event that has been admitted or appended.  Its seq
 * must be set.
 */
extern void webhook_note(const Event *event);

#endif							/* CLUTCH_WEBHOOK_H */
