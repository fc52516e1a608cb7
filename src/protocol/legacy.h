/*-------------------------------------------------------------------------
 *
 * legacy.h
 *	  Translation of the message types that were used before this protocol
 *	  (spec Appendix A).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LEGACY_H
#define CLUTCH_LEGACY_H

#include "base/text.h"
#include "utils/jsonb.h"

/* Does an agent have this task at present? */
typedef bool (*LegacyTaskInWork) (Slice task_id);

/* Is this a legacy message type? */
extern bool legacy_type_known(Slice type);

/*
 * Returns the envelope with a type of the protocol, palloc'd, or the envelope
 * itself if it already has one.  Raises an error for any other type.  Only the
 * type is checked.
 */
extern Jsonb *legacy_translate(Jsonb *doc, LegacyTaskInWork in_work);

#endif							/* CLUTCH_LEGACY_H */
