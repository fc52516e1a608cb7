/*-------------------------------------------------------------------------
 *
 * artifact_fn.h
 *	  What functions that take documents do with artifacts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ARTIFACT_FN_H
#define CLUTCH_ARTIFACT_FN_H

#include "store/artifact.h"

/* Is it type/subtype? */
extern bool artifact_fn_is_media_type(Slice type);

/*
 * Keeps the content for the role, as clutch.put_artifact does; returns its digest, palloc'd.
 * Raises TOO_LARGE and QUOTA_EXCEEDED for that argument.
 */
extern Slice artifact_fn_put(const char *content, Size n, Slice media_type, const char *argument);

/* The whole content, palloc'd, of artifact->bytes.  Raises TOO_LARGE if a value cannot hold it. */
extern char *artifact_fn_content(const Artifact *artifact);

#endif							/* CLUTCH_ARTIFACT_FN_H */
