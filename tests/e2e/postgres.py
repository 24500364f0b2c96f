"""A PostgreSQL of a test's own, run by an ordinary user, and a proxy in front of it that can be cut."""

import contextlib
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

from harness import await_true, free_port

PROGRAMS = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1:]


class Postgres:

    made = None

    def __init__(self, test):
        self.directory = tempfile.mkdtemp(prefix="postgres-", dir="/tmp")
        test.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.as_user = ()
        if os.geteuid() == 0:  # which it refuses
            user = pwd.getpwnam("postgres")
            os.chown(self.directory, user.pw_uid, user.pw_gid)
            self.as_user = ("setpriv", "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups")
        self.data = os.path.join(self.directory, "data")
        self.port = free_port()
        self.url = f"postgresql://dragoman@127.0.0.1:{self.port}/postgres"
        self.make()
        self.process = None
        self.start()
        test.addCleanup(self.kill)

    def make(self):
        """A new database, which takes a second; so those after the first one are copies of it."""
        if Postgres.made is None:
            self.run("initdb", "-D", self.data, "-A", "trust", "-U", "dragoman", "--no-sync", "--no-locale", "-E", "UTF8")
            Postgres.made = tempfile.TemporaryDirectory(prefix="postgres-", dir="/tmp")
            source, target = self.data, Postgres.made.name
        else:
            source, target = os.path.join(Postgres.made.name, "data"), self.directory
        subprocess.run(["cp", "-a", source, target], check=True)

    def program(self, name):
        return (*self.as_user, os.path.join(PROGRAMS[0], name))

    def run(self, name, *arguments):
        subprocess.run([*self.program(name), *arguments], check=True, capture_output=True, timeout=120, cwd="/")

    def start(self):
        def answers():
            # One that was killed leaves processes of its own for moments, beside which a new one ends at once.
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen(
                    [*self.program("postgres"), "-D", self.data, "-h", "127.0.0.1", "-p", str(self.port),
                     "-k", self.directory],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", start_new_session=True)
            return subprocess.run([*self.program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)],
                                  cwd="/", check=False).returncode == 0
        await_true(answers, "PostgreSQL answers")

    def want_tls(self, authority, password):
        """From the next start on: TLS and a password, for the name localhost."""
        certificate, key = authority.issue("database", "DNS:localhost")
        own_key = os.path.join(self.data, "server.key")
        shutil.copy(key, own_key)
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(own_key, user.pw_uid, user.pw_gid)
        os.chmod(own_key, 0o600)
        shutil.copy(certificate, os.path.join(self.data, "server.crt"))
        os.chmod(os.path.join(self.data, "server.crt"), 0o644)
        self.query(f"ALTER USER dragoman PASSWORD '{password}'")
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write("ssl = on\n")
        with open(os.path.join(self.data, "pg_hba.conf"), "w", encoding="utf-8") as file:
            file.write("hostssl all all 127.0.0.1/32 scram-sha-256\n")

    def kill(self):
        """Ends it without warning."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(60)

    def query(self, sql):
        return subprocess.run([*self.program("psql"), self.url, "-Atc", sql], check=True, capture_output=True, text=True,
                              timeout=60, cwd="/").stdout.strip()

    @contextlib.contextmanager
    def lock(self, table):
        """Whoever reads or writes this table waits."""
        holder = subprocess.Popen([*self.program("psql"), self.url, "-c",
                                   f"BEGIN; LOCK TABLE {table}; SELECT pg_sleep(600)"], stdout=subprocess.DEVNULL, cwd="/")
        try:
            await_true(lambda: self.query("SELECT COUNT(*) FROM pg_locks WHERE granted AND locktype = 'relation' AND "
                                          "mode = 'AccessExclusiveLock'") == "1", f"{table} is locked")
            yield
        finally:
            holder.kill()
            holder.wait()


class Proxy:
    """Passes connections on, until it is cut: then nothing passes, and nobody is told."""

    def __init__(self, test, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.passes = threading.Event()
        self.passes.set()
        test.addCleanup(self.listener.close)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                if self.listener.fileno() < 0:
                    return
                continue
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self.pump, args=(source, sink), daemon=True).start()

    def pump(self, source, sink):
        try:
            while data := source.recv(1 << 16):
                self.passes.wait()
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
