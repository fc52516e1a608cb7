/*-------------------------------------------------------------------------
 *
 * import.h
 *	  Importing a run that was exported from another database (clutch.import).
 *
 * The lines of an export are JSON objects.  The first one says which run it is
 * and how many events follow; each of the others is an event of the log, in
 * the order of seq.  Events get a new seq and the transaction of the import,
 * but keep what they got where they were admitted: received_at, attempt, late
 * and scope.  They are not judged, routed or announced, but the tasks of the
 * run are derived from them, as in a rebuild.
 *
 * Only a run whose tasks are all over can be imported, so that no task is
 * worked on in two databases.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_IMPORT_H
#define CLUTCH_IMPORT_H

#include "base/text.h"

/*
 * Imports the lines.  Returns the number of events, or 0 if the log has all of
 * them already.  The caller must be the owner of the log.  Raises 22023 or
 * KL001 for a line that is not valid, and KL004 if the run or a task conflicts
 * with what is here, or is not over.
 */
extern int64 import_lines(const Slice *lines, int n);

#endif							/* CLUTCH_IMPORT_H */
