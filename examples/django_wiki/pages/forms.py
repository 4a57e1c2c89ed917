"""The forms of the site."""

from __future__ import annotations

from django import forms

from .models import Page, Revision


class NewPageForm(forms.ModelForm):
    """Asks for the title of a page; one that exists is as good, it will be edited."""

    class Meta:
        """What the form takes from the model."""

        model = Page
        fields = ["title"]

    def validate_unique(self) -> None:
        """Any title will do."""


class RevisionForm(forms.ModelForm):
    """Asks for a text; ``base`` is the number of the revision it was made from."""

    base = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    class Meta:
        """What the form takes from the model."""

        model = Revision
        fields = ["text"]
