/*-------------------------------------------------------------------------
 *
 * blob.c
 *	  Turning binary content of documents into artifacts and back.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/adapter.h"
#include "api/artifact_fn.h"
#include "api/blob.h"
#include "base/crypto.h"
#include "flow/attachment.h"
#include "miscadmin.h"

/* ------------------------------------------------------------------ keeping */

int64
blob_from_bytes(const Json *context)
{
	int64		from = 0;
	const Json *member = adapter_member(context, "/artifacts_from");

	if (member != NULL && (!json_get_int(member, "", &from) || from < BLOB_LEAST_BYTES))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("context", "WRONG_TYPE"),
				 errmsg("invalid member \"artifacts_from\" of the context: must be a whole number of bytes, from %d on",
						BLOB_LEAST_BYTES)));
	return from;
}

typedef struct BlobSearch
{
	Json	   *document;		/* the root of the tree */
	int64		from_bytes;
	List	   *references;		/* Slice * */
} BlobSearch;

static bool
has_text(const Json *value, Slice text)
{
	check_stack_depth();
	if (value->kind == JSON_TEXT)
		return slice_equal(value->text, text);
	if (value->kind == JSON_ARRAY || value->kind == JSON_OBJECT)
		for (int i = 0; i < value->n; i++)
			if (has_text(value->items[i], text))
				return true;
	return false;
}

/*
 * Returns the bytes, palloc'd, or NULL if encoding them again would not give
 * the same text.
 */
static char *
decode_exactly(Slice text, int *n)
{
	char	   *bytes;
	char	   *again;

	if (text.len % 4 != 0)
		return NULL;
	bytes = palloc(text.len / 4 * 3 + 1);
	*n = crypto_decode_base64(text, bytes, text.len / 4 * 3);
	if (*n < 0)
	{
		pfree(bytes);
		return NULL;
	}
	again = crypto_encode_base64(bytes, *n);
	if (!slice_equal(slice_of_cstring(again), text))
		bytes = NULL;
	pfree(again);
	return bytes;
}

/*
 * Returns the media type of a text, as named by a member of the enclosing
 * object.
 */
static Slice
media_type_in(const Json *parent)
{
	static const char *const members[] = {"/mimeType", "/mediaType", "/datacontenttype", "/mime_type", "/media_type", NULL};

	for (const char *const *member = members; json_is(parent, JSON_OBJECT) && *member != NULL; member++)
	{
		Slice		type = json_get_text(parent, *member);

		if (slice_present(type) && artifact_fn_is_media_type(type))
			return type;
	}
	return SLICE_OF("application/octet-stream");
}

/*
 * Makes an artifact of the bytes of a text, and replaces the text by a
 * reference to it.  Does nothing if the text is not exact base64, if there are
 * BLOB_MOST artifacts already, or if the document itself contains the
 * reference.
 */
static void
keep_text(BlobSearch *search, Json *value, const Json *parent)
{
	uint8		hash[CRYPTO_HASH_BYTES];
	int			n;
	char	   *bytes = decode_exactly(value->text, &n);
	Slice		reference;
	Slice	   *kept;

	if (bytes == NULL)
		return;
	crypto_sha256(bytes, n, hash);
	reference = artifact_reference(crypto_encode_hex(hash, CRYPTO_HASH_BYTES));
	if (!slice_list_has(search->references, reference))
	{
		if (list_length(search->references) == BLOB_MOST || has_text(search->document, reference))
			return;
		(void) artifact_fn_put(bytes, n, media_type_in(parent), "raw");
		kept = palloc(sizeof(Slice));
		*kept = reference;
		search->references = lappend(search->references, kept);
	}
	value->text = reference;
	pfree(bytes);
}

static void
keep_in(BlobSearch *search, Json *value, const Json *parent)
{
	check_stack_depth();
	if (value->kind == JSON_TEXT && value->text.len >= search->from_bytes)
		keep_text(search, value, parent);
	else if (value->kind == JSON_ARRAY || value->kind == JSON_OBJECT)
		for (int i = 0; i < value->n; i++)
			keep_in(search, value->items[i], value);
}

List *
blob_keep(Json *document, int64 from_bytes)
{
	BlobSearch	search = {document, from_bytes, NIL};

	keep_in(&search, document, NULL);
	return search.references;
}

/* ------------------------------------------------------------------ marking */

void
blob_mark(Json *envelope, const char *adapter, const List *references)
{
	Json	   *notes = json_new_array();
	Json	   *attachments = json_get_kind(envelope, "/attachments", JSON_ARRAY);
	ListCell   *lc;

	foreach(lc, references)
	{
		Slice		reference = *(Slice *) lfirst(lc);

		if (!has_text(envelope, reference))
			continue;
		json_add(notes, json_of_text(reference));
		if (attachments == NULL)
		{
			attachments = json_new_array();
			json_put(envelope, "/attachments", attachments);
		}
		json_add(attachments, adapter_attachment(reference));
	}
	if (notes->n > 0)
		json_put(envelope, psprintf("/meta/%s/blobs", adapter), notes);
}

