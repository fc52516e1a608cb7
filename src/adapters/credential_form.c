/*-------------------------------------------------------------------------
 *
 * credential_form.c
 *	  Removing credentials from documents that come from outside: what they
 *	  look like.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/credential_part.h"
#include "base/crypto.h"

#include <ctype.h>

/* ------------------------------------------------------------------- names */

/*
 * how many letters and digits at the end of a name are compared; all words
 * below are shorter
 */
#define NAME_BYTES	32

/* the last letters and digits of a name, in lower case */
typedef struct CredentialName
{
	int			len;
	char		s[NAME_BYTES];	/* only the last len of them are set */
} CredentialName;

typedef enum CredentialWordKind
{
	WORD_WHOLE,					/* the whole name */
	WORD_ENDING,				/* the end of a name, as in "dbPassword",
								 * "client_secret", "X-Api-Key" */
	WORD_OF_TEXT,				/* the whole name of a text; an array lists
								 * what a security scheme of that name allows */
	WORD_OF_TOKEN				/* the whole name of a token; other texts say
								 * which kind of authentication there is */
} CredentialWordKind;

typedef struct CredentialWord
{
	Slice		word;
	CredentialWordKind kind;
} CredentialWord;

#define WORD(word, kind)	{{(word), sizeof(word) - 1}, (kind)}
#define WHOLE(word)		WORD(word, WORD_WHOLE)
#define ENDING(word)	WORD(word, WORD_ENDING)
#define OF_TEXT(word)	WORD(word, WORD_OF_TEXT)
#define OF_TOKEN(word)	WORD(word, WORD_OF_TOKEN)
#define WORDS(...)		(const CredentialWord[]) {__VA_ARGS__, {{NULL, 0}, WORD_WHOLE}}

/*
 * the names of credentials by their last letter, which spares most other names
 * the comparisons
 */
static const CredentialWord *const credential_words['z' - 'a' + 1] = {
	['d' - 'a'] = WORDS(WHOLE("pwd"), WHOLE("accesskeyid"), WHOLE("mcpsessionid"), ENDING("password"), ENDING("passwd")),
	['e' - 'a'] = WORDS(WHOLE("cookie"), WHOLE("setcookie"), WHOLE("webhooksignature"), WHOLE("secretkeybase"),
						ENDING("passphrase")),
	['h' - 'a'] = WORDS(OF_TOKEN("auth")),
	['l' - 'a'] = WORDS(WHOLE("credential")),
	['n' - 'a'] = WORDS(WHOLE("authorization"), WHOLE("proxyauthorization"), WHOLE("token"), WHOLE("idtoken"),
						WHOLE("csrftoken"), WHOLE("xsrftoken"), WHOLE("resumetoken"), WHOLE("privatetoken"),
						WHOLE("jobtoken"), WHOLE("deploytoken"), ENDING("accesstoken"),
						ENDING("refreshtoken"), ENDING("authtoken"), ENDING("bearertoken"), ENDING("apitoken"),
						ENDING("sessiontoken"), ENDING("securitytoken"), ENDING("jwtassertion")),
	['r' - 'a'] = WORDS(OF_TEXT("bearer")),
	['s' - 'a'] = WORDS(WHOLE("cookies"), WHOLE("credentials")),
	['t' - 'a'] = WORDS(OF_TEXT("jwt"), ENDING("secret")),
	['y' - 'a'] = WORDS(WHOLE("accesskey"), ENDING("apikey"), ENDING("secretkey"), ENDING("privatekey"),
						ENDING("signingkey"), ENDING("secretaccesskey"), ENDING("authkey"), WHOLE("encryptionkey"),
						ENDING("subscriptionkey"), ENDING("functionskey")),
};

/*
 * Returns the words that end with the same letter as a name, or NULL if there
 * are none.
 */
static const CredentialWord *
credential_words_like(Slice key)
{
	int			last = key.len - 1;
	char		letter;

	while (last >= 0 && !isalnum((unsigned char) key.s[last]))
		last--;
	letter = last >= 0 ? pg_ascii_tolower((unsigned char) key.s[last]) : '\0';
	return letter >= 'a' && letter <= 'z' ? credential_words[letter - 'a'] : NULL;
}

