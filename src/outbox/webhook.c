/*-------------------------------------------------------------------------
 *
 * webhook.c
 *	  Sending events to endpoints with a filter.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "outbox/call.h"
#include "outbox/webhook.h"

void
webhook_note(const Event *event)
{
	ListCell   *cell;

	foreach(cell, endpoint_webhooks())
	{
		const Endpoint *endpoint = lfirst(cell);
		Call		call = {
			.kind = CALL_EVENT,
			.endpoint = endpoint->name,
			.seq = event->seq,
			.run_id = event->envelope.run_id,
			.task_id = event->envelope.task_id
		};

		if (filter_fits_envelope(&endpoint->filter, &event->envelope))
			call_put(&call);
	}
}
