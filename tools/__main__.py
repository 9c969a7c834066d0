"""`python -m zibaldone.tools` is `zib`."""

from .cli import main

main()