static CredentialName
credential_name_of(Slice key)
{
	CredentialName name;

	name.len = 0;
	for (int i = key.len - 1; i >= 0 && name.len < NAME_BYTES; i--)
		if (isalnum((unsigned char) key.s[i]))
			name.s[NAME_BYTES - ++name.len] = pg_ascii_tolower((unsigned char) key.s[i]);
	return name;
}

/* Does the name end like this, if "without" bytes at its end are ignored? */
static bool
credential_name_ends(const CredentialName *name, int without, Slice ending)
{
	return name->len - without >= ending.len &&
		memcmp(name->s + NAME_BYTES - without - ending.len, ending.s, ending.len) == 0;
}

static bool
credential_is_proprietary(Slice key)
{
	return key.len >= 2 && (key.s[0] == 'x' || key.s[0] == 'X') && key.s[1] == '-';
}

/*
 * Is it a vendor-specific header that holds a credential, like
 * X-Hub-Signature-256 or X-Auth-Token?
 */
static bool
credential_is_header(Slice key, const CredentialName *name)
{
	int			digits = 0;

	while (digits < name->len && isdigit((unsigned char) name->s[NAME_BYTES - 1 - digits]))
		digits++;
	return credential_is_proprietary(key) &&
		(credential_name_ends(name, digits, SLICE_OF("signature")) || credential_name_ends(name, digits, SLICE_OF("token")) ||
		 credential_name_ends(name, digits, SLICE_OF("signaturesha")));
}

/* ------------------------------------------------------------------ values */

/*
 * Returns the number of leading bytes that are letters, digits, or among the
 * others.
 */
static int
credential_span(Slice text, const char *others)
{
	int			n = 0;

	while (n < text.len && (isalnum((unsigned char) text.s[n]) || strchr(others, text.s[n]) != NULL))
		n++;
	return n;
}

/*
 * Is it a token, as opposed to a word as in "basic arithmetic"?  A token has a
 * digit or is long.
 */
static bool
credential_is_token(Slice word)
{
	int			digits = 0;

	for (int i = 0; i < word.len; i++)
		digits += isdigit((unsigned char) word.s[i]) != 0;
	return word.len >= 8 && credential_span(word, "-._~+/=") == word.len && (digits > 0 || word.len >= 24);
}

/*
 * Is it a token even where the name of a kind of authentication may stand, such
 * as SCRAM-SHA-256 or self_signed_tls_client_auth, or a path?
 */
static bool
credential_is_no_kind(Slice word)
{
	int			digits = 0;
	int			upper = 0;
	int			lower = 0;
	int			steps = 0;

	for (int i = 0; i < word.len; i++)
	{
		digits += isdigit((unsigned char) word.s[i]) != 0;
		upper += isupper((unsigned char) word.s[i]) != 0;
		lower += islower((unsigned char) word.s[i]) != 0;
		steps += word.s[i] == '/' || word.s[i] == '.';
	}
	if (credential_span(word, "-._~+/=") != word.len || (steps > 0 && (upper == 0 || lower == 0) && digits < 8))
		return false;
	return (word.len >= 20 && digits >= 2) || (word.len >= 16 && digits >= 6);
}

/*
 * how many characters of the base64 of a user and a password are decoded; the
 * user ends before that
 */
#define PAIR_CHARS	1024

/*
 * Is it the base64 of a user and a password?  Either of them may contain
 * letters that are not ASCII, in any encoding.
 */
static bool
credential_is_pair(Slice word)
{
	char		pair[PAIR_CHARS];
	Slice		begin = {word.s, Min(word.len, PAIR_CHARS)};
	int			len = crypto_decode_base64(begin, pair, sizeof(pair));

	for (int i = 0; i < len; i++)
		if ((unsigned char) pair[i] < ' ' || pair[i] == '\x7f')
			return false;
	return len > 0 && memchr(pair, ':', len) != NULL && credential_span(word, "-_+/=") == word.len;
}

/*
 * Is it "Bearer" followed by blanks and a token, or "Basic" followed by a user
 * and a password?  Titles such as "Basic web-design/2024" look like tokens.
 */
