/*-------------------------------------------------------------------------
 *
 * artifact_part.h
 *	  Private declarations of artifact.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ARTIFACT_PART_H
#define CLUTCH_ARTIFACT_PART_H

/* columns of clutch.artifact */
enum
{
	Anum_artifact_digest = 1,
	Anum_artifact_media_type,
	Anum_artifact_bytes,
	Anum_artifact_content_no,
	Anum_artifact_uploaded_at,
	Natts_artifact = Anum_artifact_uploaded_at
};

#endif							/* CLUTCH_ARTIFACT_PART_H */
