/*-------------------------------------------------------------------------
 *
 * translation_id.c
 *	  The IDs that are derived for the envelopes of a document.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/translation_part.h"

#include "protocol/identifier.h"
#include "utils/fmgrprotos.h"

/* stands before a number; no text contains it, so no number is taken for an ID of ours */
#define NUMBER_MARK	'\0'

Slice
translation_native_bytes(const Json *native)
{
	StringInfoData number;

	if (native->kind == JSON_TEXT)
		return native->text;
	if (native->kind != JSON_NUMBER)
		return SLICE_NONE;
	initStringInfo(&number);
	appendStringInfoChar(&number, NUMBER_MARK);
	appendStringInfoString(&number, DatumGetCString(DirectFunctionCall1(numeric_out, DirectFunctionCall1(numeric_trim_scale, NumericGetDatum(native->number)))));
	return (Slice) {number.data, number.len};
}

/*
 * Returns the bytes that are hashed for a native identifier.  A number is hashed with "#" before
 * it, as in all IDs that are in logs, so a text that begins with "#" gets another one.
 */
static Slice
translation_hashed(Slice native)
{
	StringInfoData hashed;
	bool		is_number = native.len > 0 && native.s[0] == NUMBER_MARK;

	if (!is_number && (native.len == 0 || native.s[0] != '#'))
		return native;
	initStringInfo(&hashed);
	appendStringInfoChar(&hashed, '#');
	appendBinaryStringInfo(&hashed, native.s + (is_number ? 1 : 0), native.len - (is_number ? 1 : 0));
	return (Slice) {hashed.data, hashed.len};
}

Slice
translation_native(const Translation *t, const char *field)
{
	const Json *native = json_member(t->natives, slice_of_cstring(field));

	return native != NULL ? translation_native_bytes(native) : SLICE_NONE;
}

void
translation_begin(Translation *t)
{
	Slice		parts[] = {t->world->secret, SLICE_OF("adapter"), slice_of_cstring(t->adapter->name), t->world->realm};

	crypto_hash_begin(&t->seed);
	identifier_hash(&t->seed, parts, lengthof(parts));
}

Slice
translation_derive(const Translation *t, const char *prefix, const char *kind, Slice within,
				   Slice native)
{
	Slice		scope = translation_native(t, "scope");
	CryptoHash	hash = t->seed;
	Slice		parts[] = {
		slice_present(scope) ? translation_hashed(scope) : SLICE_OF(""), slice_of_cstring(prefix), slice_of_cstring(kind),
		slice_present(within) ? within : SLICE_OF(""), translation_hashed(native)
	};

	identifier_hash(&hash, parts, lengthof(parts));
	return slice_of_cstring(identifier_of_hash(prefix, &hash));
}

static Slice
translation_digest(Translation *t)
{
	Jsonb	   *document;
	uint8	   *digest;

	if (slice_present(t->digest))
		return t->digest;
	document = json_write(t->document);
	digest = palloc(CRYPTO_HASH_BYTES);
	crypto_sha256(VARDATA(document), VARSIZE(document) - VARHDRSZ, digest);
	t->digest = (Slice) {(const char *) digest, CRYPTO_HASH_BYTES};
	return t->digest;
}

Slice
translation_key(Translation *t, int place, const char **kind)
{
	Slice		native = translation_native(t, "id");
	Slice		session = json_get_text(t->context, "/session");
	StringInfoData key;

	*kind = slice_present(native) ? "id" : "content";
	if (slice_present(native))
		return native;
	initStringInfo(&key);
	appendStringInfo(&key, "%d/", place);
	appendBinaryStringInfo(&key, translation_digest(t).s, CRYPTO_HASH_BYTES);
	/* another session may say the same; an adapter whose IDs belong to sessions has noted it as the scope */
	if (slice_present(session) && !slice_present(translation_native(t, "scope")))
		appendBinaryStringInfo(&key, session.s, session.len);
	return (Slice) {key.data, key.len};
}

/* what the ID of one envelope of a document is derived from */
typedef struct TranslationNative
{
	Slice		id;
	Slice		scope;
	Slice		run_id;
	bool		is_stub;
	bool		is_call;
	int			place;
} TranslationNative;

/* Returns the order of two envelopes, or 0 if the same ID would be derived for both. */
static int
translation_compare_ids(const TranslationNative *a, const TranslationNative *b)
{
	int			order = slice_compare(a->id, b->id);

	if (order == 0)
		order = slice_compare(a->scope, b->scope);
	if (order == 0)
		order = slice_compare(a->run_id, b->run_id);
	return order != 0 ? order : (int) a->is_stub - (int) b->is_stub;
}

static int
translation_compare_natives(const void *a, const void *b)
{
	const TranslationNative *x = a;
	const TranslationNative *y = b;
	int			order = translation_compare_ids(x, y);

	if (order == 0)
		order = (int) y->is_call - (int) x->is_call;
	return order != 0 ? order : x->place - y->place;
}

void
translation_rank(Translation *t, List *envelopes)
{
	TranslationNative *natives = palloc(sizeof(TranslationNative) * list_length(envelopes));
	int			n = 0;
	ListCell   *lc;

	t->ranks = palloc0(sizeof(int) * list_length(envelopes));
	foreach(lc, envelopes)
	{
		const Json *envelope = lfirst(lc);
		Slice		id;
		Slice		scope;

		t->natives = adapter_noted(t->adapter, envelope, "/native");
		id = translation_native(t, "id");
		scope = translation_native(t, "scope");
		if (slice_present(id) && json_get(envelope, "/id") == NULL)
			natives[n++] = (TranslationNative) {
				.id = id,
				.scope = slice_present(scope) ? scope : SLICE_OF(""),
				.run_id = json_get_text(envelope, "/run_id"),
				.is_stub = adapter_is_stub(t->adapter, envelope),
				.is_call = adapter_type(envelope) == MSG_TOOL_CALL,
				.place = foreach_current_index(lc)
			};
	}
	qsort(natives, n, sizeof(TranslationNative), translation_compare_natives);
	for (int i = 1; i < n; i++)
		if (translation_compare_ids(&natives[i - 1], &natives[i]) == 0)
			t->ranks[natives[i].place] = t->ranks[natives[i - 1].place] + 1;
}
