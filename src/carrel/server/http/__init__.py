"""HTTP on the server's side: authentication, middleware, limits and the OpenAPI description."""
