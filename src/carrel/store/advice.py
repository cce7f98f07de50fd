"""Advice in the same words everywhere, where an action has nothing to work on."""

ALREADY_READ = "Pages already read with these options are not read again."
CHOOSE_BLOCK = "Choose a block first: j and k do."
CHOOSE_VERSION = "Choose the version to make active first."
NO_CONTENTS = "No bookmarks, and no headings on the pages read so far."
NOT_COUNTED = "The pages are not counted yet."
NOTHING_FOUND = "Nothing found."
RESULT_WANTED = "What the function returned, or why it was not run"
