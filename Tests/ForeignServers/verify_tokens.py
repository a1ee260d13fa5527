"""A Django view that verifies access tokens by the recipe of docs/server/verifying-tokens.md.

Usage: python verify_tokens.py PAGE URL ISSUER AUDIENCE. Each line of standard input is an access token, or "refetch" to start with no keys.
Prints the status of the view's response to each token.
"""

import re
import sys
from pathlib import Path

import django
from django.conf import settings
from django.http import JsonResponse
from django.test import RequestFactory

page, url, issuer, audience = sys.argv[1:]
settings.configure(ALLOWED_HOSTS=["testserver"], ACCOUNTS_URL=url, ACCOUNTS_ISSUER=issuer, ACCOUNTS_AUDIENCE=audience)
django.setup()

recipe = re.search(r"<!-- tokens\.py -->\n```python\n(.*?)```", Path(page).read_text(), re.S).group(1)


def load():
    module = {"__name__": "tokens"}
    exec(compile(recipe, "tokens.py", "exec"), module)
    return module["signed_in"](lambda request: JsonResponse({"account": request.claims["sub"]}))


view = load()
for line in sys.stdin:
    token = line.strip()
    if token == "refetch":
        view = load()
        continue
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    print(view(RequestFactory().get("/", headers=headers)).status_code, flush=True)