static bool
credential_is_scheme(Slice text)
{
	static const char *const schemes[] = {"bearer ", "basic ", NULL};

	for (const char *const *scheme = schemes; *scheme != NULL; scheme++)
	{
		int			len = strlen(*scheme);

		if (text.len < len || pg_ascii_tolower((unsigned char) text.s[0]) != **scheme || pg_strncasecmp(text.s, *scheme, len) != 0)
			continue;
		while (len < text.len && text.s[len] == ' ')
			len++;
		text.s += len;
		text.len -= len;
		return (*scheme)[1] == 'a' ? credential_is_pair(text) : credential_is_token(text);
	}
	return false;
}

bool
credential_is_jwt(Slice text)
{
	int			dots = 0;

	if (text.len < 32 || !slice_starts(text, SLICE_OF("eyJ")) || credential_span(text, "-_.=") < text.len)
		return false;
	for (int i = 0; i < text.len; i++)
		dots += text.s[i] == '.';
	return dots == 2 || dots == 4;	/* the latter if it is encrypted */
}

/*
 * Is it random letters and digits, as opposed to words and numbers with hyphens
 * between them, as in "sk-hu-en-dictionary-2026"?  It is if there are 16 in a
 * row with a digit, or if the kind of character changes at least four times
 * within the parts.  A capital letter at the beginning of a word is no change.
 */
static bool
credential_is_random(Slice text)
{
	int			changes = 0;
	int			run = 0;
	int			digits = 0;

	for (int i = 0; i < text.len; i++)
	{
		unsigned char c = text.s[i];
		unsigned char before = run > 0 ? text.s[i - 1] : c;

		run = isalnum(c) ? run + 1 : 0;
		digits = run == 0 ? 0 : digits + (isdigit(c) != 0);
		if (run >= 16 && digits > 0)
			return true;
		changes += run > 1 && ((isdigit(c) != 0) != (isdigit(before) != 0) || (isupper(c) && islower(before)));
	}
	return changes >= 4;
}

/* Is it the ID of an access key of AWS? */
static bool
credential_is_aws(Slice text)
{
	if (text.len != 20 || !(slice_starts(text, SLICE_OF("AKIA")) || slice_starts(text, SLICE_OF("ASIA"))))
		return false;
	for (int i = 0; i < text.len; i++)
		if (!isupper((unsigned char) text.s[i]) && !isdigit((unsigned char) text.s[i]))
			return false;
	return true;
}

/* Is it one of these prefixes, followed by at least 16 bytes that are random? */
static bool
credential_is_random_after(Slice text, const char *const *marks)
{
	for (const char *const *mark = marks; *mark != NULL; mark++)
		if ((*mark)[0] == text.s[0] && slice_starts(text, slice_of_cstring(*mark)))
			return text.len >= (int) strlen(*mark) + 16 && credential_span(text, "-_+=") == text.len && credential_is_random(text);
	return false;
}

/*
 * Is it a key that begins with a provider's prefix, followed by at least 16
 * bytes, or by as many as all keys of the provider have?  Other texts, such as
 * names of languages ("sk-"), also begin with short prefixes, so what follows
 * these must be random.  Only the keys of webhooks contain slashes, and only
 * those of GitLab dots.  The text must not be empty.
 */
static bool
credential_is_marked(Slice text)
{
	static const char *const marks[] = {
		"sk_live_", "sk_test_", "rk_live_", "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "xoxb-", "xoxp-",
		"xoxa-", "whsec_", "whsk_", NULL
	};
	static const char *const short_marks[] = {
		"sk-", "hf_", "gsk_", "xai-", "pplx-", "r8_", "lsv2_", "tvly-", "nvapi-", "npm_", "xapp-", NULL
	};

	/* formats of pixels, such as r8_g8_b8_a8_unorm, begin like the keys of Replicate, which have one underscore */
	if (slice_starts(text, SLICE_OF("r8_")) && memchr(text.s + 3, '_', text.len - 3) != NULL)
		return false;
	if (credential_is_random_after(text, short_marks))
		return true;
	if (slice_starts(text, SLICE_OF("AIza")))
		return text.len == 39 && credential_span(text, "-_") == text.len;
	for (const char *const *mark = marks; *mark != NULL; mark++)
		if ((*mark)[0] == text.s[0] && slice_starts(text, slice_of_cstring(*mark)))
			return text.len >= (int) strlen(*mark) + 16 &&
				credential_span(text, (*mark)[0] == 'w' ? "-_+/=" : (*mark)[1] == 'l' ? "-_+=." : "-_+=") == text.len;
	return credential_is_aws(text);
}

