/*-------------------------------------------------------------------------
 *
 * http.h
 *	  Webhooks: CloudEvents 1.0.2 and Standard Webhooks 1.
 *
 * A document is a CloudEvent in structured mode, the body {type, timestamp,
 * data} of a Standard Webhook, or a request {"headers": .., "body": ..} that
 * is a CloudEvent in binary mode or has the header webhook-id.  Header names
 * are not case-sensitive.  docs/adapters.md has the mapping.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_HTTP_H
#define CLUTCH_HTTP_H

#include "adapters/adapter.h"

extern const Adapter http_adapter;

#endif							/* CLUTCH_HTTP_H */
