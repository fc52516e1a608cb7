/*-------------------------------------------------------------------------
 *
 * artifact_fn.c
 *	  Uploading and reading artifacts (spec 8.2).
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/artifact_fn.h"
#include "api/result.h"
#include "base/crypto.h"
#include "flow/attachment.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "settings.h"
#include "store/artifact.h"
#include "trust/principal.h"
#include "trust/quota.h"
#include "trust/traffic.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(clutch_put_artifact);
PG_FUNCTION_INFO_V1(clutch_begin_artifact);
PG_FUNCTION_INFO_V1(clutch_append_artifact);
PG_FUNCTION_INFO_V1(clutch_finish_artifact);
PG_FUNCTION_INFO_V1(clutch_get_artifact);

/* ---------------------------------------------------------------- arguments */

#define MOST_MEDIA_TYPE		255

bool
artifact_fn_is_media_type(Slice type)
{
	const char *slash = memchr(type.s, '/', type.len);
	int			i;

	for (i = 0; i < type.len; i++)
		if ((unsigned char) type.s[i] < ' ' || (unsigned char) type.s[i] > '~')
			return false;
	return type.len <= MOST_MEDIA_TYPE && slash != NULL && slash > type.s && slash < type.s + type.len - 1;
}

static Slice
argument_media_type(FunctionCallInfo fcinfo, int n)
{
	Slice		type = argument_text(fcinfo, n, "media_type");

	if (!artifact_fn_is_media_type(type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("media_type", "WRONG_FORMAT"),
				 errmsg("invalid media type %s", place_quote(type)),
				 errhint("A media type has the form type/subtype, such as \"text/plain\" or \"application/pdf\".")));
	return type;
}

static int64
argument_place(FunctionCallInfo fcinfo, int n, const char *name, int64 otherwise)
{
	int64		value = argument_is_null(fcinfo, n) ? otherwise : PG_GETARG_INT64(n);

	if (value < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem(name, "NUMBER_OUT_OF_RANGE"),
				 errmsg("argument \"%s\" must not be negative", name)));
	return value;
}

static void
require_size(int64 bytes, const char *argument)
{
	if (bytes > (int64) clutch_max_artifact_size * 1024 * 1024)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errproblem(argument, "TOO_LARGE"),
				 errmsg("the artifact is larger than %d MB (clutch.max_artifact_size)", clutch_max_artifact_size),
				 errhint("Split the content, or ask a superuser to raise the setting.")));
}

/*
 * Checks the quota.  This must be called after the write, so that if two
 * sessions write at once, the later one counts both.
 */
static void
require_quota(int64 added, const char *argument)
{
	const QuotaLimits *limits = quota_limits(QUOTA_BIT(QUOTA_ARTIFACT_BYTES));

	if (limits != NULL)
		quota_check(limits, QUOTA_ARTIFACT_BYTES, artifact_bytes_of(principal_role(), ROWS_DIRTY),
					added, 0, argument);
}

/* ------------------------------------------------------------------- upload */

static Datum
reference_datum(Slice digest)
{
	return PointerGetDatum(slice_to_text(artifact_reference(digest)));
}

Slice
artifact_fn_put(const char *content, Size n, Slice media_type, const char *argument)
{
	Oid			role = principal_role();
	uint8		digest[CRYPTO_HASH_BYTES];
	Artifact	artifact = {.media_type = media_type, .bytes = (int64) n};
	bool		is_owned;

	require_size((int64) n, argument);
	traffic_add_command(true);
	crypto_sha256(content, n, digest);
	artifact.digest = crypto_encode_hex(digest, CRYPTO_HASH_BYTES);
	artifact.content_no = artifact_content_begin();
	/* do not write content that is already there a second time */
	if (!artifact_hold(artifact.digest))
		artifact_content_append(artifact.content_no, 0, content, n);
	is_owned = artifact_is_owned(artifact.digest, role, ROWS_LATEST);
	artifact_keep(&artifact, role);
	if (!is_owned)
		require_quota(artifact.bytes, argument);
	return artifact.digest;
}

Datum
clutch_put_artifact(PG_FUNCTION_ARGS)
{
	bytea	   *content = argument_bytes(fcinfo, 0, "content");
	Slice		media_type = argument_media_type(fcinfo, 1);

	PG_RETURN_DATUM(reference_datum(artifact_fn_put(VARDATA_ANY(content), VARSIZE_ANY_EXHDR(content), media_type, "content")));
}

Datum
clutch_begin_artifact(PG_FUNCTION_ARGS)
{
	Slice		media_type = argument_media_type(fcinfo, 0);

	traffic_add_command(true);
	PG_RETURN_INT64(artifact_upload_begin(media_type, principal_role()));
}

/*
 * Locks the upload.  That of another role is treated as if it did not exist.
 */
static ArtifactUpload
argument_upload(FunctionCallInfo fcinfo, int n)
{
	int64		content_no = argument_is_null(fcinfo, n) ? 0 : PG_GETARG_INT64(n);
	ArtifactUpload upload;

	if (!artifact_upload_lock(content_no, &upload) || upload.owner != principal_role())
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errproblem("upload", "UPLOAD_NOT_FOUND"),
				 errmsg("upload " INT64_FORMAT " does not exist", content_no),
				 errhint("Pass the number that clutch.begin_artifact returned. An upload ends with clutch.finish_artifact, and is removed when it is older than clutch.artifact_grace.")));
	return upload;
}

