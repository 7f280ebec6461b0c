"""What the project runs and does not install: generators of code and tables, and the builder of the site."""
