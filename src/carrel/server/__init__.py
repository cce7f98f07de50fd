"""The bundled server: the whole interface on one machine."""
