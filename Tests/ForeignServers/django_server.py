"""A Django REST framework backend with SimpleJWT, configured like in its documentation, for the tests of foreign errors.

Usage: python django_server.py FOLDER. It stores its database in FOLDER, listens on a free port of 127.0.0.1 and prints the port.
"""

import logging
import socketserver
import sys
from datetime import timedelta
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import django
from django.conf import settings

folder = Path(sys.argv[1])
logging.disable(logging.CRITICAL)

settings.configure(
    SECRET_KEY="a key of the tests, long enough for the signatures of tokens",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "rest_framework"],
    # The first is the result of `startproject`. The second translates, like projects in several languages.
    MIDDLEWARE=["__main__.locale_for_translated_paths", "django.middleware.common.CommonMiddleware"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "db.sqlite3"}},
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    AUTH_PASSWORD_VALIDATORS=[
        {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
        {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    ],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework_simplejwt.authentication.JWTAuthentication"],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    },
    LOGGING_CONFIG=None,
    USE_TZ=True,
)
django.setup()

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError as DjangoValidationError
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.middleware.locale import LocaleMiddleware
from django.shortcuts import get_object_or_404
from django.urls import include, path
from rest_framework import permissions, serializers, throttling, views
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.response import Response
from rest_framework.validators import UniqueValidator
from rest_framework_simplejwt.tokens import AccessToken
from rest_framework_simplejwt.views import TokenObtainPairView, TokenRefreshView


def locale_for_translated_paths(get_response):
    """Runs Django's LocaleMiddleware for paths below /i18n/ only."""
    translated = LocaleMiddleware(get_response)
    return lambda request: (translated if request.path.startswith("/i18n/") else get_response)(request)


class ItemSerializer(serializers.Serializer):
    name = serializers.CharField()


class AccountSerializer(serializers.Serializer):
    email = serializers.EmailField(validators=[UniqueValidator(User.objects.all(), lookup="iexact")])
    password = serializers.CharField(min_length=8)
    quantity = serializers.IntegerField(min_value=1, required=False)
    items = ItemSerializer(many=True, required=False)

    def validate_password(self, value):
        try:
            validate_password(value)
        except DjangoValidationError as error:
            raise serializers.ValidationError(error.messages) from error
        return value


class Accounts(views.APIView):
    def post(self, request):
        AccountSerializer(data=request.data).is_valid(raise_exception=True)
        return Response(status=201)


class Me(views.APIView):
    permission_classes = [permissions.IsAuthenticated]

    def get(self, request):
        return Response({"email": request.user.email})


class Admin(views.APIView):
    permission_classes = [permissions.IsAdminUser]

    def get(self, request):
        return Response({})


class OncePerMinute(throttling.AnonRateThrottle):
    rate = "1/min"
    # The delay is the same in every run.
    timer = staticmethod(lambda: 1_000_000.0)


class Limited(views.APIView):
    throttle_classes = [OncePerMinute]

    def get(self, request):
        return Response({})


class Things(views.APIView):
    def get(self, request, key):
        get_object_or_404(User, pk=key)
        return Response({})


class Orders(views.APIView):
    def post(self, request):
        raise ValidationError({"non_field_errors": ["The order is closed."]})

    def put(self, request):
        raise ValidationError("The order is closed.")

    def delete(self, request):
        raise PermissionDenied()


class Broken(views.APIView):
    def get(self, request):
        raise RuntimeError("relation users does not exist")


routes = [
    path("token/", TokenObtainPairView.as_view()),
    path("token/refresh/", TokenRefreshView.as_view()),
    path("accounts/", Accounts.as_view()),
    path("me/", Me.as_view()),
    path("admin/", Admin.as_view()),
    path("limited/", Limited.as_view()),
    path("things/<int:key>/", Things.as_view()),
    path("orders/", Orders.as_view()),
    path("broken/", Broken.as_view()),
]
urlpatterns = [path("api/", include(routes)), path("i18n/", include(routes))]


class Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Silent(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


def token(lifetime):
    """Returns an access token of the only user."""
    made = AccessToken.for_user(User.objects.get())
    made.set_exp(lifetime=lifetime)
    return str(made)


if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    User.objects.create_user("ana", "ana@example.org", "first password")
    (folder / "expired-token").write_text(token(timedelta(seconds=-1)))
    (folder / "token").write_text(token(timedelta(days=1)))
    server = Server(("127.0.0.1", 0), Silent)
    server.set_app(get_wsgi_application())
    print(server.server_port, flush=True)
    server.serve_forever()
