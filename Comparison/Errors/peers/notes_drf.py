"""The notes API on Django REST framework, in one file, as its documentation would have it; production settings."""
import os
import socket
import time
from datetime import timedelta

import django
from django.conf import settings

settings.configure(
    DEBUG=False,
    SECRET_KEY="a secret of the comparison, forty bytes long",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    DATABASES={},
    CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "rest_framework", "rest_framework_simplejwt"],
    MIDDLEWARE=["django.middleware.locale.LocaleMiddleware", "django.middleware.common.CommonMiddleware"],
    LANGUAGE_CODE="en",
    LANGUAGES=[("en", "English"), ("es", "Spanish")],
    USE_I18N=True,
    APPEND_SLASH=False,
    DATA_UPLOAD_MAX_MEMORY_SIZE=65_536,
    REST_FRAMEWORK={
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework_simplejwt.authentication.JWTStatelessUserAuthentication"],
        "DEFAULT_THROTTLE_RATES": {"limited": "2/min"},
    },
    SIMPLE_JWT={"ACCESS_TOKEN_LIFETIME": timedelta(minutes=5)},
    LOGGING_CONFIG=None,
)
django.setup()

from django.urls import path  # noqa: E402
from rest_framework import serializers, status  # noqa: E402
from rest_framework.exceptions import APIException  # noqa: E402
from rest_framework.permissions import BasePermission, IsAuthenticated  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.throttling import ScopedRateThrottle  # noqa: E402
from rest_framework.views import APIView  # noqa: E402
from django.http import Http404  # noqa: E402


class Item(serializers.Serializer):
    name = serializers.CharField()
    quantity = serializers.IntegerField(min_value=1)


class Note(serializers.Serializer):
    title = serializers.CharField(max_length=100)
    email = serializers.EmailField()
    priority = serializers.IntegerField(min_value=1, max_value=5)
    items = Item(many=True)


class Conflict(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_detail = "A note with this title exists."
    default_code = "conflict"


class Unavailable(APIException):
    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "The search index is not available."
    default_code = "unavailable"


class Notes(APIView):
    def post(self, request):
        note = Note(data=request.data)
        note.is_valid(raise_exception=True)
        if note.validated_data["title"] == "taken":
            raise Conflict()
        return Response({"id": 2, **note.validated_data}, status=status.HTTP_201_CREATED)


class OneNote(APIView):
    def get(self, request, number):
        if number != 1:
            raise Http404
        return Response({"id": 1, "title": "first"})


class Me(APIView):
    permission_classes = [IsAuthenticated]

    def get(self, request):
        return Response({"id": request.user.id})


class Nobody(BasePermission):
    def has_permission(self, request, view):
        return False


class Private(APIView):
    permission_classes = [IsAuthenticated, Nobody]

    def get(self, request):
        return Response({})


class Limited(APIView):
    throttle_classes = [ScopedRateThrottle]
    throttle_scope = "limited"

    def get(self, request):
        return Response({"ok": True})


class Throws(APIView):
    def get(self, request):
        raise RuntimeError("SELECT hunter2 FROM secrets failed in /srv/notes/store.py")


class Hangs(APIView):
    def get(self, request):
        time.sleep(3600)
        return Response({})


class Dependency(APIView):
    def get(self, request):
        try:
            socket.create_connection(("127.0.0.1", 1), timeout=1).close()
        except OSError:
            raise Unavailable()
        return Response({})


urlpatterns = [
    path("notes", Notes.as_view()),
    path("notes/<int:number>", OneNote.as_view()),
    path("me", Me.as_view()),
    path("private", Private.as_view()),
    path("limited", Limited.as_view()),
    path("throws", Throws.as_view()),
    path("hangs", Hangs.as_view()),
    path("dependency", Dependency.as_view()),
]

from django.core.wsgi import get_wsgi_application  # noqa: E402

application = get_wsgi_application()


def token(lifetime):
    from rest_framework_simplejwt.tokens import AccessToken

    made = AccessToken()
    made["user_id"] = 1
    made.set_exp(lifetime=timedelta(seconds=lifetime))
    return str(made)


if __name__ == "__main__":
    print(token(float(os.environ["TOKEN_LIFETIME"])))
