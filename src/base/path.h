/*-------------------------------------------------------------------------
 *
 * path.h
 *	  SQL/JSON paths of filters and rules.
 *
 * A path fits a document if it finds something in it.  If the first thing that
 * it finds is a boolean, such as the value of a predicate, the path fits only
 * if that is true.  A path that cannot be applied to a document does not fit
 * it, and raises no error, because otherwise one odd event would make every
 * later read fail, or keep other events from being sent.
 *
 * A path that a role uses only for itself may take any amount of time.  One
 * that others have to apply must not be costly, that is, its time and memory must
 * be limited by the size of the document.  Such a path has at most 100 items and
 * 4,096 bytes; it has no .**, like_regex or keyvalue(); it has no lists of
 * subscripts, because [0,0][0,0] finds the same item four times; it has no $ within
 * a filter, because that would be evaluated again for every item; it does not
 * calculate, because every sum is kept until the path has been applied, and that of
 * 1 and 1e130000 has 65 kB; its numbers are such that an envelope may have; and each
 * comparison has a literal on one side.
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
	bool		is_predicate;	/* it yields true, false or unknown */
	bool		has_variable;	/* it cannot be used, because nothing gives
								 * "$x" a value */
	bool		is_costly;		/* it may take much longer than reading the
								 * document */
	int			nitems;			/* number of items that path_parse has examined */
	int			nfilters;		/* number of filters around the current item */
} DocumentPath;

/*
 * Reads a path, palloc'd, that somebody has written.  Returns NULL, or why it cannot be
 * used: a mistake in its syntax, a literal argument that one of its methods does not
 * take, such as a format of datetime(), or a variable.  The reason continues a
 * sentence that begins with the path, and has no period.
 */
extern const char *path_read(Slice text, DocumentPath *path);

/*
 * The same for a path that was read before.  Raises 42601 and other errors
 * where path_read returns a reason.
 */
extern DocumentPath path_parse(Slice text);

extern bool path_fits(const DocumentPath *path, Jsonb *document);

/* a member of a document, reached by keys, equals this string */
typedef struct PathEquality
{
	SliceList	keys;			/* two for "$.a.b" */
	Slice		text;
} PathEquality;

/*
 * If the path consists of such comparisons, or some of its conditions do,
 * returns a List of PathEquality *, palloc'd.  The path fits no document in
 * which none of them holds.  Returns NIL if the path must be applied to find
 * out anything.
 */
extern List *path_list_equalities(const DocumentPath *path);

/* what is at the place to which the keys of an equality lead */
typedef enum PathMember
{
	PATH_MEMBER_TEXT,
	PATH_MEMBER_OTHER,			/* nothing, or something that cannot equal a
								 * text */
	PATH_MEMBER_UNCLEAR			/* an array is on the way, so the path must be
								 * applied */
} PathMember;

extern PathMember path_member(const SliceList *keys, Jsonb *document, Slice *text);

/*
 * Returns the first item that the path finds, palloc'd, or an absent slice if
 * it is not a string or if nothing is found.
 */
extern Slice path_first_text(const DocumentPath *path, Jsonb *document);

/*
 * Returns what the path finds, in its order, as a List of at most "most" Jsonb
 * *.
 */
extern List *path_list(const DocumentPath *path, Jsonb *document, int most);

#endif							/* CLUTCH_PATH_H */
