"""Use the installed package as a user would: run it with the python that has it, outside the clone.

Does the main job with the command `zib`, then speaks to the MCP server line by line, so that a
dependency that only the development tools bring in, or a file that the wheel lacks, shows here.
"""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import urllib.request
from pathlib import Path

ROOMS = ("vault", "indexer", "tools", "lenses")
DEVELOPMENT = ("pytest", "hypothesis", "mypy", "ruff")
FACT = "Writes commit messages in Spanish."
SECONDS = 60


def check(truth, what):
    """End with a plain word when something is not as it has to be."""
    if not truth:
        sys.exit(f"check_wheel: {what}")


def zib(*arguments):
    """What `zib` prints; its own words end the check when it fails."""
    command = [str(Path(sysconfig.get_path("scripts"), "zib")), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=SECONDS, check=False
    )
    check(
        done.returncode == 0,
        f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}",
    )
    return done.stdout


def check_files():
    """Only the four rooms are installed, under one name, with their marker of typed code."""
    installed = {file.as_posix() for file in importlib.metadata.files("zibaldone")}
    check(all(f"zibaldone/{room}/py.typed" in installed for room in ROOMS), "a py.typed is missing")
    tops = {path.split("/")[0] for path in installed if not path.startswith("..")}
    ours = {"zibaldone", f"zibaldone-{importlib.metadata.version('zibaldone')}.dist-info"}
    check(tops == ours, f"the wheel installs {sorted(tops - ours)} too")
    names = {dist.name.lower() for dist in importlib.metadata.distributions()}
    check(names.isdisjoint(DEVELOPMENT), "development tools are installed: this shows nothing")


def check_commands(vault):
    """The main job at the command line."""
    version = importlib.metadata.version("zibaldone")
    check(version in zib("--version"), "zib --version does not name the version")
    Path(vault).mkdir()
    zib("init", vault)
    common = ("--vault", vault, "--json")
    remembered = json.loads(zib("remember-about-user", FACT, "--category", "preferences", *common))
    check(remembered["outcome"] == "created", f"remembered: {remembered}")
    lines = Path(vault, remembered["path"]).read_text(encoding="utf-8").splitlines()
    mark = f" ^{remembered['observationId']}"
    kept = [line for line in lines if line.startswith(f"- {FACT}") and line.endswith(mark)]
    check(len(kept) == 1, f"the note is {lines}")
    found = json.loads(zib("search", "spanish commits", *common))
    check([hit["path"] for hit in found["results"]] == [remembered["path"]], f"found: {found}")
    recalled = json.loads(zib("recall", "commit message", "--budget-tokens", "500", *common))
    check(FACT in recalled["context"] and recalled["tokens"] <= 500, f"recalled: {recalled}")
    check(FACT in zib("search", "spanish", "--vault", vault), "search prints nothing for people")


def check_server(vault):
    """A handshake and one call over standard input and output, as the protocol writes them."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "check_wheel", "version": "0"},
    }
    command = [sys.executable, "-I", "-m", "zibaldone.tools", "mcp", "--vault", vault]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as server:

        def send(method, params, number=None):
            message = {"jsonrpc": "2.0", "method": method, "params": params}
            server.stdin.write(json.dumps(message | ({"id": number} if number else {})) + "\n")
            server.stdin.flush()
            while number:
                line = server.stdout.readline()
                check(line, f"the server ended before it answered {method}")
                answer = json.loads(line)
                if answer.get("id") == number:
                    return answer["result"]
            return None

        said = send("initialize", hello, 1)
        check("serverInfo" in said and "tools" in said["capabilities"], f"handshake: {said}")
        send("notifications/initialized", {})
        names = {tool["name"] for tool in send("tools/list", {}, 2)["tools"]}
        check(names >= {"remember_about_user", "search", "recall"}, f"tools: {names}")
        arguments = {"query": "commit message", "budgetTokens": 500}
        answer = send("tools/call", {"name": "recall", "arguments": arguments}, 3)
        check(FACT in answer["structuredContent"]["context"], f"recall: {answer}")
        server.stdin.close()
        check(server.wait(SECONDS) == 0, f"the server ended with {server.returncode}")


def check_explorer(vault):
    """The first page of the explorer, with the style sheet that it names."""
    zib_path = str(Path(sysconfig.get_path("scripts"), "zib"))
    command = [zib_path, "explore", "--no-open", "--port", "0", "--vault", vault]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server:
        found = re.search(r"http://[\w.:]+/", server.stdout.readline())
        check(found, "zib explore prints no address")
        with urllib.request.urlopen(found[0], timeout=SECONDS) as answer:
            page = answer.read().decode()
        style = re.search(r'href="/(static/[^"]+\.css)"', page)
        check("<main" in page and style, "the explorer's first page is none")
        with urllib.request.urlopen(found[0] + style[1], timeout=SECONDS) as answer:
            check(answer.status == 200, "the explorer has no style sheet")
        server.terminate()
        server.wait(SECONDS)


def main():
    """Run all checks in a temporary vault with a cache of its own."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("ZIBALDONE_VAULT", "ZIBALDONE_STATE_DIR", "ZIBALDONE_AGENT"):
            os.environ.pop(name, None)
        os.environ["ZIBALDONE_CACHE_DIR"] = str(Path(folder, "cache"))
        vault = str(Path(folder, "vault"))
        check_files()
        check_commands(vault)
        check_server(vault)
        check_explorer(vault)
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"The installed package works on Python {version}.")


if __name__ == "__main__":
    main()
