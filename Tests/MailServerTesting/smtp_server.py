"""A mail server for the tests: aiosmtpd on a free port of the loopback, with faults on demand.

    smtp_server.py FOLDER [--port N] [--tls | --starttls] [--auth USER:PASSWORD]

Prints the port when it listens. Accepted emails are stored as FOLDER/NUMBER.eml, with the envelope in FOLDER/NUMBER.json. FOLDER/log
has a line for each command. FOLDER/ca.pem is the authority of its certificate. The recipient's local part chooses a fault: busy, gone,
closing, unproven, full and spam are refused. hang gets no response to RCPT, stuck none to the end of DATA, and held none to it before the
file FOLDER/release exists. stalled stops reading within DATA. cut and lost close the connection within DATA, lost after storing the email.
"""
import argparse
import asyncio
import json
import os
import pathlib
import signal
import ssl

import trustme
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword


class Faults:
    def __init__(self, folder):
        self.folder, self.count = folder, len(list(folder.glob("*.eml")))

    async def handle_RCPT(self, server, session, envelope, address, options):
        fault = address.split("@")[0].split("+")[0].lower()
        if fault == "busy":
            return "450 4.2.0 <%s> is greylisted" % address
        if fault == "gone":
            return "550 5.1.1 <%s> is no user here" % address
        if fault == "closing":
            return "421 4.3.2 %s: closing" % address
        if fault == "unproven":
            return "530 5.7.0 %s: log in first" % address
        if fault == "hang":
            await asyncio.sleep(3600)
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_MAIL(self, server, session, envelope, address, options):
        if address.startswith("stranger@"):
            return "553 5.7.1 <%s> is not yours" % address
        if address.startswith("hurried@"):
            return "451 4.7.1 <%s> too much at once" % address
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 2.1.0 OK"

    async def handle_DATA(self, server, session, envelope):
        fault = envelope.rcpt_tos[0].split("@")[0].split("+")[0].lower()
        if fault == "full":
            return "452 4.2.2 <%s> is full" % envelope.rcpt_tos[0]
        if fault == "spam":
            return "554 5.7.1 <%s> does not want this" % envelope.rcpt_tos[0]
        if fault == "stuck":
            server.log.write("stuck\n")
            await asyncio.sleep(3600)
        if fault == "held":
            server.log.write("held\n")
            while not (self.folder / "release").exists():
                await asyncio.sleep(0.02)
        self.keep(session, envelope)
        if fault == "lost":
            server.transport.abort()
            await asyncio.sleep(1)
        return "250 2.0.0 kept"

    def keep(self, session, envelope):
        self.count += 1
        name = "%06d" % self.count
        facts = {
            "sender": envelope.mail_from, "recipients": envelope.rcpt_tos, "options": envelope.mail_options,
            "helo": session.host_name, "peer": list(session.peer), "tls": session.ssl is not None,
            "login": session.auth_data and session.auth_data.login.decode(),
        }
        (self.folder / (name + ".json")).write_text(json.dumps(facts))
        draft = self.folder / ("." + name)
        draft.write_bytes(envelope.original_content)
        os.replace(draft, self.folder / (name + ".eml"))


class Server(SMTP):
    """aiosmtpd that logs commands, and closes the connection within DATA for some recipients."""

    def __init__(self, *arguments, log, **options):
        super().__init__(*arguments, **options)
        self.log = log

    async def _call_handler_hook(self, command, *arguments):
        self.log.write(command + "\n")
        return await super()._call_handler_hook(command, *arguments)

    async def smtp_DATA(self, argument):
        if self.envelope.rcpt_tos and self.envelope.rcpt_tos[0].startswith("cut"):
            await self.push("354 go on")
            await self._reader.readline()
            self.transport.abort()
            return
        if self.envelope.rcpt_tos and self.envelope.rcpt_tos[0].startswith("stalled"):
            await self.push("354 go on")
            self.log.write("stalled\n")
            # Less than was sent: the rest is never read.
            await asyncio.sleep(3600)
        await super().smtp_DATA(argument)

    async def smtp_QUIT(self, argument):
        self.log.write("QUIT\n")
        await super().smtp_QUIT(argument)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--starttls", action="store_true")
    parser.add_argument("--auth")
    parser.add_argument("--name", default="localhost")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    options = {"log": open(chosen.folder / "log", "a", buffering=1), "enable_SMTPUTF8": False, "timeout": 300}
    tls = None
    if chosen.tls or chosen.starttls:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(chosen.folder / "ca.pem")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(chosen.name).configure_cert(tls)
    if chosen.starttls:
        options.update(tls_context=tls, require_starttls=True)
    if chosen.auth:
        user, password = chosen.auth.split(":")

        def authenticate(server, session, envelope, mechanism, data):
            good = isinstance(data, LoginPassword) and data == LoginPassword(user.encode(), password.encode())
            return AuthResult(success=good, handled=False, auth_data=data)

        options.update(auth_required=True, auth_require_tls=tls is not None and not chosen.tls, authenticator=authenticate)
    faults = Faults(chosen.folder)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Server(faults, **options), "127.0.0.1", chosen.port, ssl=tls if chosen.tls else None
    )
    end = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, end.set)
    print(server.sockets[0].getsockname()[1], flush=True)
    await end.wait()
    os._exit(0)


asyncio.run(main())
