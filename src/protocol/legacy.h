/*-------------------------------------------------------------------------
 *
 * legacy.h
 *	  Message types of before the protocol, translated (spec Appendix A).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LEGACY_H
#define CLUTCH_LEGACY_H

#include "base/text.h"
#include "utils/jsonb.h"

/* is this task in an agent's hands? */
typedef bool (*LegacyTaskInWork) (Slice task_id);

/*
 * The envelope with a type of the protocol, palloc'd; itself if it has one
 * already.  Raises for a type that is neither.  Nothing else is judged.
 */
extern Jsonb *legacy_translate(Jsonb *doc, LegacyTaskInWork in_work);

#endif							/* CLUTCH_LEGACY_H */
