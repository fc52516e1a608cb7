/*-------------------------------------------------------------------------
 *
 * fields.h
 *	  Reading the fields of an object: they are found in one pass, and then
 *	  read one by one.
 *
 *		static const Slice names[] = {FIELD("id"), ...};
 *		static const FieldTable table = FIELD_TABLE(names, "...");
 *		Fields		f;
 *
 *		if (fields_open(&f, &table, value, place, list))
 *			id = fields_identifier(&f, FIELD_ID, REQUIRED, ID_MESSAGE);
 *
 * Every reader returns what it has read.  If there is a fault, it adds the
 * fault with its place and returns an absent Slice, false, NULL or -1.  It
 * returns the same, without a fault, for a field that may be left out and was.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_FIELDS_H
#define CLUTCH_FIELDS_H

#include "datatype/timestamp.h"
#include "protocol/value.h"

typedef struct FieldTable
{
	const Slice *names;			/* in the order of jsonb: by length, then by
								 * bytes */
	int			n;
	bool		open;			/* other fields are allowed and ignored */
	const char *advice;			/* what to do about a field that is not in the
								 * table */
} FieldTable;

#define FIELD(literal)				{literal, sizeof(literal) - 1}
#define FIELD_TABLE(names, advice)	{names, lengthof(names), false, advice}
#define FIELD_TABLE_OPEN(names)		{names, lengthof(names), true, NULL}

#define FIELDS_MAX		24

typedef struct Fields
{
	const FieldTable *table;
	const DocumentPlace *place; /* place of the object */
	ProblemList *list;
	uint32		present;		/* bit i is set if the object has names[i] */
	JsonbValue	values[FIELDS_MAX];
} Fields;

typedef enum Presence
{
	REQUIRED,
	OPTIONAL,					/* the field may be left out */
	NULLABLE					/* the field may be left out or null, which is the same */
} Presence;

/*
 * Opens an object.  If the value is not an object, adds a fault and returns
 * false.
 */
extern bool fields_open(Fields *f, const FieldTable *table, const JsonbValue *value,
						const DocumentPlace *place, ProblemList *list);

static inline DocumentPlace
fields_place(const Fields *f, int field)
{
	return (DocumentPlace) {f->place, f->table->names[field]};
}

static inline bool
fields_present(const Fields *f, int field)
{
	return (f->present & (UINT32_C(1) << field)) != 0;
}

extern Slice fields_text(Fields *f, int field, Presence presence, TextKind kind);
extern Slice fields_identifier(Fields *f, int field, Presence presence,
							   IdentifierKind kind);
/*
 * Returns the index of the text in a list of words, which ends with NULL, or
 * -1.
 */
extern int	fields_word(Fields *f, int field, Presence presence,
						const char *const *words);
extern bool fields_time(Fields *f, int field, Presence presence, TimestampTz *t);
extern bool fields_bool(Fields *f, int field, Presence presence, bool *value);
extern bool fields_integer(Fields *f, int field, Presence presence,
						   int64 least, int64 most, int64 *value);

/* The same where "most" is imposed by a setting, which is named. */
extern bool fields_limited_integer(Fields *f, int field, Presence presence,
								   int64 least, int64 most, const char *setting, int64 *value);

/* Returns an optional number that must not be negative, or NULL. */
extern Numeric fields_amount(Fields *f, int field);

/* Returns the value itself, which must be an object. */
extern const JsonbValue *fields_object(Fields *f, int field, Presence presence);

/*
 * Returns an array with at most this many elements.  "setting" names the
 * setting that imposes this limit.
 */
extern const JsonbContainer *fields_array(Fields *f, int field, Presence presence, int most,
										  const char *setting);

/*
 * Reads an array of identifiers with at most clutch.max_list elements.  A
 * faulty element is absent in items, so that the others keep their indexes.
 */
extern void fields_identifiers(Fields *f, int field, Presence presence,
							   IdentifierKind kind, SliceList *items);

#endif							/* CLUTCH_FIELDS_H */
