/*-------------------------------------------------------------------------
 *
 * envelope_part.h
 *	  Private declarations of envelope: the parts that have files of their own.
 *
 * Only envelope.c calls these functions.  Each reads one field and fills in
 * the members of the Envelope that come from it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ENVELOPE_PART_H
#define CLUTCH_ENVELOPE_PART_H

#include "protocol/envelope.h"
#include "protocol/fields.h"

/* envelope_address.c: "from" and "to" */
extern void envelope_read_from(const JsonbValue *from, const DocumentPlace *place,
							   Envelope *envelope, ProblemList *list);
extern void envelope_read_to(const JsonbContainer *to, const DocumentPlace *place,
							 Envelope *envelope, ProblemList *list);

/* envelope_policy.c: "security" */
extern void envelope_read_security(const JsonbValue *security, const DocumentPlace *place,
								   Envelope *envelope, ProblemList *list);

/* envelope_orders.c: "meta", of which the database acts on "clutch" */
extern void envelope_read_meta(const JsonbValue *meta, const DocumentPlace *place,
							   Envelope *envelope, ProblemList *list);

/* envelope_payload.c: "payload", whose form depends on the type */
extern void envelope_read_payload(const JsonbValue *payload, const DocumentPlace *place,
								  Envelope *envelope, ProblemList *list);

#endif							/* CLUTCH_ENVELOPE_PART_H */
