/*-------------------------------------------------------------------------
 *
 * collation.h
 *	  A collation that knows the letters of all scripts.
 *
 * In a database with the locale C, the default collation knows only the
 * letters of ASCII.  With it, what counts as a letter, or as the same letter
 * in another case, would depend on how the database was created.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_COLLATION_H
#define CLUTCH_COLLATION_H

/*
 * Returns the Unicode collation, or the default one if the server was built
 * without it.
 */
extern Oid	collation_of_letters(void);

#endif							/* CLUTCH_COLLATION_H */
