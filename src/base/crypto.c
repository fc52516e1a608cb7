/*-------------------------------------------------------------------------
 *
 * crypto.c
 *	  Hashes, the verification of signatures, and base64: the only user of
 *	  libsodium.
 *
 * Long messages are hashed by the server, whose OpenSSL uses the processor's
 * instructions for SHA-256 and takes a quarter of the time of libsodium.  For
 * short ones, setting it up would cost more than it saves.
 *
 * We use only functions of libsodium that allocate no memory and need no
 * random bytes, because it would call abort() if it could not get them.  For
 * the same reason, sodium_init() is not needed.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xlog.h"
#include "base/crypto.h"
#include "catalog/pg_control.h"
#include "common/cryptohash.h"

#include <sodium.h>

#define CRYPTO_LONG_BYTES	256

StaticAssertDecl(sizeof(CryptoHash) >= sizeof(crypto_hash_sha256_state), "size of CryptoHash");
StaticAssertDecl(CRYPTO_HASH_BYTES == crypto_hash_sha256_BYTES, "size of a hash");
StaticAssertDecl(CRYPTO_PUBLIC_KEY_BYTES == crypto_sign_PUBLICKEYBYTES, "size of a public key");
StaticAssertDecl(CRYPTO_SIGNATURE_BYTES == crypto_sign_BYTES, "size of a signature");

/* --------------------------------------------------------------- SHA-256 */

static crypto_hash_sha256_state *
crypto_state(CryptoHash *hash)
{
	return (crypto_hash_sha256_state *) hash->state;
}

void
crypto_hash_begin(CryptoHash *hash)
{
	(void) crypto_hash_sha256_init(crypto_state(hash));
}

void
crypto_hash_add(CryptoHash *hash, const void *bytes, Size n)
{
	(void) crypto_hash_sha256_update(crypto_state(hash), bytes, n);
}

void
crypto_hash_end(CryptoHash *hash, uint8 digest[CRYPTO_HASH_BYTES])
{
	(void) crypto_hash_sha256_final(crypto_state(hash), digest);
}

/*
 * Returns false if the server cannot hash, which OpenSSL's settings can
 * forbid.
 */
static bool
crypto_hash_by_server(const Slice *parts, int nparts, uint8 digest[CRYPTO_HASH_BYTES])
{
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);
	bool		done = context != NULL && pg_cryptohash_init(context) >= 0;

	for (int i = 0; i < nparts && done; i++)
		done = pg_cryptohash_update(context, (const uint8 *) parts[i].s, parts[i].len) >= 0;
	done = done && pg_cryptohash_final(context, digest, CRYPTO_HASH_BYTES) >= 0;
	if (context != NULL)
		pg_cryptohash_free(context);
	return done;
}

void
crypto_sha256_of_parts(const Slice *parts, int nparts, uint8 digest[CRYPTO_HASH_BYTES])
{
	CryptoHash	hash;
	Size		n = 0;

	for (int i = 0; i < nparts; i++)
		n += parts[i].len;
	if (n >= CRYPTO_LONG_BYTES && crypto_hash_by_server(parts, nparts, digest))
		return;
	crypto_hash_begin(&hash);
	for (int i = 0; i < nparts; i++)
		crypto_hash_add(&hash, parts[i].s, parts[i].len);
	crypto_hash_end(&hash, digest);
}

void
crypto_sha256(const void *bytes, Size n, uint8 digest[CRYPTO_HASH_BYTES])
{
	Slice		message = {bytes, (int) n};

	crypto_sha256_of_parts(&message, 1, digest);
}

/* ------------------------------------------------------------------ HMAC */

void
crypto_hmac(Slice key, const Slice *parts, int nparts, uint8 digest[CRYPTO_HASH_BYTES])
{
	crypto_auth_hmacsha256_state state;

	(void) crypto_auth_hmacsha256_init(&state, (const uint8 *) key.s, key.len);
	for (int i = 0; i < nparts; i++)
		(void) crypto_auth_hmacsha256_update(&state, (const uint8 *) parts[i].s, parts[i].len);
	(void) crypto_auth_hmacsha256_final(&state, digest);
	sodium_memzero(&state, sizeof(state));
}

/* ---------------------------------------------------------- short hashes */

/* The key is the random number that initdb has put into pg_control. */
uint64
crypto_name_hash(Slice name)
{
	uint64		hash;

	StaticAssertStmt(sizeof(hash) == crypto_shorthash_BYTES && MOCK_AUTH_NONCE_LEN >= crypto_shorthash_KEYBYTES,
					 "short hashes have another size");
	(void) crypto_shorthash((unsigned char *) &hash, (const unsigned char *) (name.len > 0 ? name.s : ""), Max(name.len, 0),
							(const unsigned char *) GetMockAuthenticationNonce());
	return hash;
}

/* --------------------------------------------------------------- Ed25519 */

bool
crypto_public_key_is_sound(const uint8 key[CRYPTO_PUBLIC_KEY_BYTES])
{
	return crypto_core_ed25519_is_valid_point(key) == 1;
}

bool
crypto_signature_fits(const uint8 signature[CRYPTO_SIGNATURE_BYTES], const void *message, Size n,
			  const uint8 public_key[CRYPTO_PUBLIC_KEY_BYTES])
{
	return crypto_sign_verify_detached(signature, message, n, public_key) == 0;
}

/* --------------------------------------------------------------- secrets */

void
crypto_wipe(void *bytes, Size n)
{
	sodium_memzero(bytes, n);
}

/* ---------------------------------------------------------------- base64 */

/*
 * Returns the text without its padding, or SLICE_NONE if the padding is wrong.
 */
static Slice
crypto_without_padding(Slice text)
{
	int			n = text.len;

	while (n > 0 && text.len - n < 2 && text.s[n - 1] == '=')
		n--;
	if (n < text.len && text.len % 4 != 0)
		return SLICE_NONE;
	return (Slice) {text.s, n};
}

int
crypto_decode_base64(Slice text, void *bytes, int most)
{
	Slice		digits = crypto_without_padding(text);
	bool		for_urls;
	size_t		n;

	if (!slice_present(digits))
		return -1;
	for_urls = digits.len > 0 &&
		(memchr(digits.s, '-', digits.len) != NULL || memchr(digits.s, '_', digits.len) != NULL);
	if (sodium_base642bin(bytes, most, digits.s, digits.len, NULL, &n, NULL,
						  for_urls ? sodium_base64_VARIANT_URLSAFE_NO_PADDING :
						  sodium_base64_VARIANT_ORIGINAL_NO_PADDING) != 0)
		return -1;
	return (int) n;
}

Slice
crypto_encode_hex(const void *bytes, Size n)
{
	Size		size = 2 * n + 1;

	return (Slice) {sodium_bin2hex(palloc(size), size, bytes, n), (int) (2 * n)};
}

char *
crypto_encode_base64(const void *bytes, Size n)
{
	Size		size = sodium_base64_ENCODED_LEN(n, sodium_base64_VARIANT_ORIGINAL);
	char	   *text = palloc(size);

	return sodium_bin2base64(text, size, bytes, n, sodium_base64_VARIANT_ORIGINAL);
}
