"""Checks of Holdfast that Schemathesis runs in addition to its own."""

import unicodedata

import schemathesis

# The prefixes of codes that a request must not get if it matches the document.
CALLED_INVALID = ("VALIDATION_", "REQUEST_")

# These codes mean that another request has the idempotency key, not that the request is invalid.
KEY_IS_TAKEN = ("REQUEST_CONFLICT", "REQUEST_KEY_REUSED")

# Members that are required only without an access token. A document can't express this.
WITHOUT_TOKEN = {
    "/api/auth/verify-email": "current_password",
    "/api/auth/change-email/confirm": "current_password",
    "/api/auth/verify-email/request": "email",
}

# Limits in bytes. A document can only limit characters.
BYTES = {"token": 512, "refresh_token": 512, "password": 4_096, "new_password": 4_096, "confirm_password": 4_096, "current_password": 4_096}


@schemathesis.check
def valid_data_is_not_called_invalid(ctx, response, case):
    """Fails if a request that matches the document is refused as malformed or invalid."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    code = "".join(response.headers.get("x-error-code", []))
    if code == "REQUEST_MALFORMED" and repeats_a_field(response.request.body):
        return
    if code == "VALIDATION_MISSING_FIELD" and case.path.rstrip("/") in WITHOUT_TOKEN:
        return
    if code.startswith(CALLED_INVALID) and code not in KEY_IS_TAKEN and not is_beyond_the_document(case.body):
        raise AssertionError(f"{code} for a request that fits the document")


def is_beyond_the_document(body):
    """Returns whether a body violates a rule that a schema can't express: bytes, categories of Unicode, punycode."""
    if not isinstance(body, dict):
        return False
    return any(
        len(str(body.get(name, "")).encode(errors="surrogatepass")) > limit for name, limit in BYTES.items()
    ) or any(
        not character.isascii() and unicodedata.category(character)[0] not in "LM" and character != "\u2019"
        for character in str(body.get("first_name", "A"))
    ) or not any(
        unicodedata.category(character)[0] == "L" for character in str(body.get("first_name", "A"))
    ) or "xn--" in str(body.get("email", "")).lower()


def repeats_a_field(form):
    """Returns whether the bytes of a form have a field twice, which a schema can't forbid."""
    text = form.decode(errors="replace") if isinstance(form, bytes) else str(form or "")
    names = [pair.split("=")[0] for pair in text.split("&")]
    return len(names) > len(set(names))
