"""The connection to the service, and the base class of services that use it."""
