from django.core.mail import send_mail
from django.dispatch import receiver
from django.urls import include, path
from django_rest_passwordreset.signals import reset_password_token_created


@receiver(reset_password_token_created)
def send(sender, instance, reset_password_token, **kwargs):
    link = f"https://app.example.com/reset-password?token={reset_password_token.key}"
    send_mail("Reset your password", link, "no-reply@example.com", [reset_password_token.user.email])


urlpatterns = [path("", include("django_rest_passwordreset.urls"))]
