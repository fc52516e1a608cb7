/*-------------------------------------------------------------------------
 *
 * crypto.h
 *	  Hashes, the verification of signatures, and base64: the only user of libsodium.
 *
 * Signatures are Ed25519 (RFC 8032), and hashes SHA-256 (FIPS 180-4),
 * optionally keyed (HMAC).  Sizes are in bytes.  Unless a comment says so,
 * nothing here allocates memory that is kept, and the only possible error is
 * out of memory.
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

/* Hash of a message that comes in pieces: crypto_hash_begin, _add, _end. */
typedef struct CryptoHash
{
	uint64		state[14];		/* state of libsodium, whose size is documented
								 * as 104 bytes */
} CryptoHash;

extern void crypto_hash_begin(CryptoHash *hash);
extern void crypto_hash_add(CryptoHash *hash, const void *bytes, Size n);
extern void crypto_hash_end(CryptoHash *hash, uint8 digest[CRYPTO_HASH_BYTES]);

/*
 * Hash a message that is there as a whole, in one piece or as an array of
 * parts.
 */
extern void crypto_sha256(const void *bytes, Size n, uint8 digest[CRYPTO_HASH_BYTES]);
extern void crypto_sha256_of_parts(const Slice *parts, int nparts, uint8 digest[CRYPTO_HASH_BYTES]);

/* --- HMAC (RFC 2104) with SHA-256 --- */

/* Computes the HMAC of a message that is given as an array of parts. */
extern void crypto_hmac(Slice key, const Slice *parts, int nparts, uint8 digest[CRYPTO_HASH_BYTES]);

/* --- short hashes (SipHash-2-4) --- */

/*
 * Hashes a name, such as the ID of an agent or of an event, to 64 bits, with a
 * key of the cluster, which all backends have at all times.  Nobody who does
 * not know the key can choose a name that has the hash of another one.
 */
extern uint64 crypto_name_hash(Slice name);

/* --- Ed25519 --- */

/*
 * Is it a point of the main subgroup in its canonical form?  With other keys,
 * some signatures are valid for messages that nobody has signed.
 */
extern bool crypto_public_key_is_sound(const uint8 key[CRYPTO_PUBLIC_KEY_BYTES]);

/*
 * Is it the signature of the message?  This is strict: among the encodings of
 * a signature, only the canonical one is accepted.
 */
extern bool crypto_signature_fits(const uint8 signature[CRYPTO_SIGNATURE_BYTES],
						  const void *message, Size n,
						  const uint8 public_key[CRYPTO_PUBLIC_KEY_BYTES]);

/* --- secrets --- */

/*
 * Overwrites a secret that is not needed any more.  The compiler cannot
 * optimize this away.
 */
extern void crypto_wipe(void *bytes, Size n);

/* --- hexadecimal and base64 (RFC 4648) --- */

/* Encodes with lower-case digits.  The result is palloc'd. */
extern Slice crypto_encode_hex(const void *bytes, Size n);

/*
 * Decodes base64 in the standard or the URL-safe alphabet, with all of its
 * padding or none.  Returns the number of bytes, or -1 if the text is not
 * base64 or has more than "most" bytes.  The unused bits of the last character
 * must be 0, so that different texts without padding always have different
 * bytes.
 */
extern int	crypto_decode_base64(Slice text, void *bytes, int most);

/*
 * Encodes in the standard alphabet with padding.  The result is palloc'd and
 * terminated by NUL.
 */
extern char *crypto_encode_base64(const void *bytes, Size n);

#endif							/* CLUTCH_CRYPTO_H */
