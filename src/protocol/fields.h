/*-------------------------------------------------------------------------
 *
 * fields.h
 *	  The fields of one object: found in one pass, then read one by one.
 *
 *		static const Slice names[] = {FIELD("id"), ...};
 *		static const FieldTable table = FIELD_TABLE(names, "...");
 *		Fields		f;
 *
 *		if (fields_open(&f, &table, value, place, list))
 *			id = fields_identifier(&f, FIELD_ID, REQUIRED, ID_MESSAGE);
 *
 * Every reader answers what it read, or nothing (absent, false, NULL, -1)
 * after adding the fault with its place.  Absent without a fault is what was
 * left out and may be.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_FIELDS_H
#define CLUTCH_FIELDS_H

#include "protocol/envelope.h"
#include "protocol/value.h"

typedef struct FieldTable
{
	const Slice *names;			/* in jsonb's order: by length, then by bytes */
	int			n;
	bool		open;			/* other fields are nobody's business */
	const char *advice;			/* said of a field that is not among the names */
} FieldTable;

#define FIELD(literal)				{literal, sizeof(literal) - 1}
#define FIELD_TABLE(names, advice)	{names, lengthof(names), false, advice}
#define FIELD_TABLE_OPEN(names)		{names, lengthof(names), true, NULL}

#define FIELDS_MAX		24

typedef struct Fields
{
	const FieldTable *table;
	const Place *place;			/* of the object */
	ProblemList *list;
	uint32		present;		/* bit i: names[i] is there */
	JsonbValue	values[FIELDS_MAX];
} Fields;

/* may it be left out, may it be null? */
typedef enum Presence
{
	REQUIRED,
	OPTIONAL,					/* may be left out */
	NULLABLE					/* and null is as good as left out */
} Presence;

/* false: it was no object, and that has been said */
extern bool fields_open(Fields *f, const FieldTable *table, const JsonbValue *value,
						const Place *place, ProblemList *list);

static inline Place
fields_place(const Fields *f, int field)
{
	return (Place) {f->place, f->table->names[field]};
}

static inline bool
fields_present(const Fields *f, int field)
{
	return (f->present & (UINT32_C(1) << field)) != 0;
}

extern Slice fields_text(Fields *f, int field, Presence presence, TextLimit limit);
extern Slice fields_identifier(Fields *f, int field, Presence presence,
							   IdentifierKind kind);
/* words ends with NULL; the place in it, -1: none */
extern int	fields_word(Fields *f, int field, Presence presence,
						const char *const *words);
extern bool fields_time(Fields *f, int field, Presence presence, TimestampTz *t);
extern bool fields_bool(Fields *f, int field, Presence presence, bool *value);
extern bool fields_integer(Fields *f, int field, Presence presence,
						   int64 least, int64 most, int64 *value);
/* an optional number that is not negative; NULL: none */
extern Numeric fields_amount(Fields *f, int field);

/* the value itself, if it is an object; an array of at most so many */
extern const JsonbValue *fields_object(Fields *f, int field, Presence presence);
extern const JsonbContainer *fields_array(Fields *f, int field, Presence presence, int most,
										  const char *setting);

/*
 * An array of identifiers, no more than clutch.max_list.  An element with a
 * fault is absent in items, so that the others keep their places.
 */
extern void fields_identifiers(Fields *f, int field, Presence presence,
							   IdentifierKind kind, SliceList *items);

#endif							/* CLUTCH_FIELDS_H */
