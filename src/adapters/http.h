/*-------------------------------------------------------------------------
 *
 * http.h
 *	  Webhooks: CloudEvents 1.0.2 and Standard Webhooks 1.
 *
 * A document is a CloudEvent (structured mode), the body {type, timestamp, data} of
 * Standard Webhooks, or a request, {"headers": .., "body": ..}: one whose headers are
 * the attributes of a CloudEvent (binary mode), or one with the header webhook-id.  Names
 * of headers may be in any case.  docs/adapters.md has the mapping.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_HTTP_H
#define CLUTCH_HTTP_H

#include "adapters/adapter.h"

extern const Adapter http_adapter;

#endif							/* CLUTCH_HTTP_H */
