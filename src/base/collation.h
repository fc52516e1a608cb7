/*-------------------------------------------------------------------------
 *
 * collation.h
 *	  A collation that knows the letters of all scripts.
 *
 * In a database with the locale C, the default collation knows those of ASCII only, so what
 * is a letter, or the same letter in another case, would depend on how the database was
 * created.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_COLLATION_H
#define CLUTCH_COLLATION_H

/*
 * Returns the collation of Unicode; the default one if the server has been
 * built without it.
 */
extern Oid	collation_of_letters(void);

#endif							/* CLUTCH_COLLATION_H */