/*
 * Removes the attachment that blob_mark has added at the end, unless it has
 * been changed.
 */
static void
take_attachment(Json *envelope, Slice reference)
{
	Json	   *attachments = json_get_kind(envelope, "/attachments", JSON_ARRAY);

	for (int i = attachments == NULL ? -1 : attachments->n - 1; i >= 0; i--)
	{
		if (!json_equal(attachments->items[i], adapter_attachment(reference)))
			continue;
		json_take_at(attachments, i);
		break;
	}
	if (attachments != NULL && attachments->n == 0)
		(void) json_take(envelope, "/attachments");
}

static void
take_if_empty(Json *envelope, const char *path)
{
	const Json *object = json_get_kind(envelope, path, JSON_OBJECT);

	if (object != NULL && object->n == 0)
		(void) json_take(envelope, path);
}

/* Did blob_mark write these notes?  Senders may have a member of that name for something else. */
static bool
are_references(const Json *notes)
{
	for (int i = 0; i < notes->n; i++)
		if (notes->items[i]->kind != JSON_TEXT || !slice_present(artifact_digest_of(notes->items[i]->text)))
			return false;
	return notes->n > 0;
}

List *
blob_unmark(Json *envelope, const char *adapter)
{
	char	   *path = psprintf("/meta/%s/blobs", adapter);
	const Json *notes = json_get_kind(envelope, path, JSON_ARRAY);
	List	   *references = NIL;

	if (notes == NULL || !are_references(notes))
		return NIL;
	notes = json_take(envelope, path);
	/*
	 * without other notes, neither of these objects was there before blob_mark
	 */
	take_if_empty(envelope, psprintf("/meta/%s", adapter));
	take_if_empty(envelope, "/meta");
	for (int i = 0; i < notes->n && i < BLOB_MOST; i++)
	{
		Slice	   *reference = palloc(sizeof(Slice));

		*reference = notes->items[i]->text;
		references = lappend(references, reference);
		take_attachment(envelope, *reference);
	}
	return references;
}

/* ---------------------------------------------------------------- restoring */

static bool
is_of_event(int64 seq, Slice run_id, void *arg)
{
	return seq == *(int64 *) arg;
}

/*
 * Raises an error unless the role may read the artifact, or the event with
 * this seq, which may be 0 for none, attaches it.
 */
static void
find_readable(Slice reference, int64 seq, Artifact *artifact)
{
	Slice		digest = artifact_digest_of(reference);

	if (!artifact_find(digest, ROWS_LATEST, artifact) ||
		!(attachment_may_read(digest, ROWS_LATEST) ||
		  (seq != 0 && artifact_use_any(digest, ROWS_LATEST, is_of_event, &seq))))
		artifact_fn_not_found(reference, "envelope");
}

static int
count_text(const Json *value, Slice text)
{
	int			count = 0;

	check_stack_depth();
	if (value->kind == JSON_TEXT)
		return slice_equal(value->text, text) ? 1 : 0;
	if (value->kind == JSON_ARRAY || value->kind == JSON_OBJECT)
		for (int i = 0; i < value->n; i++)
			count += count_text(value->items[i], text);
	return count;
}

static int64
base64_bytes(int64 bytes)
{
	return (bytes + 2) / 3 * 4;
}

static void
put_text(Json *value, Slice reference, Slice text)
{
	check_stack_depth();
	if (value->kind == JSON_TEXT && slice_equal(value->text, reference))
		value->text = text;
	else if (value->kind == JSON_ARRAY || value->kind == JSON_OBJECT)
		for (int i = 0; i < value->n; i++)
			put_text(value->items[i], reference, text);
}

void
blob_restore(Json *document, const List *references, int64 seq, int64 most)
{
	int64		bytes = 0;
	ListCell   *lc;

	foreach(lc, references)
	{
		Slice		reference = *(Slice *) lfirst(lc);
		int			mentions = count_text(document, reference);
		Artifact	artifact;

		/* somebody may have removed the reference from the envelope */
		if (mentions == 0)
			continue;
		find_readable(reference, seq, &artifact);
		bytes += mentions * base64_bytes(artifact.bytes);
		if (bytes > most)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errproblem("envelope", "TOO_LARGE"),
					 errmsg("the document would have more than " INT64_FORMAT " bytes of artifacts", most),
					 errhint("Read the artifacts by themselves, with clutch.get_artifact; for what is sent to an endpoint, the limit is the setting clutch.max_body_size.")));
		put_text(document, reference,
				 slice_of_cstring(crypto_encode_base64(artifact_fn_content(&artifact), artifact.bytes)));
	}
}
