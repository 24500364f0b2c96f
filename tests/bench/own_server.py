"""What the benches that start a server of their own share: from which build, and on which cores."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))  # for harness, which needs the environment below


def add_core_flags(parser):
    parser.add_argument("--server-cores", default="0,1")
    parser.add_argument("--client-cores", default="2,3" if len(os.sched_getaffinity(0)) >= 4 else "0,1")


def add_build_flag(parser):
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))


def use_build(build, server=None):
    """Sets what harness reads when it is imported; `server` is another build's dragoman-server."""
    os.environ.update(
        DRAGOMAN_STUBS=os.path.join(build, "tests", "e2e", "stubs"),
        DRAGOMAN_SERVER_BINARY=server or os.path.join(build, "server", "dragoman-server"),
        DRAGOMAN_CLIENT_BINARY=os.path.join(build, "client", "dragoman"),
        DRAGOMAN_SOURCE_DIR=ROOT)


def start_server(flags, *arguments):
    """Starts a server on its cores, and leaves this process, with what it starts from now on, on the clients'."""
    from harness import Server
    os.sched_setaffinity(0, _cores(flags.server_cores))  # which the server inherits
    server = Server(*arguments)
    os.sched_setaffinity(0, _cores(flags.client_cores))
    return server


def _cores(text):
    return {int(core) for core in text.split(",")}
