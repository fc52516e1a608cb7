/*-------------------------------------------------------------------------
 *
 * secret.h
 *	  A random number that only this database knows.
 *
 * IDs that are derived from it can be computed again by the database, and in
 * advance by nobody else.  It is a row of clutch.secret, which is made when the
 * extension is created, and is dumped, so that a restored database derives the same
 * IDs: of several rows the oldest counts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SECRET_H
#define CLUTCH_SECRET_H

#include "base/text.h"

/* The bytes, palloc'd.  Raises 55000 if somebody has deleted the row. */
extern Slice secret_get(void);

#endif							/* CLUTCH_SECRET_H */
