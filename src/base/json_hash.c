/*-------------------------------------------------------------------------
 *
 * json_hash.c
 *	  Modifiable JSON documents: hashes.
 *
 * Every document that an adapter translates is hashed, and consists mostly of
 * texts of a few bytes.  Therefore this handles eight bytes at a time, and
 * needs no function call for each text.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/json_part.h"

#include "miscadmin.h"
#include "utils/fmgrprotos.h"

/* an odd number, half of whose bits are ones */
#define HASH_FACTOR	UINT64CONST(0x9E3779B97F4A7C15)

static inline uint64
json_mix(uint64 hash, uint64 word)
{
	hash = (hash ^ word) * HASH_FACTOR;
	return hash ^ (hash >> 29);
}

static inline uint64
json_load(const char *s)
{
	uint64		word;

	memcpy(&word, s, sizeof(word));
	return word;
}

uint64
json_hash_text(uint64 hash, Slice text)
{
	const char *s = text.s;
	uint64		rest = 0;

	hash = json_mix(hash, text.len);
	if (text.len >= 8)
	{
		for (; s + 8 < text.s + text.len; s += 8)
			hash = json_mix(hash, json_load(s));
		/* the last eight bytes, which may overlap with the ones before */
		return json_mix(hash, json_load(text.s + text.len - 8));
	}
	for (int i = 0; i < text.len; i++)
		rest = rest << 8 | (unsigned char) s[i];
	return json_mix(hash, rest);
}

uint64
json_hash(uint64 hash, const Json *value)
{
	switch (value->kind)
	{
		case JSON_NULL:
			return json_mix(hash, JSON_NULL);
		case JSON_BOOL:
			return json_mix(hash, value->boolean ? -1 : JSON_BOOL);
		case JSON_NUMBER:
			return json_mix(hash, DatumGetUInt32(DirectFunctionCall1(hash_numeric, NumericGetDatum(value->number))));
		case JSON_TEXT:
			return json_hash_text(json_mix(hash, JSON_TEXT), value->text);
		default:
			check_stack_depth();
			CHECK_FOR_INTERRUPTS();
			hash = json_mix(hash, (uint64) value->kind << 32 | (uint32) value->n);
			for (int i = 0; i < value->n; i++)
			{
				if (value->kind == JSON_OBJECT)
					hash = json_hash_text(hash, value->keys[i]);
				hash = json_hash(hash, value->items[i]);
			}
			return hash;
	}
}
