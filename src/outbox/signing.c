/*-------------------------------------------------------------------------
 *
 * signing.c
 *	  Signatures of Standard Webhooks.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/crypto.h"
#include "lib/stringinfo.h"
#include "outbox/signing.h"
#include "protocol/problem.h"

#define SIGNING_PREFIX	"whsec_"
#define LEAST_KEY_BYTES	24
#define MOST_KEY_BYTES	64

/*
 * Decodes a secret, and returns the number of bytes of the key, or -1 if the
 * secret cannot be used for signing.
 */
static int
signing_decode_key(Slice secret, uint8 key[MOST_KEY_BYTES])
{
	int			prefix = strlen(SIGNING_PREFIX);
	int			n = -1;

	/* other libraries do not take the alphabet for URLs, so they could not verify */
	if (slice_starts(secret, SLICE_OF(SIGNING_PREFIX)) &&
		memchr(secret.s + prefix, '-', secret.len - prefix) == NULL &&
		memchr(secret.s + prefix, '_', secret.len - prefix) == NULL)
		n = crypto_decode_base64(slice_after(secret, prefix), key, MOST_KEY_BYTES);
	return n < LEAST_KEY_BYTES ? -1 : n;
}

static int
signing_read_key(Slice secret, uint8 key[MOST_KEY_BYTES])
{
	int			n = signing_decode_key(secret, key);

	if (n < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("secret", "WRONG_FORMAT"),
				 errmsg("the secret cannot sign a webhook"),
				 errhint("It must be \"whsec_\" and the base64 of %d to %d bytes; several are separated by spaces.",
						 LEAST_KEY_BYTES, MOST_KEY_BYTES)));
	return n;
}

static char *
signing_by_one(Slice secret, Slice id, int64 seconds, Slice body)
{
	Slice		parts[] = {id, SLICE_OF("."), slice_of_cstring(psprintf(INT64_FORMAT, seconds)), SLICE_OF("."), body};
	uint8		key[MOST_KEY_BYTES];
	uint8		digest[CRYPTO_HASH_BYTES];
	int			n = signing_read_key(secret, key);

	crypto_hmac((Slice) {(const char *) key, n}, parts, lengthof(parts), digest);
	crypto_wipe(key, sizeof(key));
	return crypto_encode_base64(digest, sizeof(digest));
}

/*
 * Splits the first secret off the list.  Returns false if it was the last one.
 */
static bool
signing_take_one(Slice *secrets, Slice *one)
{
	const char *space = memchr(secrets->s, ' ', secrets->len);
	int			n = space == NULL ? secrets->len : (int) (space - secrets->s);

	*one = (Slice) {secrets->s, n};
	n = Min(n + 1, secrets->len);
	*secrets = slice_after(*secrets, n);
	return secrets->len > 0;
}

char *
signing_webhook(Slice secrets, Slice id, int64 seconds, Slice body)
{
	StringInfoData header;
	Slice		one;
	bool		more;

	initStringInfo(&header);
	do
	{
		more = signing_take_one(&secrets, &one);
		appendStringInfo(&header, "%sv1,%s", header.len > 0 ? " " : "", signing_by_one(one, id, seconds, body));
	} while (more);
	return header.data;
}

bool
signing_is_possible(Slice secrets)
{
	uint8		key[MOST_KEY_BYTES];
	bool		is_possible;
	Slice		one;
	bool		more;

	do
	{
		more = signing_take_one(&secrets, &one);
		is_possible = signing_decode_key(one, key) >= 0;
	} while (is_possible && more);
	crypto_wipe(key, sizeof(key));
	return is_possible;
}
