/*-------------------------------------------------------------------------
 *
 * secret.h
 *	  A random number that only this database knows.
 *
 * IDs are derived from it, so that this database can compute an ID again while
 * nobody else can predict one.  It is a row of clutch.secret, which is made
 * when the extension is created.  The row is dumped, so that a restored
 * database derives the same IDs; if there are several rows after that, the
 * oldest one counts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SECRET_H
#define CLUTCH_SECRET_H

#include "base/text.h"

/*
 * Returns the bytes, which stay in memory until the transaction ends.  The row
 * is read once per transaction.  Raises 55000 if somebody has deleted it.
 */
extern Slice secret_get(void);

#endif							/* CLUTCH_SECRET_H */
