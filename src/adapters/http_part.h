/*-------------------------------------------------------------------------
 *
 * http_part.h
 *	  Private declarations of http.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_HTTP_PART_H
#define CLUTCH_HTTP_PART_H

#include "adapters/http.h"

/* Returns the name in lower case. */
extern Slice http_lower(Slice name);

/*
 * Returns the name of a header as the request spells it, or an absent slice if
 * there is no such header.
 */
extern Slice http_header_name(const Json *raw, Slice lower);

/* Returns the value of that header, of any kind, or NULL if there is none. */
extern Json *http_header(const Json *raw, Slice lower);

/*
 * Returns the attribute that the text of a header in binary mode stands for,
 * or NULL if the text cannot be decoded.
 */
extern Json *http_attribute(const Json *header);

/*
 * Raises adapter_fault if the same header has occurred in another spelling
 * with a different value, because it is unclear which one counts.  "first" is
 * the earlier value, or NULL if there is none.
 */
extern void http_check_header(const Adapter *self, Slice name, const Json *value, const Json *first);

/*
 * Returns the path of the carrier (adapter.h).  In a request, it is a header.
 * The body of a webhook cannot have other members.
 */
extern const char *http_carrier(const Adapter *self, const Json *raw, AdapterCarrierForm *form);

/* ----------------------------------------------------------------- http.c */

/* Returns the name of a header as it was spelled in the original request. */
extern Slice http_spelling(const Adapter *self, const Json *envelope, Slice lower);
extern void http_note_spelling(const Adapter *self, Json *envelope, Slice name, Slice lower);

/*
 * Returns an envelope of the type of the event: "clutch." followed by a message
 * type that agents may send is that type, and any other type becomes the
 * payload_type of a chat.message.  http_type_of is the reverse.
 */
extern Json *http_read_type(const Adapter *self, const Json *event);
extern Slice http_type_of(const Adapter *self, const Json *envelope);

/* --------------------------------------------------------- http_webhook.c */

/*
 * Returns NULL for the body of a webhook, which has a type, a time and data,
 * and no other members, or a clause that says why it is none.  Many other
 * documents have members of these names.
 */
extern const char *http_declines_webhook(const Json *raw);

/*
 * Returns the envelope for a Standard Webhook.  The body is {type, timestamp,
 * data} or, if the webhook has an ID, anything: without "data", the other
 * members are the payload, and without a type the whole body is.
 */
extern Json *http_read_webhook(const Adapter *self, const Json *body, const Json *id);

/* The same for the request. */
extern Json *http_read_webhook_request(const Adapter *self, const Json *raw);

/* Returns the body or the request for an envelope. */
extern Json *http_webhook_of(const Adapter *self, const Json *envelope);

#endif							/* CLUTCH_HTTP_PART_H */
