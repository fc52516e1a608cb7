#!/usr/bin/env python3
"""Checks proofs of the log with nothing of clutch: RFC 6962, RFC 8785 and C2SP signed notes.

Reads claims from standard input, one JSON object a line, prints what it has found,
and exits with 1 if a claim is wrong.  docs/proofs.md has the queries that make them:

  {"claim": "inclusion", "seq", "received_at", "envelope", "index", "size", "root", "path"}
  {"claim": "consistency", "first_size", "first_root", "second_size", "second_root", "path"}
  {"claim": "note", "note", "size", "root", "signer", "public_key"}    checked by openssl

Hashes are hexadecimal.  The leaf of an inclusion is made here, of seq, received_at and
the envelope; a claim may have "leaf_hash" in their place, for an event that was pruned.
"""
import base64
import decimal
import hashlib
import json
import os
import subprocess
import sys
import tempfile


class Wrong(Exception):
    pass


def require(holds, what):
    if not holds:
        raise Wrong(what)


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def leaf_hash(leaf):
    return sha256(b"\0", leaf)


def node_hash(left, right):
    return sha256(b"\1", left, right)


# ------------------------------------------------------------------- RFC 8785

class Number(str):
    """A number as it was written; a double would lose digits."""


def canonical_number(text):
    """As ECMAScript writes the double.  Python finds the same digits, and arranges them in another way."""
    sign, digits, exponent = decimal.Decimal(repr(float(text))).normalize().as_tuple()
    digits = "".join(map(str, digits))
    n, point = len(digits), len(digits) + exponent
    if digits == "0":
        return "0"
    if n <= point <= 21:
        digits += "0" * (point - n)
    elif 0 < point <= 21:
        digits = digits[:point] + "." + digits[point:]
    elif -6 < point <= 0:
        digits = "0." + "0" * -point + digits
    else:
        digits = "%s%s%se%+d" % (digits[0], "." if n > 1 else "", digits[1:], point - 1)
    return "-" * sign + digits


def canonical(value):
    if isinstance(value, Number):
        return canonical_number(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in keys) + "}"
    return json.dumps(value, ensure_ascii=False)


def written(value):
    """As PostgreSQL writes it.  The order of keys is that in the claim."""
    if isinstance(value, Number):
        return value
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(written(key) + ": " + written(value[key]) for key in value) + "}"
    return json.dumps(value, ensure_ascii=False)


def is_exact(value):
    """Is each number what its canonical form says?"""
    if isinstance(value, Number):
        return decimal.Decimal(value) == decimal.Decimal(canonical_number(value))
    return all(map(is_exact, value.values() if isinstance(value, dict) else value if isinstance(value, list) else []))


def leaf_of(claim):
    envelope = claim["envelope"]
    first, last = ("", canonical(envelope)) if is_exact(envelope) else ("-exact", written(envelope))
    return ("clutch-event-v1%s\n%s\n%s\n%s" % (first, claim["seq"], claim["received_at"], last)).encode()


# ------------------------------------------------------------------- RFC 6962

def root_of_inclusion(leaf, index, size, path):
    """RFC 9162, 2.1.3.2, which says how to verify what RFC 6962 defines."""
    require(0 <= index < size, "the index lies outside of the tree")
    number, last, root = index, size - 1, leaf
    for step in path:
        require(last != 0, "the path is too long")
        if number & 1 or number == last:
            root = node_hash(step, root)
            while not number & 1 and number != 0:
                number >>= 1
                last >>= 1
        else:
            root = node_hash(root, step)
        number >>= 1
        last >>= 1
    require(last == 0, "the path is too short")
    return root


def check_consistency(first_size, first_root, second_size, second_root, path):
    """RFC 9162, 2.1.4.2."""
    require(0 < first_size <= second_size, "the sizes are not in order")
    if first_size == second_size:
        require(not path and first_root == second_root, "two trees of one size differ")
        return
    if first_size & (first_size - 1) == 0:
        path = [first_root] + path
    require(path, "the path is empty")
    number, last = first_size - 1, second_size - 1
    while number & 1:
        number >>= 1
        last >>= 1
    first = second = path[0]
    for step in path[1:]:
        require(last != 0, "the path is too long")
        if number & 1 or number == last:
            first = node_hash(step, first)
            second = node_hash(step, second)
            while not number & 1 and number != 0:
                number >>= 1
                last >>= 1
        else:
            second = node_hash(second, step)
        number >>= 1
        last >>= 1
    require(last == 0, "the path is too short")
    require(first == first_root, "the first root is another")
    require(second == second_root, "the second root is another")


# ---------------------------------------------------------------------- notes

def openssl_accepts(text, signature, public_key):
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("key", "signature", "text")]
        # the header of a SubjectPublicKeyInfo with an Ed25519 key (RFC 8410)
        contents = [bytes.fromhex("302a300506032b6570032100") + public_key, signature, text]
        for name, content in zip(names, contents):
            with open(name, "wb") as file:
                file.write(content)
        return subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", names[0],
                               "-sigfile", names[1], "-rawin", "-in", names[2]],
                              stdout=subprocess.DEVNULL).returncode == 0


def check_note(claim):
    text, blank, lines = claim["note"].partition("\n\n")
    require(blank, "the note has no signatures")
    text += "\n"
    origin, size, root = text.split("\n")[:3]
    require(origin and int(size) == int(claim["size"]) and base64.b64decode(root).hex() == claim["root"],
            "the note is of another tree")
    public_key = bytes.fromhex(claim["public_key"])
    key_id = sha256(claim["signer"].encode(), b"\n\1", public_key)[:4]
    for line in lines.splitlines():
        dash, signer, value = line.split(" ")
        value = base64.b64decode(value, validate=True)
        if dash == "\u2014" and signer == claim["signer"] and value[:4] == key_id:
            require(openssl_accepts(text.encode(), value[4:], public_key), "openssl refuses the signature")
            return
    raise Wrong("the note has no signature of this key")


# --------------------------------------------------------------------- claims

def hashes(claim, key):
    return [bytes.fromhex(value) for value in claim[key]]


def check(claim):
    if claim["claim"] == "inclusion":
        leaf = bytes.fromhex(claim["leaf_hash"]) if "leaf_hash" in claim else leaf_hash(leaf_of(claim))
        root = root_of_inclusion(leaf, int(claim["index"]), int(claim["size"]), hashes(claim, "path"))
        require(root.hex() == claim["root"], "the path leads to another root")
    elif claim["claim"] == "consistency":
        check_consistency(int(claim["first_size"]), bytes.fromhex(claim["first_root"]), int(claim["second_size"]),
                          bytes.fromhex(claim["second_root"]), hashes(claim, "path"))
    else:
        require(claim["claim"] == "note", "no such claim")
        check_note(claim)


def main():
    good = wrong = 0
    for line in sys.stdin:
        if not line.strip():
            continue
        claim = json.loads(line, parse_int=Number, parse_float=Number)
        try:
            check(claim)
            good += 1
        except Wrong as error:
            wrong += 1
            print("wrong: %s: %s" % (claim["claim"], error))
    print("%d good, %d wrong" % (good, wrong))
    return 1 if wrong or not good else 0


if __name__ == "__main__":
    sys.exit(main())
