/*-------------------------------------------------------------------------
 *
 * path.h
 *	  The SQL/JSON path of a filter or a rule.
 *
 * A path fits a document if it finds something in it.  If the first thing that it
 * finds is a boolean, such as the value of a predicate, the path fits only if it is true.
 * A path that cannot be applied to a document does not fit it, and raises no error:
 * otherwise, one odd event would make every later read fail, or keep others from
 * being sent.
 *
 * A path that a role writes for itself may take as long as it likes.  One that others
 * have to apply must not be costly: the time that it takes is limited by the size of
 * the document.  It has at most 100 items; no .**, like_regex or keyvalue(); in a
 * filter no $, which would be walked through for every item again; and a comparison
 * has a literal on one side.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PATH_H
#define CLUTCH_PATH_H

#include "base/text.h"
#include "utils/jsonb.h"

typedef struct DocumentPath
{
	struct varlena *jsonpath;	/* NULL if there is no path, and everything
								 * fits */
	bool		is_predicate;	/* it is true, false or unknown */
	bool		has_variable;	/* it cannot be used: nothing gives "$x" a value */
	bool		is_costly;		/* may take much longer than reading the document */
	int			nitems;			/* that path_parse has walked over */
	int			nfilters;		/* around the item that it walks over */
} DocumentPath;

/*
 * Reads a path, palloc'd, that somebody has written.  Returns NULL, or why it cannot be
 * used: a mistake in its syntax, a literal argument that one of its methods does not
 * take, such as a format of datetime(), or a variable.  The reason continues a
 * sentence that begins with the path, and has no period.
 */
extern const char *path_read(Slice text, DocumentPath *path);

/* The same for a path that was read before; raises 42601 and others where path_read returns a reason. */
extern DocumentPath path_parse(Slice text);

extern bool path_fits(const DocumentPath *path, Jsonb *document);

/* a member of a document, reached by keys, is this string */
typedef struct PathEquality
{
	SliceList	keys;			/* "$.a.b" has two */
	Slice		text;
} PathEquality;

/*
 * If the path consists of such comparisons, or some of its conditions do: a List of
 * PathEquality *, palloc'd.  The path fits no document in which none of them holds.
 * NIL: nothing can be said without trying it.
 */
extern List *path_list_equalities(const DocumentPath *path);

/* what stands where the keys of an equality lead to */
typedef enum PathMember
{
	PATH_MEMBER_TEXT,
	PATH_MEMBER_OTHER,			/* nothing, or something that is equal to no text */
	PATH_MEMBER_UNCLEAR			/* an array is on the way: the path has to be tried */
} PathMember;

extern PathMember path_member(const SliceList *keys, Jsonb *document, Slice *text);

/* Returns the first item that the path finds, palloc'd; absent if it is not a string, or if nothing is found. */
extern Slice path_first_text(const DocumentPath *path, Jsonb *document);

/* A List of Jsonb *, at most so many: what the path finds, in its order. */
extern List *path_list(const DocumentPath *path, Jsonb *document, int most);

#endif							/* CLUTCH_PATH_H */
