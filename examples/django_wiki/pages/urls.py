"""The addresses of pages."""

from django.urls import path

from . import views

app_name = "pages"

urlpatterns = [
    path("", views.index, name="index"),
    path("new/", views.new, name="new"),
    path("wiki/<str:title>/", views.show, name="show"),
    path("wiki/<str:title>/edit/", views.edit, name="edit"),
    path("wiki/<str:title>/history/", views.history, name="history"),
]
