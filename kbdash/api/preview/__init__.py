"""Link previews (Open Graph): the title, sentence and picture that a chat shows for a shared link."""

from kbdash.api.preview.serving import LinkPreviews, Previews

__all__ = ["LinkPreviews", "Previews"]
