/*-------------------------------------------------------------------------
 *
 * envelope_part.h
 *	  The parts of an envelope that have a file of their own.
 *
 * For envelope.c alone; each part reads one field and fills what of the
 * Envelope comes from it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ENVELOPE_PART_H
#define CLUTCH_ENVELOPE_PART_H

#include "protocol/fields.h"

/* envelope_address.c: "from" and "to" */
extern void envelope_read_from(const JsonbValue *from, const Place *place,
							   Envelope *envelope, ProblemList *list);
extern void envelope_read_to(const JsonbContainer *to, const Place *place,
							 Envelope *envelope, ProblemList *list);

/* envelope_policy.c: "security" */
extern void envelope_read_security(const JsonbValue *security, const Place *place,
								   Envelope *envelope, ProblemList *list);

/* envelope_orders.c: "meta", of which the database obeys meta.clutch */
extern void envelope_read_meta(const JsonbValue *meta, const Place *place,
							   Envelope *envelope, ProblemList *list);

/* envelope_payload.c: "payload", as its type has it */
extern void envelope_read_payload(const JsonbValue *payload, const Place *place,
								  Envelope *envelope, ProblemList *list);

#endif							/* CLUTCH_ENVELOPE_PART_H */