Datum
clutch_append_artifact(PG_FUNCTION_ARGS)
{
	bytea	   *content = argument_bytes(fcinfo, 1, "content");
	ArtifactUpload upload = argument_upload(fcinfo, 0);

	require_size(upload.bytes + (int64) VARSIZE_ANY_EXHDR(content), "content");
	/* count each piece, however small, because it is a row */
	traffic_add_command(true);
	artifact_upload_append(&upload, VARDATA_ANY(content), VARSIZE_ANY_EXHDR(content));
	require_quota((int64) VARSIZE_ANY_EXHDR(content), "content");
	PG_RETURN_INT64(upload.bytes);
}

Datum
clutch_finish_artifact(PG_FUNCTION_ARGS)
{
	ArtifactUpload upload = argument_upload(fcinfo, 0);
	Artifact	artifact = artifact_upload_finish(&upload);

	artifact_keep(&artifact, upload.owner);
	PG_RETURN_DATUM(reference_datum(artifact.digest));
}

/* -------------------------------------------------------------------- reading */

static void
refuse_reference(Slice reference)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem("ref", "WRONG_FORMAT"),
			 errmsg("invalid reference %s", place_quote(reference)),
			 errhint("A reference to an artifact of this database is \"artifact:sha256:\" and 64 hexadecimal digits in lower case.")));
}

void
artifact_fn_not_found(Slice reference, const char *argument)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errproblem(argument, "ARTIFACT_NOT_FOUND"),
			 errmsg("artifact \"%.*s\" does not exist", reference.len, reference.s),
			 errhint("It may have been removed, or belong to runs that your role may not see.")));
}

/*
 * Returns the artifact.  If the role may not read it, the error is the same as
 * if it did not exist.
 */
static Artifact
argument_artifact(FunctionCallInfo fcinfo, int n)
{
	Slice		reference = argument_text(fcinfo, n, "ref");
	Slice		digest = artifact_digest_of(reference);
	Artifact	artifact;

	if (!slice_present(digest))
		refuse_reference(reference);
	if (!artifact_find(digest, ROWS_ACTIVE, &artifact) ||
		!attachment_may_read(digest, ROWS_ACTIVE))
		artifact_fn_not_found(reference, "ref");
	return artifact;
}

/* the part of an artifact that is still to be copied */
typedef struct Part
{
	int64		from;
	int64		to;
	char	   *bytes;			/* where the byte "from" is to be */
} Part;

/* Stops at the end of the part, or where a chunk is missing. */
static bool
copy_chunk(int64 first_byte, const char *bytes, int n, void *arg)
{
	Part	   *part = arg;
	int64		to = Min(first_byte + n, part->to);

	if (first_byte > part->from)
		return false;
	if (part->from < to)
	{
		memcpy(part->bytes, bytes + (part->from - first_byte), to - part->from);
		part->bytes += to - part->from;
		part->from = to;
	}
	return part->from < part->to;
}

/*
 * Copies the part, or raises an error if not all of its bytes are there.
 * Between two snapshots, a tick may have removed the artifact.
 */
static void
copy_part(const Artifact *artifact, Part part, RowSnapshot which, const char *argument)
{
	Artifact	now;

	if (part.from < part.to)
		artifact_content_visit(artifact->content_no, part.from, which, copy_chunk, &part);
	if (part.from == part.to)
		return;
	if (!artifact_find(artifact->digest, which, &now) || now.content_no != artifact->content_no)
		artifact_fn_not_found(artifact_reference(artifact->digest), argument);
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errproblem(argument, "ARTIFACT_INCOMPLETE"),
			 errmsg("artifact \"artifact:sha256:%.*s\" lacks the chunk with byte " INT64_FORMAT,
					artifact->digest.len, artifact->digest.s, part.from),
			 errhint("Restore the rows of clutch.artifact_chunk with content_no " INT64_FORMAT " from a backup that has them.",
					 artifact->content_no)));
}

char *
artifact_fn_content(const Artifact *artifact)
{
	Part		part = {.to = artifact->bytes};

	/* as base64, it must fit into a string of a jsonb */
	if (artifact->bytes > JENTRY_OFFLENMASK / 4 * 3)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errproblem("envelope", "TOO_LARGE"),
				 errmsg("a document cannot have " INT64_FORMAT " bytes of an artifact", artifact->bytes),
				 errhint("Read the artifact by itself, with clutch.get_artifact.")));
	part.bytes = palloc(artifact->bytes + 1);
	copy_part(artifact, part, ROWS_LATEST, "envelope");
	return part.bytes;
}

Datum
clutch_get_artifact(PG_FUNCTION_ARGS)
{
	Artifact	artifact = argument_artifact(fcinfo, 0);
	Part		part = {.from = Min(argument_place(fcinfo, 1, "from_byte", 0), artifact.bytes)};
	int64		n = Min(argument_place(fcinfo, 2, "bytes", PG_INT64_MAX), artifact.bytes - part.from);
	bytea	   *result;

	if (n > (int64) MaxAllocSize - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errproblem("bytes", "TOO_LARGE"),
				 errmsg("a value cannot have " INT64_FORMAT " bytes", n),
				 errhint("Read the artifact in ranges: pass from_byte and bytes.")));
	result = palloc(VARHDRSZ + n);
	SET_VARSIZE(result, VARHDRSZ + n);
	part.to = part.from + n;
	part.bytes = VARDATA(result);
	copy_part(&artifact, part, ROWS_ACTIVE, "ref");
	PG_RETURN_BYTEA_P(result);
}
