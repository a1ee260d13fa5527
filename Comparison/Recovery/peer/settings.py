"""django-rest-passwordreset as its README sets it up: mail is sent in the signal's receiver.

SQLite is set up as Django's documentation advises for production (WAL, write transactions that begin as such), connections are kept, and a
commit is on the disk when it is told (FULL).
"""

import os

SECRET_KEY = "only for this comparison"
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = [
    "django.contrib.contenttypes", "django.contrib.auth", "rest_framework", "django_rest_passwordreset",
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ["PEER_DATABASE"],
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "timeout": 30,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        },
    }
}
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
REST_FRAMEWORK = {"DEFAULT_AUTHENTICATION_CLASSES": [], "DEFAULT_THROTTLE_RATES": {"django-rest-passwordreset-request-token": "100000000/day"}}
AUTH_PASSWORD_VALIDATORS = [{"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"}]
DJANGO_REST_PASSWORDRESET_NO_INFORMATION_LEAKAGE = True
EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
EMAIL_HOST, EMAIL_PORT, EMAIL_TIMEOUT = "127.0.0.1", int(os.environ["PEER_MAIL_PORT"]), 30
