/*-------------------------------------------------------------------------
 *
 * webhook.h
 *	  Events that are sent to endpoints with a filter.
 *
 * For each endpoint whose filter an event fits, a call is written in the transaction
 * of the event.  Its body is made when a gateway claims it, so a sender pays for no
 * translation, and what has been redacted meanwhile is not sent.  Where no endpoint
 * has a filter, an event costs a comparison.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WEBHOOK_H
#define CLUTCH_WEBHOOK_H

#include "store/event.h"

/* The event has been admitted, or appended by the database; it has its seq. */
extern void webhook_note(const Event *event);

#endif							/* CLUTCH_WEBHOOK_H */
