/*-------------------------------------------------------------------------
 *
 * credential_part.h
 *	  Private declarations of credential.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CREDENTIAL_PART_H
#define CLUTCH_CREDENTIAL_PART_H

#include "adapters/credential.h"

/* --------------------------------------------------------- credential_form.c */

/*
 * Is it the name of a credential, in any spelling?  "text" is the value of that
 * name, absent if that is not a text: some names are those of credentials only
 * if the value is one, or has the form of a token.
 */
extern bool credential_is_name(Slice key, Slice text);

/*
 * Is it three or five parts of base64, the first of which decodes to a text
 * beginning with {"?
 */
extern bool credential_is_jwt(Slice text);

/* Does the text as a whole look like a credential? */
extern bool credential_is_value(Slice text);

/* -------------------------------------------------------------- credential.c */

/*
 * The current place of the search: an item of a container, which may be in
 * JSON that is written as a text.  The place of that text is then the parent
 * of the outermost container in it.  Paths are built only for what is found.
 */
typedef struct CredentialPlace
{
	const struct CredentialPlace *up;
	int			bytes;			/* approximate length of the path of the
								 * container */
	int			container;		/* number of the container, which no other
								 * container has */
	int			index;			/* index of the item before anything was
								 * removed */
	Slice		key;			/* key of the item; absent if the container is
								 * an array */
	bool		is_raw;			/* the key may contain JSON escapes */
} CredentialPlace;

/*
 * The credentials found so far.  To forget what is found from some point on,
 * keep a copy of this and of the number of paths.
 */
typedef struct CredentialList
{
	Json	   *paths;			/* array of texts, or NULL if nothing has been
								 * found yet */
	int			containers;		/* number of containers that have been searched */
	/* the last place that was listed on behalf of credentials below it */
	int			far_container;
	int			far_index;
} CredentialList;

/*
 * A credential in a container with a longer path is not listed by its own
 * path.
 */
#define MOST_PATH_BYTES	1000

/*
 * Initializes the place for a container.  "up" is where the container is, or
 * NULL if it is the outermost one of the document.
 */
extern void credential_enter(CredentialPlace *place, const CredentialPlace *up, CredentialList *list);

/*
 * Lists the path of a credential, or that of the document if the place is
 * NULL.
 */
extern void credential_note(const CredentialPlace *place, CredentialList *list);

/* ------------------------------------------------------ credential_reader.c */

typedef enum CredentialToken
{
	TOKEN_OPEN,					/* start of an item that is a container */
	TOKEN_TEXT,					/* an item that is a text */
	TOKEN_NUMBER,				/* an item that is a number */
	TOKEN_WORD,					/* an item that is true, false, null, NaN or
								 * Infinity */
	TOKEN_CLOSE,				/* end of a container */
	TOKEN_END,					/* end of the JSON */
	TOKEN_FAULT					/* it is not JSON */
} CredentialToken;

#define FEW_LEVELS	32

/*
 * A reader that goes through JSON in place, one token at a time and without
 * recursion.  In addition to what RFC 8259 defines, it accepts what Python
 * writes or can be told to read: NaN, Infinity, -Infinity, and control
 * characters in strings.
 */
typedef struct CredentialReader
{
	const char *s;				/* the rest, which has not been read yet */
	const char *end;
	char	   *levels;			/* for each open container, the character that
								 * closes it, and LEVEL_KEPT */
	int			depth;			/* number of open containers */
	int			room;
	char		few[FEW_LEVELS];
	bool		is_first;		/* nothing has been read yet in the container,
								 * or at all */

	/* the item that was read last: */
	const char *comma;			/* the comma before it, or NULL if it is the
								 * first of its container */
	const char *from;			/* where it, or its key, begins */
	Slice		key;			/* between its quotes; absent if it is not a
								 * member of an object */
	Slice		text;			/* between its quotes, if it is a text */
} CredentialReader;

/* flag in levels: an item of this open container has been kept */
#define LEVEL_KEPT	((char) 0x80)

/*
 * Begins to read the JSON, which must outlive the reader; read tokens until
 * TOKEN_END or TOKEN_FAULT; and free what the reader has allocated.
 */
extern void credential_read(CredentialReader *reader, Slice json);
extern CredentialToken credential_next(CredentialReader *reader);
extern void credential_end(CredentialReader *reader);

/*
 * Returns the text that is written between quotes as "raw", which is a
 * palloc'd copy if raw has escapes.
 */
extern Slice credential_unescaped(Slice raw);

/*
 * Advances by one character of "raw", and returns the number of bytes that the
 * character has without escapes.
 */
extern int	credential_step(const char **s, const char *end, char *plain);

/* -------------------------------------------------------- credential_text.c */

/*
 * Removes the credentials from a text that is JSON, and lists them.  If the
 * text as a whole is a credential, returns true, and neither changes nor lists
 * anything.
 */
extern bool credential_clean(Slice *text, const CredentialPlace *place, CredentialList *list);

#endif							/* CLUTCH_CREDENTIAL_PART_H */