/*
 * Does the text contain a private key in PEM format, or in that of PGP?
 * Mentioning only the first line of one does not count, and neither does its
 * last line.
 */
static bool
credential_has_key(Slice text)
{
	static const char begin[] = "-----BEGIN ";
	static const char key[] = "PRIVATE KEY-----";
	static const char pgp[] = "PRIVATE KEY BLOCK-----";
	const char *end = text.s + text.len;
	const char *first = memmem(text.s, text.len, begin, sizeof(begin) - 1);
	const char *found = NULL;
	int			len = sizeof(key);

	if (first != NULL)
		found = memmem(first, end - first, key, sizeof(key) - 1);
	if (first != NULL && found == NULL)
	{
		found = memmem(first, end - first, pgp, sizeof(pgp) - 1);
		len = sizeof(pgp);
	}
	return found != NULL && (first == text.s || end - found >= 2 * len);
}

/*
 * maximum length of the scheme of a URL that is recognized; no longer ones are
 * in use
 */
#define SCHEME_BYTES	32

/*
 * Does it begin with a URL that has a password before its host, like
 * https://user:password@host?
 */
static bool
credential_is_url(Slice text)
{
	const char *colon = memchr(text.s, ':', Min(text.len, SCHEME_BYTES));
	const char *end = text.s + text.len;
	const char *password = NULL;
	const char *host = NULL;

	/* most texts are ruled out here */
	if (colon == NULL || end - colon < 3 || colon[1] != '/' || colon[2] != '/')
		return false;
	if (!isalpha((unsigned char) text.s[0]) || credential_span(text, "+-.") != colon - text.s)
		return false;
	for (const char *s = colon + 3; s < end && (unsigned char) *s > ' ' && strchr("/?#\\", *s) == NULL; s++)
	{
		if (*s == ':' && password == NULL)
			password = s + 1;
		else if (*s == '@')
			host = s;			/* the last one counts, as in browsers */
	}
	return password != NULL && host != NULL && host > password;
}

/* Returns the text without the blanks around it, such as the line break after the output of a program. */
static Slice
credential_trim(Slice text)
{
	while (text.len > 0 && isspace((unsigned char) text.s[0]))
	{
		text.s++;
		text.len--;
	}
	while (text.len > 0 && isspace((unsigned char) text.s[text.len - 1]))
		text.len--;
	return text;
}

bool
credential_is_value(Slice text)
{
	if (!slice_present(text))
		return false;
	text = credential_trim(text);
	if (text.len == 0)
		return false;
	return credential_is_url(text) ||
		(text.len >= 12 &&
		 (credential_is_scheme(text) || credential_is_jwt(text) || credential_is_marked(text) || credential_has_key(text)));
}

/* ------------------------------------------------------------ names of values */

/* Is it the word in that name?  "text" is the value, absent if that is not a text. */
static bool
credential_is_word(const CredentialWord *word, const CredentialName *name, Slice text)
{
	if (!credential_name_ends(name, 0, word->word) || (word->kind != WORD_ENDING && name->len != word->word.len))
		return false;
	if (word->kind == WORD_OF_TOKEN)
		return slice_present(text) && (credential_is_no_kind(text) || credential_is_pair(text) || credential_is_value(text));
	return word->kind != WORD_OF_TEXT || slice_present(text);
}

bool
credential_is_name(Slice key, Slice text)
{
	const CredentialWord *word = credential_words_like(key);
	CredentialName name;

	if (word == NULL && !credential_is_proprietary(key))
		return false;
	name = credential_name_of(key);
	for (; word != NULL && slice_present(word->word); word++)
		if (credential_is_word(word, &name, text))
			return true;
	/* in other spellings, as in "sessionId", it is the name of a conversation */
	return credential_is_header(key, &name) || (slice_is(key, "sessionid") && slice_present(text));
}
