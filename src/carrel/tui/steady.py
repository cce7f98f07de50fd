"""Widgets that outlive an error in one of their handlers."""

from textual.message import Message
from textual.message_pump import MessagePump


class Steady(MessagePump):
    """A mixin. Textual ends a widget's message loop at the first exception: the widget would
    stay on screen and be deaf. This reports the exception to the app, which shows it, and goes on.
    """

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            self.app._handle_exception(error)
