/*-------------------------------------------------------------------------
 *
 * credential_part.h
 *	  For the files of credential alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CREDENTIAL_PART_H
#define CLUTCH_CREDENTIAL_PART_H

#include "adapters/credential.h"

/* --------------------------------------------------------- credential_form.c */

/* Is it the name of a credential, in any spelling? */
extern bool credential_is_name(Slice key);

/* Does the text as a whole look like a credential? */
extern bool credential_is_value(Slice text);

/* -------------------------------------------------------------- credential.c */

/*
 * Where the search is: an item of a container, which may be that of a JSON that is written as a
 * text.  The text is the place above the outermost container in it.  Paths are made only of
 * what is found.
 */
typedef struct CredentialPlace
{
	const struct CredentialPlace *up;
	int			bytes;			/* approximate length of the container's path */
	int			container;		/* its number, which no other container has */
	int			index;			/* of the item before anything was removed */
	Slice		key;			/* of the item; absent: the container is an array */
	bool		is_raw;			/* the key may have escapes of JSON */
} CredentialPlace;

/* What was found.  A copy of it, and the number of paths, say how to forget what is found from then on. */
typedef struct CredentialList
{
	Json	   *paths;			/* array of texts; NULL: nothing has been found yet */
	int			containers;		/* that have been searched */
	/* the last place that was listed for credentials further below */
	int			far_container;
	int			far_index;
} CredentialList;

/* A credential in a container with a longer path is not listed by its own path. */
#define MOST_PATH_BYTES	1000

/* Begins with a container at that place; NULL: it is the outermost one of the document. */
extern void credential_enter(CredentialPlace *place, const CredentialPlace *up, CredentialList *list);

/* Lists the path of a credential; that of the document if the place is NULL. */
extern void credential_note(const CredentialPlace *place, CredentialList *list);

/* ------------------------------------------------------ credential_reader.c */

typedef enum CredentialToken
{
	TOKEN_OPEN,					/* an item that is a container begins */
	TOKEN_TEXT,					/* an item that is a text */
	TOKEN_NUMBER,				/* an item that is a number */
	TOKEN_WORD,					/* an item that is true, false, null, NaN or Infinity */
	TOKEN_CLOSE,				/* a container ends */
	TOKEN_END,					/* the JSON ends */
	TOKEN_FAULT					/* it is no JSON */
} CredentialToken;

#define FEW_LEVELS	32

/*
 * Reads JSON in place, one token after the other, however deep it is.  Beside what RFC 8259
 * defines, it accepts what Python writes or can be told to read: NaN, Infinity, -Infinity, and
 * control characters in texts.
 */
typedef struct CredentialReader
{
	const char *s;				/* what is still to be read */
	const char *end;
	char	   *levels;			/* how each open container ends; and LEVEL_KEPT */
	int			depth;			/* number of open containers */
	int			room;
	char		few[FEW_LEVELS];
	bool		is_first;		/* nothing has been read yet in the container, or at all */

	/* the item that was read last */
	const char *comma;			/* before it; NULL: it is the first of its container */
	const char *from;			/* where it, or its key, begins */
	Slice		key;			/* between its quotes; absent: it is not a member of an object */
	Slice		text;			/* of a text, between its quotes */
} CredentialReader;

/* An item of this open container has been kept. */
#define LEVEL_KEPT	((char) 0x80)

extern void credential_read(CredentialReader *reader, Slice json);
extern CredentialToken credential_next(CredentialReader *reader);
extern void credential_end(CredentialReader *reader);

/* The JSON that a text consists of, blanks and a fence of ``` around it aside; absent: it is none. */
extern Slice credential_json_of(Slice text);

/* The text that is written between quotes as "raw"; a palloc'd copy if raw has escapes. */
extern Slice credential_unescaped(Slice raw);

/* Moves along by one character of "raw", and returns the number of bytes that it has without escapes. */
extern int	credential_step(const char **s, const char *end, char *plain);

/* -------------------------------------------------------- credential_text.c */

/*
 * Removes the credentials from a text that is JSON, and lists them.  Returns true if the text as
 * a whole is a credential; then it is not changed, and nothing is listed.
 */
extern bool credential_clean(Slice *text, const CredentialPlace *place, CredentialList *list);

#endif							/* CLUTCH_CREDENTIAL_PART_H */
