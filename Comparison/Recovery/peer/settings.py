"""django-rest-passwordreset as its README sets it up: mail is sent in the signal's receiver, to a server that may be down."""

import os

SECRET_KEY = "only for this comparison"
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = [
    "django.contrib.contenttypes", "django.contrib.auth", "rest_framework", "django_rest_passwordreset",
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["PEER_DATABASE"], "OPTIONS": {"timeout": 30}}}
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
REST_FRAMEWORK = {"DEFAULT_AUTHENTICATION_CLASSES": [], "DEFAULT_THROTTLE_RATES": {"django-rest-passwordreset-request-token": "100000000/day"}}
AUTH_PASSWORD_VALIDATORS = [{"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"}]
if os.environ.get("PEER_MAIL") == "refused":
    EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    EMAIL_HOST, EMAIL_PORT, EMAIL_TIMEOUT = "127.0.0.1", 9, 5
else:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    EMAIL_FILE_PATH = os.environ["PEER_MAILBOX"]
