/*-------------------------------------------------------------------------
 *
 * crypto.h
 *	  Hashes, the verification of signatures, and base64: the only user of libsodium.
 *
 * Signatures are those of Ed25519 (RFC 8032), hashes SHA-256 (FIPS 180-4), also keyed
 * (HMAC).
 * Sizes are in bytes.  Except where a comment says so, nothing here allocates
 * memory that stays, and the only error is that there is no memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CRYPTO_H
#define CLUTCH_CRYPTO_H

#include "base/text.h"

#define CRYPTO_HASH_BYTES			32
#define CRYPTO_PUBLIC_KEY_BYTES		32
#define CRYPTO_SIGNATURE_BYTES		64

/* --- SHA-256 --- */

/* of a message that comes in parts: crypto_hash_begin, _add, _end */
typedef struct CryptoHash
{
	uint64		state[14];		/* of libsodium, which gives its size as 104 bytes */
} CryptoHash;

extern void crypto_hash_begin(CryptoHash *hash);
extern void crypto_hash_add(CryptoHash *hash, const void *bytes, Size n);
extern void crypto_hash_end(CryptoHash *hash, uint8 digest[CRYPTO_HASH_BYTES]);

/* of a message that is there as a whole, in one piece or in parts that lie beside one another in an array */
extern void crypto_sha256(const void *bytes, Size n, uint8 digest[CRYPTO_HASH_BYTES]);
extern void crypto_sha256_of_parts(const Slice *parts, int nparts, uint8 digest[CRYPTO_HASH_BYTES]);

/* --- HMAC (RFC 2104) with SHA-256 --- */

/* of a message that comes in parts, which lie beside one another in an array */
extern void crypto_hmac(Slice key, const Slice *parts, int nparts, uint8 digest[CRYPTO_HASH_BYTES]);

/* --- Ed25519 --- */

/*
 * Is it a point of the main subgroup, in its canonical form?  For other keys,
 * some signatures are valid for messages that nobody has signed.
 */
extern bool crypto_public_key_is_sound(const uint8 key[CRYPTO_PUBLIC_KEY_BYTES]);

/*
 * Is it the signature of the message?  Strict: of the encodings of one
 * signature, only the canonical one is accepted.
 */
extern bool crypto_signature_fits(const uint8 signature[CRYPTO_SIGNATURE_BYTES],
						  const void *message, Size n,
						  const uint8 public_key[CRYPTO_PUBLIC_KEY_BYTES]);

/* --- secrets --- */

/* Overwrites a secret that is not needed any more; the compiler does not leave that out. */
extern void crypto_wipe(void *bytes, Size n);

/* --- base64 (RFC 4648) --- */

/*
 * Reads either alphabet, the standard one or that for URLs, with all of its
 * padding or with none.  Returns the number of bytes, or -1 if the text is not
 * base64 or has more than most bytes.  The unused bits of the last character
 * must be 0, so each text without padding stands for bytes of its own.
 */
extern int	crypto_decode_base64(Slice text, void *bytes, int most);

/* Returns the standard alphabet with padding; palloc'd, terminated by NUL. */
extern char *crypto_encode_base64(const void *bytes, Size n);

#endif							/* CLUTCH_CRYPTO_H */
