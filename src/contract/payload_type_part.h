/*-------------------------------------------------------------------------
 *
 * payload_type_part.h
 *	  Private declarations of payload_type: rows of clutch.payload_type.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PAYLOAD_TYPE_PART_H
#define CLUTCH_PAYLOAD_TYPE_PART_H

#include "base/rows.h"
#include "contract/payload_type.h"

/* columns of clutch.payload_type */
enum
{
	Anum_payload_type_payload_type = 1,
	Anum_payload_type_version,
	Anum_payload_type_schema,
	Anum_payload_type_schema_id,
	Anum_payload_type_compatibility,
	Anum_payload_type_enforce,
	Anum_payload_type_builtin,
	Anum_payload_type_registered_at,
	Anum_payload_type_registered_by,
	Natts_payload_type = Anum_payload_type_registered_by
};

ROWS_CHECK_COLUMNS(Natts_payload_type, PAYLOAD_TYPE);

typedef struct PayloadTypeRow
{
	ItemPointerData tid;
	Slice		name;
	int			version;
	Jsonb	   *schema;
	PayloadEnforcement enforcement;
	Compatibility compatibility;
	bool		builtin;
} PayloadTypeRow;

/*
 * Copies the row of a version, or of the newest one (0).  Returns false if
 * there is none.
 */
extern bool payload_type_row(Slice name, int version, PayloadTypeRow *row);

/* The same for a schema_ref or an $id. */
extern bool payload_type_row_of_ref(Slice ref, PayloadTypeRow *row);

/*
 * Returns the schema_ref of a version, which is the URI of its schema;
 * palloc'd.
 */
extern Slice payload_type_uri(Slice name, int version);

/*
 * From now on, payload_type_row and what calls it find this version as if it
 * were in the table already, also by its $id if that is present: the schemas to
 * which it refers may refer to it.  NULL ends this.
 */
extern void payload_type_pretend(const PayloadTypeRow *row, Slice id);

/* Returns the names of all payload types, as Slice *. */
extern List *payload_type_list_names(void);

/* Returns the schema with that URI.  This is a JsonSchemaFinder. */
extern Jsonb *payload_type_find_document(Slice uri);

#endif							/* CLUTCH_PAYLOAD_TYPE_PART_H */
