/*-------------------------------------------------------------------------
 *
 * payload_type.h
 *	  The registry of schemas (spec 3): clutch.payload_type.
 *
 * A payload type has versions, numbered from 1, each of which is a schema that
 * never changes.  A schema_ref names one: schema://clutch/research/summary@1
 * is the newest version of research.summary.v1 or, if there is no such type,
 * version 1 of research.summary; a schema_ref without a version means the
 * newest one.  The $id of a schema names the newest version that has it.
 *
 * Each backend caches the schemas that it has compiled, up to
 * PAYLOAD_TYPE_MEMORY bytes, and the list of types that are always enforced,
 * until the table changes or a transaction that has read it is rolled back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PAYLOAD_TYPE_H
#define CLUTCH_PAYLOAD_TYPE_H

#include "contract/json_schema.h"
#include "protocol/envelope.h"

#define PAYLOAD_TYPE_MEMORY		(32 * 1024 * 1024)

typedef enum PayloadEnforcement
{
	ENFORCE_OFF,				/* only by clutch.validate_payload */
	ENFORCE_WORKFLOW,			/* where a workflow requires it */
	ENFORCE_ALWAYS				/* for every event that has the payload type */
} PayloadEnforcement;

typedef struct PayloadType
{
	Slice		name;
	int			version;
	PayloadEnforcement enforcement;
	const JsonSchema *schema;
} PayloadType;

/*
 * Returns the version of a payload type (0 means the newest), with its schema
 * compiled, or NULL if it is not registered.  Valid until the next call of
 * this function.
 */
extern const PayloadType *payload_type_find(Slice name, int version);

/*
 * Checks a payload, and adds its faults with paths below base, such as
 * "/payload".  Returns whether it is valid.
 */
extern bool payload_type_check(const PayloadType *type, const JsonbValue *payload,
							   const char *base, ProblemList *list);

/*
 * Returns all faults (CONTRACT_BROKEN) if the payload type of the envelope is
 * always enforced and its payload violates it, and otherwise NULL.  For any
 * other event, this costs a comparison.
 */
extern ProblemList *payload_type_enforce(const Envelope *envelope);

/* Returns a copy of the document of a payload type or schema_ref, or NULL. */
extern Jsonb *payload_type_document(Slice what);

/*
 * Returns the document, an object, with the limits that settings currently
 * impose: where "$comment" is the name of a setting, its value replaces a
 * maximum next to it.
 */
extern Jsonb *payload_type_with_limits(Jsonb *document);

/*
 * Is it a name that may be registered, that is, a word without "/", "@" and
 * blanks?
 */
extern bool payload_type_name_valid(Slice name);

typedef enum Compatibility
{
	COMPATIBLE_NONE,
	COMPATIBLE_BACKWARD,		/* what was valid before is still valid */
	COMPATIBLE_FORWARD,			/* what is valid now was valid before */
	COMPATIBLE_FULL				/* both */
} Compatibility;

/*
 * Registers a schema and returns its version: the given one, or the next if
 * that is 0.  If the schema is equal to that of the newest version, there is no new
 * version: the other arguments of that one change.  Raises KL011 if the
 * schema is not valid, KL012 if it is not compatible with the newest version, and
 * 23505 if the version exists with another schema.
 */
extern int	payload_type_register(Slice name, Jsonb *schema, int version,
								  Compatibility compatibility, PayloadEnforcement enforcement);

/*
 * Tells all backends that the table was changed, so that they read it again.
 */
extern void payload_type_changed(void);

/* the words used in SQL, in the order of the enums, ending with NULL */
extern const char *const payload_type_enforcements[];
extern const char *const payload_type_compatibilities[];

#endif							/* CLUTCH_PAYLOAD_TYPE_H */
